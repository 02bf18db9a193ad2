// SPDX-License-Identifier: Apache-2.0
// The schema of a tf.Example as text, and structures made from it at run time.
//
//   auto layout = layout_of("text: bytes, label: int64, values: float[16], tags: bytes[], score: float?");
//   layout->type                                   // a structure: text, label, values …
//   layout->schema.parse(bytes, to_such_a_structure)
//
//   schema  := feature { "," feature }
//   feature := member [ "=" 'name' ] ":" ( "bytes" | "int64" | "float" ) [ shape ] [ "?" ] [ "=" default ]
//   shape   := "[]" | "[" ( count | "?" ) { "," count } "]"
//   default := value | "[" [ value { "," value } ] "]"
//
// Without a shape: exactly one value. `[16]`: exactly 16 values, an array. `[]`: any number, a list. `[28,28]`: a
//   tensor. `[?,64]`: a tensor whose first length follows from the number of values. `?`: may be missing, an optional.
//   A member is any text without a comma and a colon. Its feature has the same name ("image/encoded"), unless the text
//   states another: `encoded = 'image/encoded': bytes`. A default gives the values of a missing feature: `label: int64
//   = 0`, `name: bytes = 'x'`, `v: float[3] = [1, 2, 3]`. For a fixed number of values a single one may stand for all:
//   `v: float[3] = 0`. `tags: bytes[] = []` is a list that may be missing.
// Texts are in '…' or "…", with \\ \' \" \n \t \xHH.
// Errors: invalid_argument, with the column (from 1) and the feature.
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"
#include "sluice/format/example_schema.hpp"

namespace sluice::lib {

struct example_layout {
  const element_type* type = nullptr;
  example_schema schema{{}};
};

result<example_layout> layout_of(std::string_view schema_text);

/// Returns the schema of the structure `type`: `own`, with the features of the text replaced. Errors: also if the
/// structure has no such member, or a member of another type; if a member is a tensor that the text does not describe.
result<example_schema> schema_of(const element_type& type, const example_schema& own, std::string_view schema_text);

/// Returns the text of the schema, from which layout_of() makes the same features.
std::string schema_text(const example_schema& schema);

}  // namespace sluice::lib
