// SPDX-License-Identifier: Apache-2.0
#include "op/shuffle_table.hpp"

#include <algorithm>
#include <numeric>

namespace sluice::lib {

shuffle_table::shuffle_table(std::uint64_t seed, std::uint64_t size, std::uint64_t draws, std::uint64_t total)
    : seed_(seed), size_(size) {
  if (draws == 0 && total == kUnknown) return;  // a fresh run: filled() as the input comes, which may be much shorter
  if (total != kUnknown) size_ = std::min(size_, total);
  // Draws made while the input went on; the rest were made on a buffer that only emptied.
  std::uint64_t exchanges = total == kUnknown ? draws : std::min(draws, total - size_);
  draws_ = exchanges;
  next_ = size_ + exchanges;
  scan_back();
  for (std::uint64_t left = std::min<std::uint64_t>(draws - exchanges, ordinals_.size()); left; --left) remove();
}

void shuffle_table::scan_back() {
  ordinals_.assign(size_, kUnknown);
  std::uint64_t missing = size_;
  for (std::uint64_t t = draws_; t && missing;) {
    --t;
    std::uint64_t& o = ordinals_[draw(seed_, t, size_)];
    if (o != kUnknown) continue;
    o = size_ + t;
    --missing;
  }
  if (missing)
    for (std::uint64_t i = 0; i != size_; ++i)
      if (ordinals_[i] == kUnknown) ordinals_[i] = i;  // never hit: still what the first fill put there
}

std::uint64_t shuffle_table::oldest() const {
  std::uint64_t lowest = next_;
  for (std::uint64_t o : ordinals_) lowest = std::min(lowest, o);
  return lowest;
}

std::vector<std::uint32_t> shuffle_table::slots_by_ordinal() const {
  std::vector<std::uint32_t> slots(ordinals_.size());
  std::iota(slots.begin(), slots.end(), 0u);
  if (draws_) std::sort(slots.begin(), slots.end(), [this](auto a, auto b) { return ordinals_[a] < ordinals_[b]; });
  return slots;
}

void shuffle_table::filled(std::uint64_t n) {
  for (; n; --n) ordinals_.push_back(next_++);
}

void shuffle_table::shorten(std::uint64_t total) {
  ordinals_.resize(total);
  size_ = next_ = total;
}

}  // namespace sluice::lib
