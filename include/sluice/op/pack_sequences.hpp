// SPDX-License-Identifier: Apache-2.0
// pack_sequences: packs several sequences of tokens into rows of a fixed length, with data to separate them again.
//
//   sentences | map([](const sentence& s) { return s.tokens; }) | pack_sequences(512) | batch(16)
//   from_elements(std::vector<std::vector<std::int64_t>>{{5, 6, 7}, {8}, {9, 9}}) | pack_sequences(4)
//              // tokens 5 6 7 8, segments 1 1 1 2, positions 0 1 2 0;  tokens 9 9 0 0, segments 1 1 0 0, positions 0 1 0 0
//
// Each sequence goes into the first open row, oldest first, that has room for the whole sequence. If no row has room, a
// new row is opened; if open_rows rows are already open, the oldest is delivered first. A full row is delivered at
// once.
// Shape:  packed_row. `tokens` has tokens_max items, filled up with pad_token unless pad is false. `segments` has the
//         number of each token's sequence in the row, from 1; 0 for padding. `positions` has each token's index in its
//         sequence, from 0. An empty sequence is in no row. The input elements are lists of whole numbers.
// Order:  rows when they are full or must make room, the older first; sequences within a row in the input's order. The
//         same in every run.
// Ends:   with the input. The open rows follow, the oldest first.
// Errors: invalid_argument, with the element's number: the element has more than tokens_max tokens. Under
//         error_policy::skip it is dropped and counted; with oversized=truncate it is cut to tokens_max tokens.
//         resource_exhausted: the open rows exceed the memory budget.
// Owns:   the sequences of the open rows, each with 8 bytes more; at most open_rows · tokens_max tokens.
// State:  which elements are in each open row: one or two bytes for each element. A run that resumes reads these
//         elements again and skips the elements between them.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "sluice/engine/batch_limits.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info pack_sequences_op;

/// Three lists of the same length.
struct packed_row {
  std::vector<std::int64_t> tokens{};
  std::vector<std::int32_t> segments{};   ///< for each token, the number of its sequence in the row, from 1; 0: padding
  std::vector<std::int32_t> positions{};  ///< for each token, its index in its sequence, from 0

  friend bool operator==(const packed_row&, const packed_row&) = default;
};

struct pack_sequences_options {
  count_up_to<1024> open_rows = 16;                   ///< number of rows that are filled at the same time
  std::int64_t pad_token = 0;                         ///< the token that fills up a row
  bool pad = true;                                    ///< false: rows have only the tokens of their sequences
  lib::oversized oversized = lib::oversized::refuse;  ///< treatment of a sequence longer than tokens_max: refuse (an
                                                      ///< error) or truncate
};
struct pack_sequences_arguments {
  count_up_to<1'073'741'824> tokens_max = {};  ///< most tokens in a row
  pack_sequences_options options = {};
};

namespace detail {
template <class T> inline constexpr bool is_sequence = false;
template <class I>
inline constexpr bool is_sequence<std::vector<I>> = std::is_integral_v<I> && !std::is_same_v<I, bool>;
}  // namespace detail

class pack_sequences_verb : public stage_base_tag {
 public:
  explicit pack_sequences_verb(pack_sequences_arguments a) : arguments_(a) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::is_sequence<T>) {
      return dataset<packed_row>(pack_sequences_op, arguments::of(arguments_), in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<pack_sequences_verb>,
                    "pack_sequences: sequences are lists of whole numbers; map the element to its tokens first");
      return dataset<refused>();
    }
  }

 private:
  pack_sequences_arguments arguments_;
};

pack_sequences_verb pack_sequences(count_up_to<1'073'741'824> tokens_max, pack_sequences_options o = {});
SLUICE_OPTIONS_IN_BRACES(pack_sequences_verb, pack_sequences, count_up_to<1'073'741'824>, pack_sequences_options,
                         "pack_sequences(512, {.open_rows = 4})")

}  // namespace sluice::lib

SLUICE_ELEMENT(sluice::lib::packed_row)

namespace sluice {

// The public names.
using lib::pack_sequences;
using lib::packed_row;

}  // namespace sluice
