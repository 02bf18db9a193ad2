// SPDX-License-Identifier: Apache-2.0
// Names that people look for in plan text, of tf.data and of the C++ library, for which there is another word or another place.
#pragma once

#include <string_view>

namespace sluice::lib::detail {

/// "count_elements, …": what there is instead, to be put behind "it is"; empty: no such name.
std::string_view other_word_for(std::string_view name);

}  // namespace sluice::lib::detail
