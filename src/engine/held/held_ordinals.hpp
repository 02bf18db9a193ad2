// SPDX-License-Identifier: Apache-2.0
// The ordinals of held elements, for stages that cannot compute them from their other state: buckets, groups.
//
//   struct bucket_state { std::vector<held_ordinals> buckets; void save(position_writer&); void load(position_reader&); };
//   …
//   ordinals_fetch list({{&ordinals[0], &held[0]}, {&ordinals[1], &held[1]}}, next);      // after a resume
//   auto fetching = fetch_held(in, list, memory);
//   co_await fetching;
//
// Invariant: the ordinals of one object ascend: elements are added at the end, in the order of the input, and removed
//            at the front.
// Cost: 8 bytes an element in memory (held_elements' `beside_bytes`), and some 1.2 bytes in a position with a dozen
//       buckets.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/held/held_fetch.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {

class held_ordinals {
 public:
  std::size_t size() const { return all_.size() - gone_; }
  /// Returns the ordinal of the element in a slot.
  std::uint64_t at(std::size_t place) const { return all_[gone_ + place]; }
  /// REQUIRES: `ordinal` is higher than those added before.
  void add(std::uint64_t ordinal) {
    SLUICE_REQUIRES(size() == 0 || ordinal > all_.back(), "ordinals are added in their order");
    all_.push_back(ordinal);
  }
  /// REQUIRES: n <= size().
  void drop_front(std::size_t n);

  /// Writes the first ordinal, then the distance of each one from the ordinal before it.
  void save(position_writer& w) const;
  /// Fails the reader if the ordinals do not ascend.
  void load(position_reader& r);

 private:
  std::vector<std::uint64_t> all_;
  std::size_t gone_ = 0;  ///< entries at the front that were dropped
};

/// The elements that several holders of one stage held, merged into the order of the input.
class ordinals_fetch final : public fetch_list {
 public:
  /// The element in slot i of `held` has the ordinal `ordinals->at(i)`.
  struct part {
    const held_ordinals* ordinals = nullptr;
    held_elements* held = nullptr;
  };
  /// `next`: the ordinal of the element that the stage consumes next. The objects that the parts point to must outlive
  /// this.
  ordinals_fetch(std::vector<part> parts, std::uint64_t next);
  /// Allocates the slots of all parts. Call it before fetch_held. Errors: resource_exhausted.
  status make_places();
  /// Declares that all parts are complete. Call it after fetch_held.
  void all_built();

  std::uint64_t elements() const override { return elements_; }
  std::uint64_t first() const override { return coming_.empty() ? next_ : coming_.front().ordinal; }
  std::uint64_t next() const override { return next_; }
  std::uint64_t next_run(std::uint64_t from, std::vector<held_place>& places) override;

 private:
  /// The first element of a part that was not fetched yet.
  struct coming {
    std::uint64_t ordinal = 0;
    std::size_t part = 0;
    std::uint32_t place = 0;
  };
  static bool later(const coming& a, const coming& b) { return a.ordinal > b.ordinal; }
  void pop();

  std::vector<part> parts_;
  std::uint64_t next_ = 0;
  std::uint64_t elements_ = 0;
  std::vector<coming> coming_;   ///< a heap, the lowest ordinal first
  std::vector<held_place> run_;  ///< from run_first_ on; elements not fetched by the last request are returned again
  std::uint64_t run_first_ = 0;
};

}  // namespace sluice::lib
