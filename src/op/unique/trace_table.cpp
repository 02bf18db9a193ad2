// SPDX-License-Identifier: Apache-2.0
#include "op/unique/trace_table.hpp"

#include "sluice/base/assert.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace sluice::lib {

void trace_table::grow(std::uint64_t slots) {
  SLUICE_REQUIRES(slots > size_ && (slots & (slots - 1)) == 0,
                  "a table has a power of two of slots, and more than traces");
  trace_table grown(words_);
  // Allocated by calloc: its zeroed pages are first used when traces are stored in them.
  grown.entries_.reset(static_cast<std::uint64_t*>(std::calloc(slots, slot_bytes())));
  if (!grown.entries_) throw std::bad_alloc();
  grown.slots_ = slots;
  grown.shift_ = 64 - std::countr_zero(slots);
  grown.has_zero_ = has_zero_;
  std::array<element_trace, kAtOnce> some;
  std::array<bool, kAtOnce> is_new;
  std::uint32_t n = 0;
  for (std::uint64_t i = 0; i != slots_; ++i) {
    some[n] = at(i);
    n += !is_zero(some[n]);
    if (n != kAtOnce && i + 1 != slots_) continue;
    grown.insert(some.data(), n, is_new.data());
    n = 0;
  }
  *this = std::move(grown);
}

template <std::uint32_t kWords>
void trace_table::insert_words(const element_trace* traces, std::uint32_t n, bool* is_new) {
  std::uint64_t* const entries = entries_.get();
  const std::uint64_t mask = slots_ - 1;
  const int shift = shift_;
  std::array<std::uint64_t, kAtOnce> places;
  for (std::uint32_t i = 0; i != n; ++i) {
    const element_trace& t = traces[i];
    places[i] = (kWords == 1 ? element_trace{t.low, 0}.order() : t.order()) >> shift;
    __builtin_prefetch(entries + places[i] * kWords, 1);
  }
  std::uint64_t added = 0;
  for (std::uint32_t i = 0; i != n; ++i) {
    const element_trace t = traces[i];
    if (is_zero(t)) {
      is_new[i] = !std::exchange(has_zero_, true);
      continue;
    }
    for (std::uint64_t at = places[i];; at = (at + 1) & mask) {
      std::uint64_t* const e = entries + at * kWords;
      const bool is_same = e[0] == t.low && (kWords == 1 || e[1] == t.high);
      const bool is_empty = (e[0] | (kWords == 1 ? 0 : e[1])) == 0;
      if (!is_same && !is_empty) continue;
      e[0] = t.low;
      if (kWords == 2) e[1] = t.high;
      is_new[i] = is_empty;
      added += is_empty;
      break;
    }
  }
  size_ += added;
}

void trace_table::insert(const element_trace* traces, std::uint32_t n, bool* is_new) {
  SLUICE_REQUIRES(room() >= n, "the table is too small for the traces");
  for (std::uint32_t first = 0; first < n; first += kAtOnce) {
    const std::uint32_t some = std::min(n - first, kAtOnce);
    if (words_ == 1) insert_words<1>(traces + first, some, is_new + first);
    else insert_words<2>(traces + first, some, is_new + first);
  }
}

void trace_table::erase(const element_trace& t) {
  if (is_zero(t)) {
    has_zero_ = false;
    return;
  }
  const std::uint64_t mask = slots_ - 1;
  std::uint64_t hole = place_of(t);
  while (at(hole) != t) hole = (hole + 1) & mask;
  // The following traces move up, unless the hole lies before their first place.
  for (std::uint64_t i = (hole + 1) & mask; !is_zero(at(i)); i = (i + 1) & mask) {
    if (((i - place_of(at(i))) & mask) < ((i - hole) & mask)) continue;
    std::copy_n(entries_.get() + i * words_, words_, entries_.get() + hole * words_);
    hole = i;
  }
  std::fill_n(entries_.get() + hole * words_, words_, 0);
  --size_;
}

}  // namespace sluice::lib
