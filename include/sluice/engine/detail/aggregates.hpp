// SPDX-License-Identifier: Apache-2.0
// The form of functions that compute one structure of each group of elements: the aggregates of group_by.
//
// The functions are const and shared by all runs; each stream has aggregate_states of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

/// The aggregates of groups, which are numbered from 0. Thread: none; it belongs to its stage.
class aggregate_states {
 public:
  aggregate_states() = default;
  aggregate_states(const aggregate_states&) = delete;
  virtual ~aggregate_states();

  /// Computes what the aggregates need of the elements of `in`, which are only looked at. An error is element `done`'s.
  virtual applied compute(const block& in) = 0;
  /// The same for rows of columns. REQUIRES: aggregate_function::reads_columns.
  virtual applied compute_rows(const column_view& in);
  /// Adds the first n computed elements to their groups; element i belongs to groups[i] < count.
  virtual void add(const std::uint32_t* groups, std::uint32_t n, std::uint32_t count) = 0;
  /// Does the same for elements of one group.
  virtual void add_to(std::uint32_t group, std::uint32_t n, std::uint32_t count) = 0;
  /// Constructs the values of the members of `out` at their offsets from `to`; the first member is `members[0]` …
  /// Errors: one of them cannot be represented; nothing is constructed then.
  virtual status build(std::uint32_t group, char* to, const std::size_t* offsets) = 0;
  /// The bytes that all states take.
  virtual std::size_t bytes() const = 0;
};

/// `out` is a structure with a member for each aggregate.
struct aggregate_function : stage_function {
  const element_type* wanted = nullptr;  ///< the type of the stage's elements, if it is known
  bool reads_columns = false;            ///< rows of columns may be the elements
  virtual std::unique_ptr<aggregate_states> make() const = 0;
};

}  // namespace sluice::lib
