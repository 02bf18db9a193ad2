// SPDX-License-Identifier: Apache-2.0
// apply: calls a function from dataset to dataset as a part of a pipeline.
//
//   auto shuffled = [](const auto& in) { return in | shuffle(100) | batch(8); };
//   auto ds = numbers | apply(shuffled) | prefetch(2);
//
// `ds | apply(f)` is f(ds): the plan contains what f made; apply itself does not appear.
#pragma once

#include <utility>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

template <class F> class apply_verb : public stage_base_tag {
 public:
  explicit apply_verb(F f) : f_(std::move(f)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (std::is_invocable_v<const F&, const dataset<T>&>) {
      return f_(in);
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "apply: the function must take the dataset, and return another one");
      return dataset<refused>();
    }
  }

 private:
  F f_;
};

template <class F> apply_verb<F> apply(F f) { return apply_verb<F>(std::move(f)); }

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::apply;

}  // namespace sluice
