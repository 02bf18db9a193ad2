// SPDX-License-Identifier: Apache-2.0
// index_flat_map: makes a list from each element and delivers the lists' items; a second function locates output
// element i.
//
//   range(3) | index_flat_map([](std::int64_t x) { return std::vector<std::int64_t>{x, -x}; },
//                             [](std::int64_t i) { return std::pair<std::int64_t, std::int64_t>(i / 2, i % 2); },
//                             {.cardinality = 6})                                       // 0 0 1 -1 2 -2
//
// In plan text: index_flat_map([it, -it], (it / 2, it % 2), cardinality=6). It works like flat_map, but knows the place
// of each element. Therefore a global_shuffle can follow it, and skipping makes only the last list.
// Shape:  U. The first function takes T and returns a list or an array of U. The second takes an index of the output
//         and returns the number of an input element and the index in that element's list. U can be copied.
// Order:  the inputs' lists in their order. The second function is called only when elements are skipped.
// Ends:   with the input.
// Errors: an error of the first function is an error of the element, as in map; under error_policy::skip the whole list
//         is dropped. invalid_argument: the second function fails, or returns a place after the end of its list, or
//         before elements that were already delivered. failed_precondition, with a `cardinality`, after the last
//         declared element: the input has more elements (always an error), or fewer (an error if no stage up to here
//         drops bad elements). If a stage drops bad elements, skips do not use the second function.
// State:  the input's position at the current element, and the number of items of its list that were delivered.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info index_flat_map_op;

struct index_flat_map_options {
  /// number of output elements if no element is dropped. If it is not given, skips do not use the index, and no
  /// global_shuffle can follow
  std::optional<count> cardinality = {};
};
struct index_flat_map_arguments {
  function_arg<detail::finishing_form> function = {};      ///< makes a list from an element
  number_function<detail::finishing_form> index_map = {};  ///< returns (input number, index in its list) for an index
                                                           ///< of the output
  index_flat_map_options options = {};
};

namespace detail {
template <class L>
concept list_like = requires(const L& l) {
  typename L::value_type;
  l.data();
  l.size();
};
template <class F, class T>
concept makes_lists = maps<F, T> && !returned<call_result<F, T>>::is_task && list_like<mapped<F, T>>;
template <class F>
concept maps_indexes =
    maps<F, std::int64_t> && std::same_as<mapped<F, std::int64_t>, std::pair<std::int64_t, std::int64_t>>;
}  // namespace detail

template <class F, class I> class index_flat_map_verb : public stage_base_tag {
 public:
  index_flat_map_verb(F f, I index_map, index_flat_map_options o)
      : f_(std::move(f)), index_map_(std::move(index_map)), options_(o) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (!detail::maps_indexes<I>) {
      static_assert(detail::element_is<T>::template taken_by<I>,
                    "index_flat_map: the second function must take a std::int64_t and return a std::pair of two");
      return dataset<refused>();
    } else if constexpr (detail::makes_lists<F, T>) {
      index_flat_map_arguments a;
      a.function = detail::adopt(new detail::map_function<T, F>(f_));
      a.index_map = detail::adopt(new detail::map_function<std::int64_t, I>(index_map_));
      a.options = options_;
      return dataset<typename detail::mapped<F, T>::value_type>(index_flat_map_op, arguments::of(std::move(a)),
                                                                in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "index_flat_map: the first function must take the element and return a std::vector or std::array");
      return dataset<refused>();
    }
  }

 private:
  F f_;
  I index_map_;
  index_flat_map_options options_;
};

template <class F, class I> auto index_flat_map(F f, I index_map, index_flat_map_options o = {}) {
  return index_flat_map_verb<F, I>(std::move(f), std::move(index_map), o);
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::index_flat_map;
using lib::index_flat_map_options;

}  // namespace sluice
