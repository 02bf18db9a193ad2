// SPDX-License-Identifier: Apache-2.0
#include "op/shuffle/shuffle_table.hpp"

#include <algorithm>

namespace sluice::lib {
namespace {

/// The number of slots or draws examined before other tasks run: some 100 µs, if each is a cache miss.
constexpr std::uint64_t kStep = std::uint64_t{1} << 15;
/// The number of consecutive slots that held_from() examines: half a millisecond.
constexpr std::size_t kLooked = std::size_t{1} << 20;

}  // namespace

task<void> shuffle_table::look_back(std::uint64_t draws, std::uint64_t total) {
  if (total != kUnknown) size_ = std::min(size_, total);
  // The draws made before the input ended; later draws were made on the emptying buffer.
  draws_ = total == kUnknown ? draws : std::min(draws, total - size_);
  next_ = size_ + draws_;
  to_remove_ = std::min(draws - draws_, size_);
  long_work work;
  std::vector<bool> stays;
  auto finding = find_staying(work, stays);
  co_await finding;
  auto scanning = scan_back(work);
  co_await scanning;
  oldest_ = next_;
  auto settle = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i != to; ++i) {
      if (to_remove_ && !stays[i]) ordinals_[i] = kUnknown;
      oldest_ = std::min(oldest_, ordinals_[i]);
    }
    return true;
  };
  auto settling = in_steps(work, size_, kStep, settle);
  co_await settling;
  look_again_ = draws_ + held() / 4 + 1;
}

/// ordinals_[i] = i.
task<void> shuffle_table::number_places(long_work& work) {
  ordinals_.clear();
  ordinals_.reserve(size_);
  auto number = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i != to; ++i) ordinals_.push_back(i);
    return true;
  };
  auto numbering = in_steps(work, size_, kStep, number);
  co_await numbering;
}

/// Finds the slots whose elements are still held after the draws on the emptying buffer. The draws are repeated with
/// the slots' numbers, which use the ordinals' memory before it is needed.
task<void> shuffle_table::find_staying(long_work& work, std::vector<bool>& stays) {
  if (!to_remove_) co_return;
  auto numbering = number_places(work);
  co_await numbering;
  auto take = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i != to; ++i) {
      ordinals_[draw(seed_, draws_ + i, ordinals_.size())] = ordinals_.back();
      ordinals_.pop_back();
    }
    return true;
  };
  auto taking = in_steps(work, to_remove_, kStep, take);
  co_await taking;
  stays.assign(size_, false);
  auto mark = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i != to; ++i) stays[ordinals_[i]] = true;
    return true;
  };
  auto marking = in_steps(work, ordinals_.size(), kStep, mark);
  co_await marking;
}

/// Each bit marks a slot that was found; the bits fit into the cache, unlike the ordinals. A slot that no draw has hit
/// still has the element of the first fill.
task<void> shuffle_table::scan_back(long_work& work) {
  auto numbering = number_places(work);
  co_await numbering;
  std::vector<bool> is_found(size_);
  std::uint64_t missing = size_;
  auto find = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i != to && missing; ++i) {
      std::uint64_t t = draws_ - 1 - i, slot = draw(seed_, t, size_);
      if (is_found[slot]) continue;
      is_found[slot] = true;
      ordinals_[slot] = size_ + t;
      --missing;
    }
    return missing != 0;
  };
  auto finding = in_steps(work, draws_, kStep, find);
  co_await finding;
}

std::uint64_t shuffle_table::next_run(std::uint64_t from, std::vector<std::uint32_t>& places) const {
  places.clear();
  const std::uint64_t looked_to = next_ - from > kStep ? from + kStep : next_;
  while (from != looked_to && ordinals_[place_of(from)] != from) ++from;
  if (from == looked_to) return from;
  for (std::uint64_t o = from; o != next_ && places.size() != kRunMax; ++o) {
    std::uint64_t place = place_of(o);
    if (ordinals_[place] != o) break;
    places.push_back(static_cast<std::uint32_t>(place));
  }
  return from;
}

void shuffle_table::look_on() {
  const std::size_t to = std::min(held(), looked_to_ + kLooked);
  for (; looked_to_ < to; ++looked_to_) lowest_seen_ = std::min(lowest_seen_, ordinals_[looked_to_]);
  if (looked_to_ < held()) return;
  oldest_ = std::min(lowest_seen_, next_);
  lowest_seen_ = kUnknown;
  looked_to_ = 0;
  look_again_ = draws_ + held() / 4 + 1;
}

void shuffle_table::filled(std::uint64_t n) {
  for (; n; --n) ordinals_.push_back(next_++);
}

void shuffle_table::shorten(std::uint64_t total) {
  ordinals_.resize(total);
  size_ = next_ = total;
}

}  // namespace sluice::lib
