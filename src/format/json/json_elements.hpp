// SPDX-License-Identifier: Apache-2.0
// Builds elements from a JSON document. For json_rows.cpp.
// Errors: throws invalid_argument, with the place in the document; needs_spelling (json_numbers.hpp).
#pragma once

#if SLUICE_HAVE_SIMDJSON

#include <cstdint>
#include <string>

#include "element/path.hpp"
#include "format/json/json_values.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::json {

using detail::path;

/// The treatment of members in the JSON that a structure does not have.
enum class other_members : std::uint8_t { passed_over, refused };

[[noreturn]] void refuse_json(const path& at, const std::string& what);
/// Builds an element at uninitialised `to`.
void make_json(const element_type& t, void* to, const dom& j, const path& at, other_members others);
/// Builds the structure `built` of some members of t, in order. The others are checked, unless `trust` is set.
void make_some_json(const element_type& built, const element_type& t, void* to, const dom& j, other_members others,
                    bool trust);

}  // namespace sluice::lib::json

#endif
