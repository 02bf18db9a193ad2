// SPDX-License-Identifier: Apache-2.0
// Types made from other types, once for each.
#pragma once

#include <functional>
#include <string>

#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

/// The type made under this key, or else `make()`, completed and kept. `make` runs unlocked: it may make other types.
const element_type* made_once(const std::string& how, const void* of, std::size_t and_of,
                              const std::function<element_type()>& make);

/// The same; null where it was not made yet.
const element_type* made_before(const std::string& how, const void* of, std::size_t and_of);

}  // namespace sluice::lib::detail
