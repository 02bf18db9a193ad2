// SPDX-License-Identifier: Apache-2.0
// Explains what is wrong in a text that is almost JSON, as Python, JavaScript and people write it.
// Thread: any.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib {

/// Returns the first thing in the text that JSON does not have, and what to write instead; "" if nothing is recognized.
/// The text is one that a JSON parser has refused.
std::string explained_mistake(std::string_view json);

}  // namespace sluice::lib
