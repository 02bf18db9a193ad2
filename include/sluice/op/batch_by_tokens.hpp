// SPDX-License-Identifier: Apache-2.0
// batch_by_tokens: batches of as many consecutive elements as fit into a given number of tokens.
//
//   sentences | batch_by_tokens([](const sentence& s) { return s.tokens.size(); }, 4096)
//   sentences | batch_by_tokens(expr("length(tokens)"), 4096, {.padded = true, .values = {{"tokens", -1}}})
//
// The function returns the number of tokens of an element: it takes const T& and returns a whole number; in plan text
// it is an expression or a name. With `padded` the lists are padded, and a batch counts as its number of rows times the
// tokens of the longest row.
// Shape:  batched<T>, as for batch; with padded, as for padded_batch.
// Order:  rows in the input's order. A batch ends when it has rows_max rows, or before the element that would give it
//         more than tokens_max tokens. That element is therefore read before the batch is delivered. (For batches of
//         elements of similar length, use bucket_by_sequence_length instead, or put a shuffle before this stage.)
// Ends:   with the input; with drop_remainder the last batch, which might have become larger, is not delivered.
// Errors: invalid_argument, with the element's number: the element alone has more than tokens_max tokens, or the
//         function returns a negative number. An error of the function is an error of stage "batch_by_tokens(name)".
//         Under error_policy::skip the element is dropped and counted. With oversized=alone an element that is too
//         large becomes a batch of its own. The errors of padded_batch are treated the same way. resource_exhausted: a
//         batch exceeds the memory budget. An error ends the stream at once, without the rows that are already
//         collected.
// Owns:   the elements of the batch that is being built; briefly, when it is finished, also the batch.
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
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"
#include "sluice/plan/member_map.hpp"

namespace sluice::lib {

extern const op_info batch_by_tokens_op;

struct batch_by_tokens_options {
  bool padded = false;                 ///< true: lists and tensors are padded, and a batch counts rows times the
                                       ///< longest row
  member_map<pad_value> values = {};   ///< the padding values by member, as for padded_batch; with padded
  std::optional<count> rows_max = {};  ///< most rows in a batch; not given: no limit
  bool drop_remainder = false;         ///< true: the last batch is not delivered
  lib::oversized oversized =
      lib::oversized::refuse;  ///< treatment of an element that alone exceeds the limit: refuse (an error) or alone
};
struct batch_by_tokens_arguments {
  function_arg<key_function> length = {};  ///< returns the number of tokens of an element
  count tokens_max = {};                   ///< most tokens in a batch
  batch_by_tokens_options options = {};
};

namespace detail {
template <class F, class T>
concept counts_tokens = keys<F, T> && std::is_integral_v<key_of<F, T>> && !std::is_same_v<key_of<F, T>, bool>;
/// Builds the function of an expression, for elements of any type.
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
SLUICE_FUNCTION_OPTIONS_IN_BRACES(batch_by_tokens_verb<F>, batch_by_tokens, batch_by_tokens_options,
                                  "batch_by_tokens(f, 512, {.padded = true})", count)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::batch_by_tokens;

}  // namespace sluice
