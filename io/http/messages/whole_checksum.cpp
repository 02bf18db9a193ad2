// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/whole_checksum.hpp"

#include <algorithm>
#include <iterator>

#include "sluice/base/crc32c.hpp"

namespace sluice::lib::detail {
namespace {

// Polynomials over GF(2). The highest bit is the coefficient of 1, the lowest that of x^31.
constexpr std::uint32_t kPolynomial = 0x82f63b78;
constexpr std::uint32_t kOne = 0x80000000;
constexpr std::uint32_t kByte = kOne >> 8;  ///< x^8

std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (int bit = 31; bit >= 0; --bit) {
    if ((a >> bit & 1) != 0) sum ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? kPolynomial : 0);  // times x
  }
  return sum;
}

}  // namespace

std::uint32_t joined_crc32c(std::uint32_t before, std::uint32_t after, std::uint64_t after_bytes) {
  std::uint32_t shift = kOne;
  std::uint32_t power = kByte;
  for (; after_bytes != 0; after_bytes >>= 1) {
    if ((after_bytes & 1) != 0) shift = product(shift, power);
    power = product(power, power);
  }
  return product(shift, before) ^ after;
}

std::optional<std::uint32_t> whole_checksum::give_up() {
  is_over_ = true;
  pieces_.clear();
  return {};
}

std::optional<std::uint32_t> whole_checksum::add(std::uint64_t offset, std::span<const char> bytes) {
  if (bytes.empty()) return {};
  piece added{offset + bytes.size(), crc32c({bytes.data(), bytes.size()})};
  mutex_lock lock(mutex_);
  if (is_over_) return {};
  auto next = pieces_.lower_bound(offset);
  const bool overlaps_next = next != pieces_.end() && next->first < added.end;
  if (overlaps_next || (next != pieces_.begin() && std::prev(next)->second.end > offset)) return give_up();
  if (next != pieces_.end() && next->first == added.end) {
    added.crc = joined_crc32c(added.crc, next->second.crc, next->second.end - next->first);
    added.end = next->second.end;
    next = pieces_.erase(next);
  }
  if (next != pieces_.begin() && std::prev(next)->second.end == offset) {
    auto before = std::prev(next);
    added.crc = joined_crc32c(before->second.crc, added.crc, added.end - offset);
    offset = before->first;
    pieces_.erase(before);
  }
  if (pieces_.size() == kPiecesMax) return give_up();
  pieces_[offset] = added;
  if (offset != 0 || added.end != size_) return {};
  return added.crc;
}

}  // namespace sluice::lib::detail
