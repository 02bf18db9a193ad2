// SPDX-License-Identifier: Apache-2.0
#include "service/host/split_forms.hpp"

#include <absl/strings/str_cat.h>

#include "splits/split_bounds.hpp"

namespace sluice::lib {

node_ptr split_forms::form_of(const node_ptr& split, std::string_view part, const optimize_options& o) {
  if (!o.rules.allows_any()) return split;
  const std::string key =
      absl::StrCat(std::string(part), "\n", shape_of_bounds(*split), "\n", o.rules.off(), " ", o.rules.on(), " ",
                   static_cast<int>(o.on_error), " ", static_cast<int>(o.trust.value));
  node_ptr known;
  {
    mutex_lock lock(mutex_);
    if (const auto at = forms_.find(key); at != forms_.end()) known = at->second;
  }
  if (known) return with_bounds_of(known, *split);  // without the lock: splits are read at the same time
  mutex_lock lock(mutex_);
  if (const auto at = forms_.find(key); at != forms_.end()) return with_bounds_of(at->second, *split);
  if (forms_.size() == kFormsMax) forms_.clear();
  ++optimized_;
  return forms_[key] = optimized_plan(split, o);
}

std::size_t split_forms::optimized() const {
  mutex_lock lock(mutex_);
  return optimized_;
}

}  // namespace sluice::lib
