// SPDX-License-Identifier: Apache-2.0
// trace_table: the traces of elements that unique has in memory. A set by open addressing, for many questions at once.
//
//   trace_table seen(trace_table::words_of(type));
//   if (seen.room() < n) seen.grow(seen.slots_grown());
//   seen.insert(traces, n, is_new);
//
// Most questions miss the cache where there are many traces: so the places of some are asked for before the first is looked at.
// A place is said by the highest bits of the trace's hash, so that a table which grows is copied from front to end.
// Cost:   of a number 8 bytes a slot, of others 16; three quarters of the slots are used at most.
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
  /// By which tables and files are sorted.
  std::uint64_t order() const { return mix(low ^ mix(high)); }
};

class trace_table {
 public:
  /// `words`: 1, of traces whose `high` is 0, or 2.
  explicit trace_table(std::uint32_t words) : words_(words) {}
  trace_table(trace_table&&) noexcept = default;
  trace_table& operator=(trace_table&&) noexcept = default;

  std::uint64_t size() const { return size_ + has_zero_; }
  std::uint64_t slots() const { return slots_; }
  std::uint64_t slots_grown() const { return slots_ ? slots_ * 2 : kSlotsMin; }
  std::size_t slot_bytes() const { return words_ * sizeof(std::uint64_t); }
  /// Returns the number of traces that fit without growing.
  std::uint64_t room() const { return slots_ / 4 * 3 - size_; }
  /// Errors: std::bad_alloc. REQUIRES: a power of two, and more than there are.
  void grow(std::uint64_t slots);

  /// Sets is_new[i] to whether traces[i] was not there, and adds it. REQUIRES: room() >= n.
  void insert(const element_trace* traces, std::uint32_t n, bool* is_new);
  /// REQUIRES: it is there.
  void erase(const element_trace& t);
  /// Calls f(trace) for all of them.
  template <class F> void for_each(F f) const {
    if (has_zero_) f(element_trace());
    for (std::uint64_t i = 0; i != slots_; ++i)
      if (const element_trace t = at(i); !is_zero(t)) f(t);
  }

 private:
  static constexpr std::uint64_t kSlotsMin = 64;
  static constexpr std::uint32_t kAtOnce = 128;  // places asked for together: they all stay in the first level's cache
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
  bool has_zero_ = false;  ///< the trace of which all bits are 0, which is in no slot: such a slot is empty
  std::uint64_t slots_ = 0, size_ = 0;
  std::unique_ptr<std::uint64_t[], freed> entries_;
};

}  // namespace sluice::lib
