// SPDX-License-Identifier: Apache-2.0
// The schema of a tf.Example as text, and structures made from it at run time.
//
//   auto layout = layout_of("text: bytes, label: int64, values: float[16], tags: bytes[], score: float?");
//   layout->type                                   // a structure: text, label, values …
//   layout->schema.parse(bytes, to_such_a_structure)
//
//   schema := feature { "," feature }     feature := name ":" ( "bytes" | "int64" | "float" ) [ "[" [ count ] "]" | "?"
//   ]
//
// `[16]`: exactly so many values; `[]`: any number; `?`: a single one that may be missing; none of these: exactly one.
// A name is anything without a comma and a colon: "image/encoded".
// Errors: invalid_argument, naming the feature.
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

/// Reads back to the same features.
std::string schema_text(const example_schema& schema);

}  // namespace sluice::lib
