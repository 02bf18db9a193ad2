// SPDX-License-Identifier: Apache-2.0
// Names from tf.data and the C++ library that people look for in plan text, and that have another name or place here.
#pragma once

#include <string_view>

namespace sluice::lib::detail {

/// Returns the replacement, worded to follow "it is" ("count_elements, …"), or an empty string for other names.
std::string_view other_word_for(std::string_view name);

}  // namespace sluice::lib::detail
