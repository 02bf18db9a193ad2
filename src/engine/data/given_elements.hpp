// SPDX-License-Identifier: Apache-2.0
// The elements that a stage passes to stages inside it: the source of a stage_plan (plan/stage_plan.hpp) delivers them.
//
//   auto group = std::make_shared<element_group>(type, moves_given(*plan, type));
//   group->exchange(elements);                            // a slab, which receives the previous elements
//   open_context inside = context.in_inner_plan(site, number);
//   inside.given = group;
//   auto opened = inside.resume(plan, position);          // a stream of the group's elements through the plan's stages
//
// Elements are moved to the first stage if it alone requests them, and only once. Otherwise each request gets copies.
// Owns:   the creator and the streams opened on the group share it.
// State:  a stream's number of delivered elements. A stage that opens the stream again restores the same group first.
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
  /// Replaces the elements by those of `elements`, which receives the rest of the previous ones. REQUIRES: no stream
  /// reads the group, or its stream begins again next.
  void exchange(slab& elements) {
    elements_.swap(elements);
    size_ = elements_.size();
    gone_ = 0;
  }
  /// Moves the elements from number `at` on to `some`, for a stage to take out of it. Destroys those before them.
  /// REQUIRES: moves().
  /// Errors: failed_precondition: they were handed over before.
  status hand_over(std::uint64_t at, std::uint32_t n, block& some);
  /// Builds copies of the elements from number `at` on at `to`. REQUIRES: !moves().
  void copy_to(std::uint64_t at, std::uint32_t n, char* to) const;

 private:
  const bool moves_;
  slab elements_;
  std::uint64_t size_ = 0, gone_ = 0;
};

/// Returns true if the plan shows that only one stage requests the elements, or if they cannot be copied.
bool moves_given(const node& plan, const element_type& type);

}  // namespace sluice::lib
