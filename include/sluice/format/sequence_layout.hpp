// SPDX-License-Identifier: Apache-2.0
// The feature lists of a tf.SequenceExample as text, and structures made from it at run time.
//
//   auto layout = sequence_layout_of("label: int64, audio: float[128], tokens: int64[], notes: bytes[]?");
//   layout->type                                   // a structure of lists: label, audio, tokens, notes
//
//   sequence := [ list { "," list } ]
//   list     := name ":" ( "bytes" | "int64" | "float" ) [ "[" [ count ] "]" ] [ "?" ]
//
// Without brackets: each step has exactly one value (`label` is a list of int64). `[128]`: exactly 128 values, an
// array. `[]`: any number, a list. `?` after any of these: the feature list may be missing, and then has no steps. A
// name is any text without a comma and a colon. A text without feature lists is empty. format/example_layout.hpp
// describes the text of the context.
// Errors: invalid_argument, with the name of the feature list.
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"
#include "sluice/format/sequence_schema.hpp"

namespace sluice::lib {

struct sequence_layout {
  const element_type* type = nullptr;
  sequence_schema schema{{}};
};

result<sequence_layout> sequence_layout_of(std::string_view sequence_text);

/// Returns the text of the schema, from which sequence_layout_of() makes the same feature lists.
std::string sequence_text(const sequence_schema& schema);

}  // namespace sluice::lib
