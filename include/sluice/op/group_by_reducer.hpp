// SPDX-License-Identifier: Apache-2.0
// group_by_reducer: groups elements by a key, and reduces each group to one element.
//
//   range(10) | group_by_reducer([](std::int64_t x) { return x % 3; }, [](std::int64_t& sum, std::int64_t x) { sum += x; })
//                                                                                                       // 18, 12, 15
//   lines("names.txt") | group_by_reducer([](const line& l) { return l.view().substr(0, 1); },
//                                         [](const std::string& key) { return key + ":"; },
//                                         [](std::string& all, const line& l) { all.append(l.view()); }, &std::string::size)
//
//   range(10) | group_by_reducer(expr("it % 3"), expr<std::int64_t>("0"), expr("state + it"))                // 18, 12, 15
//
// Expressions give the key, the first state and the next state, as in scan; in plan text group_by_reducer(it % 3, 0,
// state + it). The first function takes const T& and returns a key (engine/keys.hpp): a number without a fraction, an
// enum, a text, a std::string_view of a text, or a pair, tuple, array or struct of these; or a result<K>. In an
// expression a line and a record are texts, too, and none is one more key. The other arguments are those of reduce,
// applied to each group: f takes S& and T, T&& or const T&, and returns nothing, or a status. The argument before f is
// the initial state of a group; or, if that argument is a function, the function returns the initial state for the
// group's key. If f comes first, the initial state is an S{}. `finish` takes S, S&& or const S& and returns U or
// result<U>. An f with auto parameters cannot come first. The output contains a key only if the state contains it; the
// function of the key can store it there.
// Shape:  S, or U; one element for each group.
// Order:  ascending by key, as in tf.data. f is called for the elements of a group in their order.
// Ends:   after the last group. The first element is delivered when the input has ended.
// Errors: an exception, or an error that a function returns, becomes an error of stage "group_by_reducer(name)". The
//         name is that of the key's function; the error has the element's number, except in `finish`. Under
//         error_policy::skip the element is dropped and counted, and the state of its group remains as it was before
//         that element. If that element would have been the first of its group, the group is not created. If `finish`
//         fails for a group, the run ends; under skip the error is counted, and the group has no element.
//         invalid_argument: as in scan. resource_exhausted: the memory budget cannot hold the states of all groups; the
//         message gives their number.
// State:  at most 1 MiB of states: those of the groups that are not delivered yet. More: the number of delivered
//         groups, and a resume reads the input again. A resume before the first group always does. Skipping groups
//         reads the input and does not call `finish`, except under skip, where only `finish` determines whether a group
//         has an element.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sluice/engine/detail/state_calls.hpp"
#include "sluice/engine/keys.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info group_by_reducer_op;

struct group_by_reducer_options {
  /// makes a group's element from its last state; not given: the element is the state
  optional_function<detail::finishing_form> finish = {};
  /// makes a group's first state from its key. In C++ it is the argument before the function
  optional_function<detail::finishing_form> init = {};
  /// the serialized first state of each group if init is not given, in hexadecimal; empty: an S{}. In C++ it is the
  /// argument before the function
  std::string initial_state = {};
};
struct group_by_reducer_arguments {
  function_arg<key_function> key = {};  ///< returns the key of an element's group
  initial_value initial =
      {};  ///< for an expression with `state`: the first state of each group; it may be omitted if a function follows
  function_arg<detail::reducing_form> function = {};  ///< changes a group's state by an element, and returns nothing
  group_by_reducer_options options = {};
};

namespace detail {

template <class Begin, class K>
concept begins_with_key = takes_element<Begin, K> && maps<Begin, K> && !returned<call_result<Begin, K>>::is_task;

/// Returns the first state of all groups, converted to the type that f changes.
template <class S, class Begin> std::shared_ptr<const S> first_state(const std::shared_ptr<const Begin>& given) {
  if constexpr (std::is_same_v<S, Begin>) return given;
  else return std::shared_ptr<const S>(new S(*given));
}

}  // namespace detail

template <class Key, class Begin, class F, class Finish> class group_by_reducer_verb : public stage_base_tag {
 public:
  group_by_reducer_verb(Key key, std::shared_ptr<const Begin> begin, F f, Finish finish)
      : key_(std::move(key)), begin_(std::move(begin)), f_(std::move(f)), finish_(std::move(finish)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (!detail::keys<Key, T>) {
      static_assert(detail::element_is<T>::template taken_by<Key>,
                    "group_by_reducer: the first function must take const T& and return a key: a number without a "
                    "fraction, an enum, a text, or a pair, tuple, array or struct of those; it cannot be awaited");
      return dataset<refused>();
    } else if constexpr (detail::begins_with_key<Begin, detail::key_of<Key, T>>) {
      using K = detail::key_of<Key, T>;
      using made = detail::mapped<Begin, K>;
      using S = typename detail::state_changed_by<F, made>::type;
      static_assert(std::is_same_v<S, made>,
                    "group_by_reducer: the function of the key must return the state that f changes");
      group_by_reducer_arguments a;
      if constexpr (std::is_same_v<S, made> && detail::function_state<S>)
        detail::set_function(a.options.init, detail::adopt(new detail::map_function<K, Begin>(*begin_)));
      return with_states<T, S>(in, std::move(a), [] { return std::shared_ptr<const S>(new S()); });
    } else {
      using S = typename detail::state_changed_by<F, Begin>::type;
      return with_states<T, S>(in, {}, [this] { return detail::first_state<S>(begin_); });
    }
  }

 private:
  template <class T, class S, class First>
  auto with_states(const dataset<T>& in, group_by_reducer_arguments a, const First& first) const {
    static_assert(detail::function_state<S>, "group_by_reducer: " SLUICE_STATE_RULE);
    if constexpr (!detail::function_state<S>) {
      return dataset<refused>();
    } else if constexpr (!detail::reduces<F, S, T>) {
      static_assert(
          detail::element_is<T>::template taken_by<F>,
          "group_by_reducer: the function must take S& and the element (T, const T& or T&&), and return nothing "
          "or a status; it cannot be awaited");
      return dataset<refused>();
    } else {
      auto* f = new detail::reduce_function<T, S, F>(first(), f_);
      a.function = detail::adopt(f);
      a.key = detail::adopt(new detail::keyed_function<T, Key>(key_));
      if (!a.options.init) a.options.initial_state = f->initial_text();
      if constexpr (std::is_same_v<Finish, detail::no_finish>) {
        return dataset<S>(group_by_reducer_op, arguments::of(std::move(a)), in.plan());
      } else if constexpr (detail::finishes<Finish, S>) {
        using function = detail::map_function<S, Finish>;
        detail::set_function(a.options.finish, detail::adopt(new function(finish_)));
        return dataset<typename function::U>(group_by_reducer_op, arguments::of(std::move(a)), in.plan());
      } else {
        static_assert(
            detail::element_is<S>::template taken_by<Finish>,
            "group_by_reducer: the last function must take the state (S, const S& or S&&) and return a value");
        return dataset<refused>();
      }
    }
  }

  Key key_;
  std::shared_ptr<const Begin> begin_;
  F f_;
  Finish finish_;
};

/// Each group's state begins as `begin`, or as begin(key) if `begin` is a function of the key. The state is of the type
/// that f changes, if f has one signature.
template <class Key, class Begin, class F, class Finish = detail::no_finish>
  requires(!detail::takes_two<Begin>)
auto group_by_reducer(Key key, Begin begin, F f, Finish finish = {}) {
  return group_by_reducer_verb<Key, Begin, F, Finish>(
      std::move(key), std::shared_ptr<const Begin>(new Begin(std::move(begin))), std::move(f), std::move(finish));
}
/// Each group's state begins as S{}, where S is the type that f changes. REQUIRES: f has one signature.
template <class Key, detail::has_signature F> auto group_by_reducer(Key key, F f) {
  using S = typename detail::signature_of<F>::argument;
  return group_by_reducer_verb<Key, S, F, detail::no_finish>(std::move(key), std::shared_ptr<const S>(new S()),
                                                             std::move(f), {});
}
template <class Key, detail::takes_two F, class Finish> auto group_by_reducer(Key key, F f, Finish finish) {
  using S = typename detail::signature_of<F>::argument;
  return group_by_reducer_verb<Key, S, F, Finish>(std::move(key), std::shared_ptr<const S>(new S()), std::move(f),
                                                  std::move(finish));
}

arguments group_by_expressions(expression key, expression initial, expression step, const element_type& state);
/// Groups by expressions: the key, each group's first state, and the state after an element, which is of type S.
template <class S>
verb<detail::becomes<S>::template of> group_by_reducer(expression key, typed_expression<S> initial, expression step) {
  return {group_by_reducer_op,
          group_by_expressions(std::move(key), std::move(initial.value), std::move(step), type_of<S>())};
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::group_by_reducer;

}  // namespace sluice
