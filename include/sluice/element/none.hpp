// SPDX-License-Identifier: Apache-2.0
// none: an element or a member without content, `null` in JSON. It replaces a part for which a plan has no value.
#pragma once

#include <compare>
#include <string>

namespace sluice::lib {

struct none {
  void sluice_print(std::string& json) const { json += "null"; }
  friend auto operator<=>(const none&, const none&) = default;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::none;

}  // namespace sluice
