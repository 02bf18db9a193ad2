// SPDX-License-Identifier: Apache-2.0
// split_forms: the optimized forms of the splits of one plan. The splits of one shape share an optimization, which is that of
// the first of them with the bounds of the others (splits/split_bounds.hpp).
//
//   node_ptr runs = forms.form_of(split, "part 0", options);      // open_rewritten_run(rt, split, runs, …)
//
// A plan has a few shapes: the first split of a range, those in its middle, the last one, or the lists of names.
// Errors: those of optimize().
// Thread: any. Of several calls for a new shape, one optimizes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "sluice/base/mutex.hpp"
#include "sluice/optimizer/optimize.hpp"

namespace sluice::lib {

class split_forms {
 public:
  /// `part`: names the stages that the split has apart from its bounds.
  node_ptr form_of(const node_ptr& split, std::string_view part, const optimize_options& o);
  /// The number of plans that were optimized.
  std::size_t optimized() const;

 private:
  /// More are forgotten together: only consumers with other settings, and plans with many parts, have so many.
  static constexpr std::size_t kFormsMax = 64;

  mutable mutex mutex_;
  std::map<std::string, node_ptr> forms_ ABSL_GUARDED_BY(mutex_);
  std::size_t optimized_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::lib
