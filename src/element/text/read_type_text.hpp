// SPDX-License-Identifier: Apache-2.0
// The type of a row in the text of a schema, which has no braces: "label: int64, text: string".
#pragma once

#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

/// Errors: those of type_from_text(), with the character counted in `text`.
result<const element_type*> row_type_from_text(std::string_view text);

}  // namespace sluice::lib::detail
