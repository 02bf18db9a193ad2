// SPDX-License-Identifier: Apache-2.0
#include "format/riegeli/highway_hash.hpp"

#include <bit>
#include <cstring>

namespace sluice::lib {
namespace {

using lanes = std::array<std::uint64_t, 4>;

constexpr std::size_t kPacketBytes = 32;

/// The state and its steps, named as in the paper's implementation.
class highway_state {
 public:
  explicit highway_state(const highway_key& key) {
    for (std::size_t i = 0; i != 4; ++i) {
      v0_[i] = mul0_[i] ^ key[i];
      v1_[i] = mul1_[i] ^ std::rotl(key[i], 32);
    }
  }
  void packet(const char* bytes) {
    static_assert(std::endian::native == std::endian::little);
    lanes in;
    std::memcpy(in.data(), bytes, kPacketBytes);
    update(in);
  }
  /// The last bytes, fewer than a packet.
  void rest(std::string_view bytes) {
    const std::size_t n = bytes.size(), odd = n % 4;
    for (std::uint64_t& v : v0_) v += (std::uint64_t{n} << 32) + n;
    for (std::uint64_t& v : v1_)
      v = std::rotl(static_cast<std::uint32_t>(v), static_cast<int>(n)) |
          std::uint64_t{std::rotl(static_cast<std::uint32_t>(v >> 32), static_cast<int>(n))} << 32;
    char padded[kPacketBytes] = {};
    std::memcpy(padded, bytes.data(), n - odd);
    const char* const last = bytes.data() + (n - odd);
    if (n & 16) {
      std::memcpy(padded + 28, last + odd - 4, 4);
    } else if (odd != 0) {
      padded[16] = last[0];
      padded[17] = last[odd >> 1];
      padded[18] = last[odd - 1];
    }
    packet(padded);
  }
  std::uint64_t finish() {
    for (int i = 0; i != 4; ++i)
      update({std::rotl(v0_[2], 32), std::rotl(v0_[3], 32), std::rotl(v0_[0], 32), std::rotl(v0_[1], 32)});
    return v0_[0] + v1_[0] + mul0_[0] + mul1_[0];
  }

 private:
  void update(const lanes& in) {
    for (std::size_t i = 0; i != 4; ++i) {
      v1_[i] += mul0_[i] + in[i];
      mul0_[i] ^= (v1_[i] & 0xffffffff) * (v0_[i] >> 32);
      v0_[i] += mul1_[i];
      mul1_[i] ^= (v0_[i] & 0xffffffff) * (v1_[i] >> 32);
    }
    merge(v1_[1], v1_[0], v0_[1], v0_[0]);
    merge(v1_[3], v1_[2], v0_[3], v0_[2]);
    merge(v0_[1], v0_[0], v1_[1], v1_[0]);
    merge(v0_[3], v0_[2], v1_[3], v1_[2]);
  }
  /// "Zipper merge": adds the bytes of two lanes, each to a place where they are mixed best.
  static void merge(std::uint64_t high, std::uint64_t low, std::uint64_t& add_high, std::uint64_t& add_low) {
    add_low += (((low & 0xff000000) | (high & 0xff00000000)) >> 24) |
               (((low & 0xff0000000000) | (high & 0xff000000000000)) >> 16) | (low & 0xff0000) |
               ((low & 0xff00) << 32) | ((high & 0xff00000000000000) >> 8) | (low << 56);
    add_high += (((high & 0xff000000) | (low & 0xff00000000)) >> 24) | (high & 0xff0000) |
                ((high & 0xff0000000000) >> 16) | ((high & 0xff00) << 24) | ((low & 0xff000000000000) >> 8) |
                ((high & 0xff) << 48) | (low & 0xff00000000000000);
  }

  lanes mul0_ = {0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0, 0x13198a2e03707344, 0x243f6a8885a308d3};
  lanes mul1_ = {0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c, 0xbe5466cf34e90c6c, 0x452821e638d01377};
  lanes v0_{}, v1_{};
};

}  // namespace

std::uint64_t highway_hash(const highway_key& key, std::string_view bytes) noexcept {
  highway_state state(key);
  while (bytes.size() >= kPacketBytes) {
    state.packet(bytes.data());
    bytes.remove_prefix(kPacketBytes);
  }
  if (!bytes.empty()) state.rest(bytes);
  return state.finish();
}

}  // namespace sluice::lib
