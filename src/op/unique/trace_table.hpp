// SPDX-License-Identifier: Apache-2.0
// The traces of elements that unique has in memory: a set with open addressing, which looks up many traces at once.
//
//   trace_table seen(trace_table::words_of(type));
//   if (seen.room() < n) seen.grow(seen.slots_grown());
//   seen.insert(traces, n, is_new);
//
// With many traces most lookups miss the cache, so the places of several traces are prefetched before the first is
// read. The highest bits of a trace's hash determine its place, so a growing table is copied from front to end.
// Cost:   8 bytes a slot for numbers, 16 for other traces; at most three quarters of the slots are used.
// Thread: none.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "sluice/base/random_bits.hpp"

namespace sluice::lib {

/// The trace of an element: a number itself, a hash of any other value.
struct element_trace {
  std::uint64_t low = 0, high = 0;
  bool operator==(const element_trace&) const = default;
  /// Returns the value by which tables and files are sorted.
  std::uint64_t order() const { return mix(low ^ mix(high)); }
};

class trace_table {
 public:
  /// `words`: 1 for traces whose `high` is 0, else 2.
  explicit trace_table(std::uint32_t words) : words_(words) {}
  trace_table(trace_table&&) noexcept = default;
  trace_table& operator=(trace_table&&) noexcept = default;

  std::uint64_t size() const { return size_ + has_zero_; }
  std::uint64_t slots() const { return slots_; }
  std::uint64_t slots_grown() const { return slots_ ? slots_ * 2 : kSlotsMin; }
  std::size_t slot_bytes() const { return words_ * sizeof(std::uint64_t); }
  /// Returns the number of traces that fit without growing.
  std::uint64_t room() const { return slots_ / 4 * 3 - size_; }
  /// Errors: std::bad_alloc. REQUIRES: `slots` is a power of two, and larger than before.
  void grow(std::uint64_t slots);

  /// Adds the traces. Sets is_new[i] to true if traces[i] was missing. REQUIRES: room() >= n.
  void insert(const element_trace* traces, std::uint32_t n, bool* is_new);
  /// REQUIRES: the set has the trace.
  void erase(const element_trace& t);
  /// Calls f(trace) for all of them.
  template <class F> void for_each(F f) const {
    if (has_zero_) f(element_trace());
    for (std::uint64_t i = 0; i != slots_; ++i)
      if (const element_trace t = at(i); !is_zero(t)) f(t);
  }

 private:
  static constexpr std::uint64_t kSlotsMin = 64;
  // places prefetched together, which all fit into the first-level cache
  static constexpr std::uint32_t kAtOnce = 128;
  struct freed {
    void operator()(std::uint64_t* p) const { std::free(p); }
  };

  static bool is_zero(const element_trace& t) { return (t.low | t.high) == 0; }
  element_trace at(std::uint64_t slot) const {
    const std::uint64_t* p = entries_.get() + slot * words_;
    return {p[0], words_ == 2 ? p[1] : 0};
  }
  std::uint64_t place_of(const element_trace& t) const { return t.order() >> shift_; }
  template <std::uint32_t kWords> void insert_words(const element_trace* traces, std::uint32_t n, bool* is_new);

  std::uint32_t words_;
  int shift_ = 64;
  bool has_zero_ = false;  ///< the set has the trace 0, which is in no slot because such a slot is empty
  std::uint64_t slots_ = 0, size_ = 0;
  std::unique_ptr<std::uint64_t[], freed> entries_;
};

}  // namespace sluice::lib
