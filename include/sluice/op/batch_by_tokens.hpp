// SPDX-License-Identifier: Apache-2.0
// batch_by_tokens: batches of as many consecutive elements as have no more than so many tokens together.
//
//   sentences | batch_by_tokens([](const sentence& s) { return s.tokens.size(); }, 4096)
//   sentences | batch_by_tokens(expr("length(tokens)"), 4096, {.padded = true, .values = {{"tokens", -1}}})
//
// The function says how many an element has: it takes const T& and returns a whole number; in plan text it is an expression, or a name.
// With `padded` a batch counts its rows times the longest of them, which is what it has when lists are padded, as they then are.
// Shape:  batched<T>, as of batch; with padded as of padded_batch.
// Order:  rows in the input's order. A batch ends in front of the element with which it would have more than tokens_max, so that
//         element is read before the batch is delivered; or when it has rows_max rows. (For batches of like lengths put a
//         bucket_by_sequence_length in its place, or a shuffle before it.)
// Ends:   with the input; with drop_remainder without the last batch, which might have become larger.
// Errors: invalid_argument, with the element's number: it alone has more than tokens_max, or a negative number of them; an error
//         of the function, of stage "batch_by_tokens(name)": under error_policy::skip the element is dropped and counted; with
//         oversized=alone the first is a batch of its own. Those of padded_batch, in the same way. resource_exhausted: a batch
//         exceeds the memory budget. An error ends the stream at once, without the rows that are collected already.
// Owns:   the elements of the batch in the making; at its end for a moment those, and the batch.
// State:  none of its own: the input's position at the first row of the next batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sluice/element/batched.hpp"
#include "sluice/engine/batch_limits.hpp"
#include "sluice/engine/keys.hpp"
#include "sluice/engine/pad_value.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"
#include "sluice/plan/member_map.hpp"

namespace sluice::lib {

extern const op_info batch_by_tokens_op;

struct batch_by_tokens_options {
  bool padded = false;                 ///< rows times the longest are counted, and lists and tensors padded
  member_map<pad_value> values = {};   ///< what fills, by member, as of padded_batch; with padded
  std::optional<count> rows_max = {};  ///< rows of a batch; not given: any number
  bool drop_remainder = false;         ///< the last batch is not delivered
  lib::oversized oversized =
      lib::oversized::refuse;  ///< what an element is that alone has more: refuse (an error) or alone
};
struct batch_by_tokens_arguments {
  function_arg<key_function> length = {};  ///< tokens of an element
  count tokens_max = {};                   ///< of a batch
  batch_by_tokens_options options = {};
};

namespace detail {
template <class F, class T>
concept counts_tokens = keys<F, T> && std::is_integral_v<key_of<F, T>> && !std::is_same_v<key_of<F, T>, bool>;
/// The function of an expression, for whatever element.
function_ptr tokens_by_expression(const expression& length);
}  // namespace detail

template <class F> class batch_by_tokens_verb : public stage_base_tag {
 public:
  batch_by_tokens_verb(F length, batch_by_tokens_arguments a) : length_(std::move(length)), arguments_(std::move(a)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    batch_by_tokens_arguments a = arguments_;
    if constexpr (!stackable<T>) {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "batch_by_tokens: rows of this element cannot be stacked (numbers, texts, lists and structs of "
                    "them can)");
      return dataset<refused>();
    } else if constexpr (std::is_same_v<F, expression>) {
      a.length.value = detail::tokens_by_expression(length_);
      return dataset<batched<T>>(batch_by_tokens_op, arguments::of(std::move(a)), in.plan());
    } else if constexpr (detail::counts_tokens<F, T>) {
      a.length = detail::adopt(new detail::keyed_function<T, F>(length_));
      return dataset<batched<T>>(batch_by_tokens_op, arguments::of(std::move(a)), in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "batch_by_tokens: the function must take const T& and return a whole number");
      return dataset<refused>();
    }
  }

 private:
  F length_;
  batch_by_tokens_arguments arguments_;
};

template <class F> auto batch_by_tokens(F length, count tokens_max, batch_by_tokens_options o = {}) {
  batch_by_tokens_arguments a;
  a.tokens_max = tokens_max;
  a.options = std::move(o);
  return batch_by_tokens_verb<F>(std::move(length), std::move(a));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::batch_by_tokens;

}  // namespace sluice
