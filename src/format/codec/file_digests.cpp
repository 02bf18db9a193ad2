// SPDX-License-Identifier: Apache-2.0
#include "format/codec/file_digests.hpp"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace sluice::lib {
namespace {

/// Reads a word in the byte order of the machine, which is little-endian.
template <class Word> Word word_at(const char* from) {
  Word w = 0;
  std::memcpy(&w, from, sizeof w);
  return w;
}

/// Gathers bytes to blocks of a fixed size, which `Rule` consumes.
template <class Rule, std::size_t kBlock> class blocked_digest : public file_digest {
 public:
  void add(std::string_view bytes) override {
    total_ += bytes.size();
    if (used_ != 0) {
      const std::size_t n = std::min(bytes.size(), kBlock - used_);
      std::memcpy(block_.data() + used_, bytes.data(), n);
      used_ += n;
      bytes.remove_prefix(n);
      if (used_ != kBlock) return;
      rule().consume(block_.data());
      used_ = 0;
    }
    for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) rule().consume(bytes.data());
    if (bytes.empty()) return;
    std::memcpy(block_.data(), bytes.data(), bytes.size());
    used_ = bytes.size();
  }

 protected:
  std::string_view rest() const { return {block_.data(), used_}; }
  std::uint64_t total() const { return total_; }

 private:
  Rule& rule() { return static_cast<Rule&>(*this); }

  std::array<char, kBlock> block_{};
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

/// FIPS 180-4.
class sha1_digest final : public blocked_digest<sha1_digest, 64> {
 public:
  void consume(const char* block) {
    std::uint32_t w[80];
    for (int i = 0; i != 16; ++i) w[i] = __builtin_bswap32(word_at<std::uint32_t>(block + 4 * i));
    for (int i = 16; i != 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = h_;
    const auto round = [&](int i, std::uint32_t f, std::uint32_t k) {
      const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    };
    int i = 0;
    for (; i != 20; ++i) round(i, (b & c) | (~b & d), 0x5a827999);
    for (; i != 40; ++i) round(i, b ^ c ^ d, 0x6ed9eba1);
    for (; i != 60; ++i) round(i, (b & c) | (b & d) | (c & d), 0x8f1bbcdc);
    for (; i != 80; ++i) round(i, b ^ c ^ d, 0xca62c1d6);
    h_ = {h_[0] + a, h_[1] + b, h_[2] + c, h_[3] + d, h_[4] + e};
  }
  std::string finish() override {
    const std::uint64_t bits = __builtin_bswap64(total() * 8);
    std::string padding(1 + (119 - total() % 64) % 64, '\0');  // up to 8 bytes before the end of a block
    padding[0] = static_cast<char>(0x80);
    padding.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    add(padding);
    std::string digits;
    for (const std::uint32_t word : h_) digits += absl::StrFormat("%08x", word);
    return digits;
  }

 private:
  std::array<std::uint32_t, 5> h_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
};

/// https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md, with the seed 0.
class xxh64_digest final : public blocked_digest<xxh64_digest, 32> {
 public:
  void consume(const char* block) {
    for (std::size_t i = 0; i != 4; ++i) lanes_[i] = round(lanes_[i], word_at<std::uint64_t>(block + 8 * i));
  }
  std::string finish() override {
    std::uint64_t h = kPrime5;
    if (total() >= 32) {
      h = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
      for (const std::uint64_t lane : lanes_) h = (h ^ round(0, lane)) * kPrime1 + kPrime4;
    }
    h += total();
    std::string_view left = rest();
    for (; left.size() >= 8; left.remove_prefix(8))
      h = std::rotl(h ^ round(0, word_at<std::uint64_t>(left.data())), 27) * kPrime1 + kPrime4;
    for (; left.size() >= 4; left.remove_prefix(4))
      h = std::rotl(h ^ (word_at<std::uint32_t>(left.data()) * kPrime1), 23) * kPrime2 + kPrime3;
    for (const char c : left) h = std::rotl(h ^ (static_cast<unsigned char>(c) * kPrime5), 11) * kPrime1;
    h = (h ^ (h >> 33)) * kPrime2;
    h = (h ^ (h >> 29)) * kPrime3;
    return absl::StrFormat("%016x", h ^ (h >> 32));
  }

 private:
  static constexpr std::uint64_t kPrime1 = 0x9e3779b185ebca87, kPrime2 = 0xc2b2ae3d27d4eb4f,
                                 kPrime3 = 0x165667b19e3779f9, kPrime4 = 0x85ebca77c2b2ae63,
                                 kPrime5 = 0x27d4eb2f165667c5;
  static std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
    return std::rotl(lane + word * kPrime2, 31) * kPrime1;
  }

  std::array<std::uint64_t, 4> lanes_{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
};

}  // namespace

std::unique_ptr<file_digest> file_digest::make(std::string_view name) {
  if (name == "sha1") return std::make_unique<sha1_digest>();
  if (name == "xxh64") return std::make_unique<xxh64_digest>();
  return {};
}

}  // namespace sluice::lib
