// SPDX-License-Identifier: Apache-2.0
// Stores types that are built from other types, so that each is built once.
#pragma once

#include <functional>
#include <string>

#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

/// Returns the type stored under this key; else completes and stores `make()`. `make` runs unlocked, because it may
/// build other types.
const element_type* made_once(const std::string& how, const void* of, std::size_t and_of,
                              const std::function<element_type()>& make);

/// Returns the stored type; null if none was built yet.
const element_type* made_before(const std::string& how, const void* of, std::size_t and_of);

}  // namespace sluice::lib::detail
