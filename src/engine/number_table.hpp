// SPDX-License-Identifier: Apache-2.0
// number_table: what small number belongs to a large one. Open addressing, for lookups in loops over elements.
//
//   number_table groups;
//   groups.add(key, 3);
//   groups.find(key)          // 3; kNone of what was not added
//
// Cost: of a lookup some 1.5 ns while the table is in the cache; 32 bytes a number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::lib {

class number_table {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  number_table() : entries_(kSizeMin) {}

  std::size_t size() const { return used_; }
  std::uint32_t find(std::uint64_t number) const;
  class finder;
  /// REQUIRES: find(number) == kNone, and value != kNone.
  void add(std::uint64_t number, std::uint32_t value) {
    if (2 * (used_ + 1) > entries_.size()) grow();
    put({number, value});
    ++used_;
  }
  /// REQUIRES: it is there.
  void remove(std::uint64_t number) {
    const std::size_t mask = entries_.size() - 1;
    std::size_t hole = place_of(number);
    while (entries_[hole].value == kNone || entries_[hole].number != number) hole = (hole + 1) & mask;
    // Those behind move up, as long as the hole is not in front of where they would be looked for first.
    for (std::size_t i = (hole + 1) & mask; entries_[i].value != kNone; i = (i + 1) & mask) {
      if (((i - place_of(entries_[i].number)) & mask) < ((i - hole) & mask)) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole] = {};
    --used_;
  }

 private:
  static constexpr std::size_t kSizeMin = 64;
  struct entry {
    std::uint64_t number = 0;
    std::uint32_t value = kNone;
  };

  static std::size_t place_of(std::uint64_t number, int shift) { return (number ^ number >> 32) * kOdd >> shift; }
  std::size_t place_of(std::uint64_t number) const { return place_of(number, shift_); }
  void put(const entry& e) {
    const std::size_t mask = entries_.size() - 1;
    std::size_t i = place_of(e.number);
    while (entries_[i].value != kNone) i = (i + 1) & mask;
    entries_[i] = e;
  }
  void grow() {
    std::vector<entry> before(entries_.size() * 2);
    before.swap(entries_);
    --shift_;
    for (const entry& e : before)
      if (e.value != kNone) put(e);
  }

  static constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;  // 2^64 by the golden ratio: near numbers come far apart
  std::vector<entry> entries_;
  std::size_t used_ = 0;
  int shift_ = 64 - std::countr_zero(kSizeMin);
};

/// Where the table is, for a loop that stores what the compiler cannot tell from it. Until the next add() or remove().
class number_table::finder {
 public:
  explicit finder(const number_table& t)
      : entries_(t.entries_.data()), mask_(t.entries_.size() - 1), shift_(t.shift_) {}
  std::uint32_t operator()(std::uint64_t number) const {
    for (std::size_t i = place_of(number, shift_);; i = (i + 1) & mask_) {
      const entry& e = entries_[i];
      if (e.number == number || e.value == kNone) return e.value;
    }
  }

 private:
  const entry* entries_;
  std::size_t mask_;
  int shift_;
};

inline std::uint32_t number_table::find(std::uint64_t number) const { return finder(*this)(number); }

}  // namespace sluice::lib
