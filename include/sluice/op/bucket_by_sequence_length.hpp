// SPDX-License-Identifier: Apache-2.0
// bucket_by_sequence_length: padded batches of elements of about the same length.
//
//   sentences | bucket_by_sequence_length([](const sentence& s) { return s.tokens.size(); }, {16, 64}, {128, 32, 8})
//   sentences | bucket_by_sequence_length(expr("length(tokens)"), {16, 64}, {128, 32, 8}, {.values = {{"tokens", -1}}})
//
// In plan text: bucket_by_sequence_length(length(tokens), [16, 64], [128, 32, 8], shapes={tokens=[64]}, values={tokens=-1}).
//
// Elements shorter than the first boundary go to the first bucket, those shorter than the second boundary to the second
// bucket, and all others to the last bucket; there is one bucket more than boundaries. When a bucket has as many
// elements as its batch size, it becomes a batch, padded as by padded_batch. The function takes const T& and returns a
// whole number; in plan text it is an expression or a name.
// Shape:  batched<T>, as for padded_batch; with no_padding, as for batch.
// Order:  batches in the order in which their buckets fill up; rows in the input's order.
// Ends:   with the input. The elements left in the buckets follow as batches, the shortest lengths first; with
//         drop_remainder they are not delivered.
// Errors: those of padded_batch. invalid_argument when the plan is built: the boundaries are negative or do not ascend,
//         or the number of batch sizes is not the number of boundaries plus one. invalid_argument in a run, with the
//         element's number: a length is negative, or, with pad_to_bucket_boundary, no boundary is above it; the latter
//         is reported when the batch of the last bucket is due, as in tf.data. An error of the function is an error of
//         stage "bucket_by_sequence_length(name)". Under error_policy::skip the element that causes one of these errors
//         is dropped and counted. resource_exhausted: the buckets exceed the memory budget.
// Owns:   fewer elements than the sum of the batch sizes, plus 8 bytes for each.
// State:  which elements are in each bucket: one or two bytes for each element. A run that resumes reads these elements
//         again and skips the elements between them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/element/batched.hpp"
#include "sluice/engine/keys.hpp"
#include "sluice/engine/pad_value.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"
#include "sluice/plan/member_map.hpp"

namespace sluice::lib {

extern const op_info bucket_by_sequence_length_op;

struct bucket_by_sequence_length_options {
  /// lengths of each dimension, as for padded_batch
  member_map<std::vector<std::int64_t>> shapes = {};
  /// padding values by member, as for padded_batch
  member_map<pad_value> values = {};
  bool pad_to_bucket_boundary =
      false;  ///< true: lengths that are not given are the bucket's boundary less one, instead of the longest element's
              ///< length; the last bucket has no boundary and accepts no elements
  bool no_padding = false;      ///< true: lists keep their lengths
  bool drop_remainder = false;  ///< true: buckets that are not full at the end are not delivered
};
struct bucket_by_sequence_length_arguments {
  function_arg<key_function> length = {};     ///< returns the length of an element
  std::vector<std::int64_t> boundaries = {};  ///< the smallest length of each bucket except the first, ascending
  std::vector<count> batch_sizes = {};        ///< rows of a batch, for each bucket
  bucket_by_sequence_length_options options = {};
};

namespace detail {
template <class F, class T>
concept measures_length = keys<F, T> && std::is_integral_v<key_of<F, T>> && !std::is_same_v<key_of<F, T>, bool>;
/// Builds the function of an expression, for elements of any type.
function_ptr length_by_expression(const expression& length);
bucket_by_sequence_length_arguments bucket_arguments(const std::vector<std::int64_t>& boundaries,
                                                     const std::vector<std::int64_t>& batch_sizes,
                                                     bucket_by_sequence_length_options o);
}  // namespace detail

template <class F> class bucket_by_sequence_length_verb : public stage_base_tag {
 public:
  bucket_by_sequence_length_verb(F length, bucket_by_sequence_length_arguments a)
      : length_(std::move(length)), arguments_(std::move(a)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    bucket_by_sequence_length_arguments a = arguments_;
    if constexpr (!stackable<T>) {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "bucket_by_sequence_length: rows of this element cannot be stacked (numbers, texts, lists and "
                    "structs of them can)");
      return dataset<refused>();
    } else if constexpr (std::is_same_v<F, expression>) {
      a.length.value = detail::length_by_expression(length_);
      return dataset<batched<T>>(bucket_by_sequence_length_op, arguments::of(std::move(a)), in.plan());
    } else if constexpr (detail::measures_length<F, T>) {
      a.length = detail::adopt(new detail::keyed_function<T, F>(length_));
      return dataset<batched<T>>(bucket_by_sequence_length_op, arguments::of(std::move(a)), in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "bucket_by_sequence_length: the function must take const T& and return a whole number");
      return dataset<refused>();
    }
  }

 private:
  F length_;
  bucket_by_sequence_length_arguments arguments_;
};

template <class F>
auto bucket_by_sequence_length(F length, const std::vector<std::int64_t>& boundaries,
                               const std::vector<std::int64_t>& batch_sizes, bucket_by_sequence_length_options o = {}) {
  return bucket_by_sequence_length_verb<F>(std::move(length),
                                           detail::bucket_arguments(boundaries, batch_sizes, std::move(o)));
}
SLUICE_FUNCTION_OPTIONS_IN_BRACES(bucket_by_sequence_length_verb<F>, bucket_by_sequence_length,
                                  bucket_by_sequence_length_options,
                                  "bucket_by_sequence_length(f, {8, 16}, {4, 4, 2}, {.no_padding = true})",
                                  const std::vector<std::int64_t>&, const std::vector<std::int64_t>&)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::bucket_by_sequence_length;

}  // namespace sluice
