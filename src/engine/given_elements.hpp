// SPDX-License-Identifier: Apache-2.0
// Elements that a stage gives to stages of its own: what the source of a stage_plan (plan/stage_plan.hpp) delivers.
//
//   auto group = std::make_shared<element_group>(type, moves_given(*plan, type));
//   held.move_front(n, group->room(n));
//   open_context inside = context.in_inner_plan(site, number);
//   inside.given = group;
//   auto opened = inside.resume(plan, position);          // a stream of the group's elements through the plan's stages
//
// Elements are moved to the first stage where it alone can ask for them, and asks once; else each gets a copy.
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
  /// Uninitialised room for all n elements, which are built there next. Called once.
  char* room(std::size_t n) {
    char* to = elements_.reserve(n);
    elements_.set_live(0, n);
    size_ = n;
    return to;
  }
  /// Builds the elements from number `at` on at `to`. Errors: failed_precondition: they have been moved out before.
  status give(std::uint64_t at, std::uint32_t n, char* to);

 private:
  const bool moves_;
  slab elements_;
  std::uint64_t size_ = 0, gone_ = 0;
};

/// Does one stage of the plan alone ask for the elements, as far as the plan says, or can they not be copied?
bool moves_given(const node& plan, const element_type& type);

}  // namespace sluice::lib
