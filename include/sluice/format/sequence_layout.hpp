// SPDX-License-Identifier: Apache-2.0
// The feature lists of a tf.SequenceExample as text, and structures made from it at run time.
//
//   auto layout = sequence_layout_of("label: int64, audio: float[128], tokens: int64[], notes: bytes[]?");
//   layout->type                                   // a structure of lists: label, audio, tokens, notes
//
//   sequence := [ list { "," list } ]
//   list     := name ":" ( "bytes" | "int64" | "float" ) [ "[" [ count ] "]" ] [ "?" ]
//
// Nothing: each step has exactly one value (`label` is a list of int64). `[128]`: exactly so many, an array. `[]`: any
// number, a list. `?` behind any of these: the feature list may be missing, and has no steps then.
// A name is anything without a comma and a colon. The text without feature lists is empty. How the context is written:
// format/example_layout.hpp.
// Errors: invalid_argument, naming the feature list.
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

/// Reads back to the same feature lists.
std::string sequence_text(const sequence_schema& schema);

}  // namespace sluice::lib
