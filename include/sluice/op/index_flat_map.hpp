// SPDX-License-Identifier: Apache-2.0
// index_flat_map: each element becomes a list, whose elements follow each other; and a second function knows where number i is.
//
//   range(3) | index_flat_map([](std::int64_t x) { return std::vector<std::int64_t>{x, -x}; },
//                             [](std::int64_t i) { return std::pair<std::int64_t, std::int64_t>(i / 2, i % 2); },
//                             {.cardinality = 6})                                       // 0 0 1 -1 2 -2
//
// In plan text: index_flat_map([it, -it], (it / 2, it % 2), cardinality=6). As flat_map, but with a place for each element, so that a
// global_shuffle can stand behind it, and passing over needs no lists but the last one.
// Shape:  U, where the first function takes T and returns a list or an array of U; the second takes an index of the output and returns
//         the number of an input and of an element in its list. U can be copied.
// Order:  the inputs' lists in their order. Where nothing is passed over the second function is not called.
// Ends:   with the input.
// Errors: errors of the first function are those of the element, as map's; under error_policy::skip the whole list is dropped.
//         invalid_argument: the second function fails, or says a place that is behind its list's end, or before what was delivered. With
//         a `cardinality` failed_precondition, behind the last element that was to come: there are more, whatever may be dropped; or
//         fewer, where no stage up to here drops bad elements. Where one does, nothing is passed over by index.
// State:  the input's position at the present element, and how many of its list were delivered.
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
  /// of the output, where no element is dropped; without it nothing is passed over by index, and no global_shuffle can stand behind
  std::optional<count> cardinality = {};
};
struct index_flat_map_arguments {
  function_arg<detail::finishing_form> function = {};      ///< from an element to a list
  number_function<detail::finishing_form> index_map = {};  ///< from an index to (input, place in its list)
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

// What users write.
using lib::index_flat_map;
using lib::index_flat_map_options;

}  // namespace sluice
