// SPDX-License-Identifier: Apache-2.0
// The elements of its source that a filter drops without reading them (node_history::excluded). The filter has the source
// skip them, so that both stages count them, and positions stay those of the plan as written.
// Thread: one caller at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/node_history.hpp"

namespace sluice::lib {

class excluded_elements {
 public:
  /// `filter` outlives this object.
  explicit excluded_elements(const node& filter) : history_(filter.history.get()) {
    if (filter.inputs[0]->op->shape != op_info::source) history_ = nullptr;
  }

  /// Returns the number of elements to skip from this ordinal on. The run of elements that is skipped ends before an element
  /// that must be read, or with the source.
  std::uint64_t from(std::uint64_t ordinal) const {
    if (!history_ || history_->excluded.empty()) return 0;
    auto after = std::ranges::upper_bound(history_->excluded, ordinal, {}, &element_run::first);
    if (after == history_->excluded.begin()) return 0;
    const element_run& run = *--after;
    return ordinal - run.first < run.count ? run.count - (ordinal - run.first) : 0;
  }

 private:
  const node_history* history_;
};

}  // namespace sluice::lib
