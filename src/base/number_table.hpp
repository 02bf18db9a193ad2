// SPDX-License-Identifier: Apache-2.0
// number_table: maps numbers to numbers. Open addressing, for lookups in loops over elements.
//
//   number_table groups;
//   groups.add(key, 3);
//   groups.find(key)                                                // 3; kNone for a missing number
//   groups.with_finder([&](auto find) { …find(key)… });             // for a loop
//
// Numbers that are close together, such as classes and lengths, are placed by their lowest bits. If that puts many
// numbers into one place, the table spreads all of them by a product from then on.
// Cost: a lookup takes about a nanosecond while the table is in the cache; 32 bytes per number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/base/assert.hpp"

namespace sluice::lib {

class number_table {
 public:
  static constexpr std::size_t kNone = 0;

  number_table() : entries_(kSizeMin) {}

  std::size_t size() const { return used_; }
  /// Calls f with a function that finds numbers and that knows the table's address, so the compiler may assume that
  /// stores in f's loop do not move the table. Valid until the next add() or remove().
  template <class F> auto with_finder(F f) const {
    return is_spread_ ? f(finder<true>(*this)) : f(finder<false>(*this));
  }
  std::size_t find(std::uint64_t number) const {
    return with_finder([number](auto find) { return find(number); });
  }
  /// REQUIRES: find(number) == kNone, and value != kNone.
  void add(std::uint64_t number, std::size_t value) {
    SLUICE_REQUIRES(value != kNone && find(number) == kNone, "the number is in the table");
    if (2 * (used_ + 1) > entries_.size()) {
      put_again(entries_.size() * 2);
    } else if (!is_spread_ && distance_of(number) > kFar) {
      is_spread_ = true;
      put_again(entries_.size());
    }
    put({number, value});
    ++used_;
  }
  /// REQUIRES: the table contains the number.
  void remove(std::uint64_t number) {
    SLUICE_REQUIRES(find(number) != kNone, "the number is not in the table");
    const std::size_t mask = entries_.size() - 1;
    std::size_t hole = place_of(number);
    while (entries_[hole].value == kNone || entries_[hole].number != number) hole = (hole + 1) & mask;
    // Later entries move up, unless the hole is before the place where their lookup starts.
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
  static constexpr std::size_t kFar = 16;
  struct entry {
    std::uint64_t number = 0;
    std::size_t value = kNone;
  };

  /// Returns the place modulo the size of the table.
  template <bool kSpread> static std::size_t place(std::uint64_t number) {
    constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;  // 2^64 divided by the golden ratio
    if constexpr (kSpread) number = (number ^ number >> 32) * kOdd >> 32;
    return number;
  }
  template <bool kSpread> class finder {
   public:
    explicit finder(const number_table& t) : entries_(t.bytes()), mask_((t.entries_.size() - 1) * sizeof(entry)) {}
    std::size_t operator()(std::uint64_t number) const {
      for (std::size_t at = place<kSpread>(number) * sizeof(entry);; at += sizeof(entry)) {
        at &= mask_;
        const entry& e = *reinterpret_cast<const entry*>(entries_ + at);
        if (e.number == number || e.value == kNone) return e.value;
      }
    }

   private:
    // In bytes: an index would need a multiplication in each lookup.
    const char* entries_;
    std::size_t mask_;
  };

  const char* bytes() const { return reinterpret_cast<const char*>(entries_.data()); }
  std::size_t place_of(std::uint64_t number) const {
    const std::size_t mask = entries_.size() - 1;
    return (is_spread_ ? place<true>(number) : place<false>(number)) & mask;
  }
  /// Returns the distance from the number's place to the first free one.
  std::size_t distance_of(std::uint64_t number) const {
    const std::size_t mask = entries_.size() - 1, first = place_of(number);
    std::size_t n = 0;
    while (entries_[(first + n) & mask].value != kNone) ++n;
    return n;
  }
  void put(const entry& e) { entries_[(place_of(e.number) + distance_of(e.number)) & (entries_.size() - 1)] = e; }
  void put_again(std::size_t size) {
    std::vector<entry> before(size);
    before.swap(entries_);
    for (const entry& e : before)
      if (e.value != kNone) put(e);
  }

  std::vector<entry> entries_;
  std::size_t used_ = 0;
  bool is_spread_ = false;
};

}  // namespace sluice::lib
