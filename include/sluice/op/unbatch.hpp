// SPDX-License-Identifier: Apache-2.0
// unbatch: the rows of batches, one by one.
//
//   batches | unbatch() | batch(100)       // batches of another size
//
// Shape:  T. The number of rows is known if batch or rebatch makes the input's batches, with only repeat, shuffle and
//         prefetch between.
// Order:  as in the batches.
// State:  the number of rows delivered from the current batch, which is made again after a resume.
#pragma once

#include "sluice/element/batched.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info unbatch_op;

namespace detail {
template <class T> struct row_of {};
template <class T> struct row_of<batched<T>> {
  using type = T;
};
template <class T> concept has_rows = requires { typename row_of<T>::type; };
}  // namespace detail

class unbatch_verb : public stage_base_tag {
 public:
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::has_rows<T>) {
      return dataset<typename detail::row_of<T>::type>(unbatch_op, arguments(), in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<unbatch_verb>, "unbatch: the element is not a batch");
      return dataset<refused>();
    }
  }
};

inline unbatch_verb unbatch() { return {}; }

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::unbatch;

}  // namespace sluice
