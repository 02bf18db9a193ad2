// SPDX-License-Identifier: Apache-2.0
// Computes the input element in each slot of a shuffle's buffer, as an ordinal: a pure function of seed, size and
// draws.
//
// With B slots and counter-based draws, draw t chooses slot j = draw(seed, t, B), which input element B + t then fills.
// Slot j therefore holds the input of the last draw that hit j. A scan over the draws *backwards* from t finds all
// slots after some B·ln B draws (12 buffers for 65,536; 1.6 ms), however large t is. After the input has ended, at
// length N, draws N − B, N − B + 1 … choose among the m = B, B − 1 … remaining elements, and the last one fills the
// hole.
//
//   shuffle_table table(seed, 1000);
//   co_await table.look_back(draws, total);                  // in a resumed run; a new run calls filled() as its input arrives
//   for (std::uint64_t at = table.held_from(); at != table.next();) {
//     at = table.next_run(at, places);                        // the elements to fetch again, in input order,
//     …fetch elements at, at + 1 … for `places`…              // and the slot of each
//     at += places.size();
//   }
//   while (table.to_remove()) …fill the hole table.remove() with the last slot's element, if that is held…
//
// No ordinals are sorted, and no other data is stored: element o is held if the slot that it was put into still has
// ordinal o, and one draw computes that slot.
#pragma once

#include <cstdint>
#include <vector>

#include "coro/long_work.hpp"
#include "engine/held/held_fetch.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

class shuffle_table {
 public:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  /// The largest number of consecutive input elements that are fetched together.
  static constexpr std::size_t kRunMax = fetch_list::kRunMax;

  /// The table of a new run, with no slot filled.
  shuffle_table(std::uint64_t seed, std::uint64_t size) : seed_(seed), size_(size) {}

  std::size_t held() const { return ordinals_.size(); }
  /// Returns kUnknown for an empty slot, between look_back and the last remove() that it requires.
  std::uint64_t ordinal(std::uint32_t slot) const { return ordinals_[slot]; }
  /// Returns the ordinal of the next input element.
  std::uint64_t next() const { return next_; }
  /// Returns a lower bound of the held ordinals: the input's marks before it are not needed. Examines all slots once
  /// for each quarter of a buffer of draws, a million at once, so that neither a draw nor a call costs more with a
  /// larger buffer.
  std::uint64_t held_from() {
    if (draws_ >= look_again_) look_on();
    return oldest_;
  }

  /// For a resumed run: called once, before all else. Rebuilds the table after `draws` draws over an input of length
  /// `total` (kUnknown while it has not ended). remove() repeats the draws made after the input's end; until then their
  /// slots hold no element. Yields to other tasks, and ends at a stop. Uses 8 bytes a slot, and a quarter byte more
  /// while it runs.
  task<void> look_back(std::uint64_t draws, std::uint64_t total);
  std::uint64_t to_remove() const { return to_remove_; }
  /// Stores the slots of the next consecutive held elements, from ordinal `from` on, in `places`. Examines some 30,000
  /// ordinals; if none is held, `places` is empty. Returns the first ordinal, or the one at which to continue.
  std::uint64_t next_run(std::uint64_t from, std::vector<std::uint32_t>& places) const;

  /// Returns the number of slots that the first fill has not reached.
  std::uint64_t missing() const { return size_ - ordinals_.size(); }
  /// Records the first fill: the next n input elements are in the next n slots.
  void filled(std::uint64_t n);
  /// Declares that the first fill found only `total` elements.
  void shorten(std::uint64_t total);
  /// Draws while the input has more elements. Returns the slot to deliver and to fill with the next input element.
  std::uint32_t exchange() {
    auto slot = static_cast<std::uint32_t>(draw(seed_, draws_++, size_));
    ordinals_[slot] = next_++;
    return slot;
  }
  void ended() { size_ = ordinals_.size(); }
  /// Draws after the input's end. Returns the slot to deliver, which the last element then fills.
  std::uint32_t remove() {
    auto slot = static_cast<std::uint32_t>(draw(seed_, draws_++, ordinals_.size()));
    std::uint64_t moved = ordinals_.back();
    ordinals_[slot] = moved;
    ordinals_.pop_back();
    if (slot < looked_to_ && moved < lowest_seen_) lowest_seen_ = moved;  // held_from() will not examine it again
    if (to_remove_) --to_remove_;
    return slot;
  }

 private:
  /// Returns the slot into which element o came.
  std::uint64_t place_of(std::uint64_t o) const { return o < size_ ? o : draw(seed_, o - size_, size_); }
  task<void> number_places(long_work& work);
  task<void> find_staying(long_work& work, std::vector<bool>& stays);
  task<void> scan_back(long_work& work);
  void look_on();

  std::uint64_t seed_;
  std::uint64_t size_;
  std::uint64_t draws_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t to_remove_ = 0;
  std::uint64_t oldest_ = 0;
  std::uint64_t look_again_ = 0;
  std::size_t looked_to_ = 0;             // slots that held_from() has examined since it last knew the oldest element
  std::uint64_t lowest_seen_ = kUnknown;  // the lowest ordinal in them at that time; later ones are higher
  std::vector<std::uint64_t> ordinals_;
};

}  // namespace sluice::lib
