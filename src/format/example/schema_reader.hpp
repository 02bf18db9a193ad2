// SPDX-License-Identifier: Apache-2.0
// Reads the text of a tf.Example's schema, whose grammar is in format/example_layout.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/format/example_schema.hpp"

namespace sluice::lib::detail {

/// A feature in its text: the slot without offset, type and functions.
struct written_feature {
  std::size_t at = 0;  ///< the place in the schema's text
  feature_slot slot;
};

/// Errors: throws invalid_argument, with the column and the feature.
std::vector<written_feature> read_schema(std::string_view text);
[[noreturn]] void fail_in_schema(std::size_t at, const std::string& why);

/// Appends the name as a schema has it: in quotes unless it consists of letters, digits and _ - . / only.
void append_feature_name(std::string_view name, std::string& out);

/// Calls f with the list of values of this kind.
template <class Values, class F> decltype(auto) with_list(Values& v, feature_kind kind, F f) {
  switch (kind) {
    case feature_kind::floats: return f(v.floats);
    case feature_kind::int64s: return f(v.int64s);
    default: return f(v.bytes);
  }
}

}  // namespace sluice::lib::detail
