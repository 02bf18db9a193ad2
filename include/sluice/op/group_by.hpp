// SPDX-License-Identifier: Apache-2.0
// group_by: groups elements by a key, and computes aggregates of each group.
//
//   samples | group_by(expr("label"), expr<label_count>("{n: count()}"))      // {label: 0, n: 1} …
//   samples | group_by([](const auto& s) { return s.text.size(); }, expr<size_count>("{n: count()}"))
//
// In plan text: group_by(city, {n: count(), spent: sum(price), highest: max(price)}). The outermost call of each member
// in the braces is an aggregate over the rows of a group, and its argument is computed for each row. `count()` is the
// number of rows, and `count(x)` the number of rows in which x is not none. `sum(x)` is an int64 or uint64 for integers,
// and a double for other numbers; `mean(x)` is a double. `min(x)` and `max(x)` accept numbers and texts, and are NaN if
// one value is. `first(x)` is the value of the first row in which x is not none.
// Every aggregate except count() ignores rows in which the argument is none. If no row is left, the result is none. A
// result is optional if its argument is. Compute further values in a map after group_by: map(spent / n).
// A key has a type that group_by_reducer accepts as a key, or is an optional of one; none is one more key.
// Shape:  {city: string, n: int64, …}: the key, with the name of its column, or `key` if the key is not a column; then the
//         aggregates. In C++ the struct U of expr<U>, which has these members in any order.
// Order:  ascending by key, none before all others. One element for each group.
// Ends:   after the last group. The first element is delivered when the input has ended.
// Errors: an error of the key or of an argument becomes an error of the stage, with the element's number; under
//         error_policy::skip the element is dropped and counted. invalid_argument: the sum of a group does not fit its
//         type; under skip the group is dropped and counted. resource_exhausted: the memory budget cannot hold the groups;
//         the message gives their number.
// Owns:   for each group its key and states, 50 to 150 bytes for a few numbers.
// State:  at most 1 MiB of groups: the groups that are not delivered yet. More: the number of delivered groups, and a
//         resume reads the input again. A resume before the first group always does.
// See:    group_by_reducer, for other states and for C++ functions.
#pragma once

#include <type_traits>
#include <utility>

#include "sluice/engine/detail/aggregates.hpp"
#include "sluice/engine/keys.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info group_by_op;

struct group_by_arguments {
  function_arg<key_function> key = {};               ///< returns the key of an element's group
  function_arg<aggregate_function> aggregates = {};  ///< aggregates by name: {n: count(), total: sum(x)}
};

/// The arguments, without the key.
group_by_arguments group_by_aggregates(expression aggregates, const element_type& made);
function_ptr group_key_by_expression(expression key);

template <class Key, class U> class group_by_verb : public stage_base_tag {
 public:
  group_by_verb(Key key, typed_expression<U> aggregates) : key_(std::move(key)), aggregates_(std::move(aggregates)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (std::is_same_v<Key, expression>) {
      return made(in, group_key_by_expression(key_));
    } else if constexpr (detail::keys<Key, T>) {
      return made(in, detail::adopt(new detail::keyed_function<T, Key>(key_)));
    } else {
      static_assert(detail::element_is<T>::template taken_by<Key>,
                    "group_by: the first function must take const T& and return a key: a number without a fraction, an "
                    "enum, a text, or a pair, tuple, array or struct of those; it cannot be awaited");
      return dataset<refused>();
    }
  }

 private:
  template <class T> dataset<U> made(const dataset<T>& in, function_ptr key) const {
    group_by_arguments a = group_by_aggregates(aggregates_.value, type_of<U>());
    a.key.value = std::move(key);
    return dataset<U>(group_by_op, arguments::of(std::move(a)), in.plan());
  }

  Key key_;
  typed_expression<U> aggregates_;
};

/// `key`: a function of an element, or an expression. U: a struct with a member for the key and for each aggregate.
template <class Key, class U> group_by_verb<Key, U> group_by(Key key, typed_expression<U> aggregates) {
  return {std::move(key), std::move(aggregates)};
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::group_by;

}  // namespace sluice
