// SPDX-License-Identifier: Apache-2.0
// Elements that a stage gives to stages of its own: what the source of a stage_plan (plan/stage_plan.hpp) delivers.
//
//   auto group = std::make_shared<element_group>(type, moves_given(*plan, type));
//   group->exchange(elements);                            // a slab; it gets what there was before
//   open_context inside = context.in_inner_plan(site, number);
//   inside.given = group;
//   auto opened = inside.resume(plan, position);          // a stream of the group's elements through the plan's stages
//
// Elements are handed to the first stage as they lie where it alone can ask for them, and asks once; else each gets a copy.
// Owns:   the group is owned by whoever made it and by the streams that are opened on it.
// State:  of such a stream: how many elements it has given. Whoever opens it again makes the same group before.
// Thread: a group that is moved belongs to one stream at a time; one that is copied is immutable.
#pragma once

#include <cstdint>

#include "sluice/base/status.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/plan/stage_plan.hpp"

namespace sluice::lib {

class element_group {
 public:
  element_group(const element_type& type, bool moves) : moves_(moves), elements_(type) {}
  element_group(const element_group&) = delete;

  std::uint64_t size() const { return size_; }
  bool moves() const { return moves_; }
  /// The elements are those of `elements` from now on, which gets what is left of those before. REQUIRES: no stream reads it,
  /// or the one that does begins again next.
  void exchange(slab& elements) {
    elements_.swap(elements);
    size_ = elements_.size();
    gone_ = 0;
  }
  /// `some`: the elements from number `at` on, for a stage to take out of. Those before them are destroyed. REQUIRES: moves().
  /// Errors: failed_precondition: they were handed over before.
  status hand_over(std::uint64_t at, std::uint32_t n, block& some);
  /// Builds copies of the elements from number `at` on at `to`. REQUIRES: !moves().
  void copy_to(std::uint64_t at, std::uint32_t n, char* to) const;

 private:
  const bool moves_;
  slab elements_;
  std::uint64_t size_ = 0, gone_ = 0;
};

/// Does one stage of the plan alone ask for the elements, as far as the plan says, or can they not be copied?
bool moves_given(const node& plan, const element_type& type);

}  // namespace sluice::lib
