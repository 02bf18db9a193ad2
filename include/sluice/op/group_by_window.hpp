// SPDX-License-Identifier: Apache-2.0
// group_by_window: collects elements with the same key in groups of a given size, and runs each group through stages.
//
//   range(10) | group_by_window(expr("it % 2"), batch(5), 5)          // 0 2 4 6 8, 1 3 5 7 9
//   samples | group_by_window([](const sample& s) { return s.label; }, shuffle(100) | batch(10), 100)
//   sentences | group_by_window([](const sentence& s) { return s.tokens.size() / 16; },
//                               [](const dataset<sentence>& group) { return group | padded_batch(64); },
//                               [](std::size_t bucket) { return 4096 / (16 * (bucket + 1)); })
//
// When a group reaches its size, `reduce` is run over its elements, and the elements that it yields are delivered.
// `reduce` is one stage or several. In C++ it may also be a function that takes a dataset of the elements and returns a
// dataset; it is called once, when the plan is built. Keys are as in group_by_reducer: whole numbers, texts (in
// expressions also lines, records and optional values), and pairs and structs of these. The size is a number, or a
// function of the key (window_size_func), which is called when the key is first seen. In plan text the function is an
// expression over `key`, as in `group_by_window(key=it % 3, reduce=batch(9), window_size_func=key + 1)`.
// Shape:  the element type of `reduce`.
// Order:  groups in the order in which they become full, each to its end; the elements of a group in the input's order.
// Ends:   with the input. The groups that are not full follow, in ascending order of their keys.
// Errors: an error of a function is an error of stage "group_by_window(name)": under error_policy::skip the element is
//         dropped and counted. invalid_argument, treated the same way: a size below 1. Also the errors of the stages of
//         `reduce`. resource_exhausted: the groups exceed the memory budget. failed_precondition: a repeat in `reduce`
//         requests elements that cannot be copied a second time.
// Owns:   the elements of all groups, each with 4 bytes more, and each group's key. The elements of a full group stay
//         until `reduce` has ended. Room that such groups leave is retained for some later groups. With
//         window_size_func also the size for each key that was ever seen.
// State:  which elements are in each group (one or two bytes for each element), and the position of `reduce`. A run
//         that resumes reads these elements again and skips the elements between them.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/engine/detail/inner_functions.hpp"
#include "sluice/engine/keys.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"
#include "sluice/plan/stage_plan.hpp"

namespace sluice::lib {

extern const op_info group_by_window_op;

/// A function of a key, or an expression over `key`, that returns a whole number; null: not given.
struct window_size_function : function_value {};

struct group_by_window_options {
  window_size_function window_size_func = {};  ///< returns the size of a group from its key
};
struct group_by_window_arguments {
  function_arg<key_function> key = {};    ///< returns the key of an element's group
  stage_plan reduce = {};                 ///< the stages that each group runs through
  std::optional<count> window_size = {};  ///< number of elements in a group; not given: window_size_func
  group_by_window_options options = {};
};

namespace detail {

/// Builds the function of an expression, for elements of any type. It has its own source file, so that programs without
/// expressions do not link their evaluation.
function_ptr grouping_by_expression(const expression& e);

template <class W> inline constexpr bool is_window_size = std::is_integral_v<W> || std::is_base_of_v<count, W>;
template <class W, class K>
concept sizes_windows =
    callable_over<W, K> && std::is_integral_v<mapped<W, K>> && !std::is_same_v<mapped<W, K>, bool> &&
    !returned<call_result<W, K>>::is_task && !takes_random<W, K>;
template <class R, class T>
concept reduces_groups =
    std::invocable<const R&, dataset<T>> && is_dataset<std::remove_cvref_t<std::invoke_result_t<const R&, dataset<T>>>>;

}  // namespace detail

template <class F, class R, class W> class group_by_window_verb : public stage_base_tag {
 public:
  group_by_window_verb(F key, R reduce, W size)
      : key_(std::move(key)), reduce_(std::move(reduce)), size_(std::move(size)) {}

  template <class T> auto apply(const dataset<T>& in) const {
    group_by_window_arguments a;
    if constexpr (std::is_same_v<F, expression>) {
      a.key.value = detail::grouping_by_expression(key_);
      return with_size<T, void>(in, std::move(a));
    } else if constexpr (detail::keys<F, T>) {
      a.key = detail::adopt(new detail::keyed_function<T, F>(key_));
      return with_size<T, detail::key_of<F, T>>(in, std::move(a));
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "group_by_window: the key's function must take const T& and return a whole number, a text, or a "
                    "pair, tuple, array or struct of those");
      return dataset<refused>();
    }
  }

 private:
  template <class T, class K> auto with_size(const dataset<T>& in, group_by_window_arguments a) const {
    if constexpr (detail::is_window_size<W>) {
      a.window_size = count(static_cast<std::int64_t>(size_));
      return reduced(in, std::move(a));
    } else if constexpr (std::is_same_v<W, expression>) {
      a.options.window_size_func.value = detail::grouping_by_expression(size_);
      return reduced(in, std::move(a));
    } else if constexpr (std::is_void_v<K>) {
      static_assert(
          detail::element_is<T>::template taken_by<W>,
          "group_by_window: where the key is an expression, the size is a number or an expression over `key`");
      return dataset<refused>();
    } else if constexpr (detail::sizes_windows<W, K>) {
      a.options.window_size_func.value = detail::adopt(new detail::any_map_function<K, W>(size_));
      return reduced(in, std::move(a));
    } else {
      static_assert(detail::element_is<K>::template taken_by<W>,
                    "group_by_window: the size is a number, or a function that takes the key and returns one");
      return dataset<refused>();
    }
  }

  template <class T> auto reduced(const dataset<T>& in, group_by_window_arguments a) const {
    const dataset<T> group(given_elements(type_of<T>()));
    if constexpr (stage<R>) {
      return over(in, std::move(a), group | reduce_);
    } else if constexpr (detail::reduces_groups<R, T>) {
      return over(in, std::move(a), detail::call(reduce_, group));
    } else {
      static_assert(detail::element_is<T>::template taken_by<R>,
                    "group_by_window: reduce is a stage, as batch(5), or takes a dataset<T> and returns a dataset");
      return dataset<refused>();
    }
  }

  template <class T, class U>
  static dataset<U> over(const dataset<T>& in, group_by_window_arguments a, const dataset<U>& made) {
    if constexpr (std::is_same_v<U, refused>) {
      return made;
    } else {
      a.reduce.plan = made.plan();
      return dataset<U>(group_by_window_op, arguments::of(std::move(a)), in.plan());
    }
  }

  F key_;
  R reduce_;
  W size_;
};

template <class F, class R, class W> auto group_by_window(F key, R reduce, W window_size) {
  return group_by_window_verb<F, R, W>(std::move(key), std::move(reduce), std::move(window_size));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::group_by_window;

}  // namespace sluice
