// SPDX-License-Identifier: Apache-2.0
// HTTP's versions of objects (RFC 9110, 8.8.3).
#pragma once

#include <string_view>

namespace sluice::lib {

/// "a" of W/"a", which are one version: Apache calls it weak as long as the object is so young that a change might not show in its
/// time (a second), and strong from then on. Other texts as they are.
inline std::string_view opaque_tag(std::string_view version) {
  if (version.starts_with("W/\"")) version.remove_prefix(2);
  return version;
}

}  // namespace sluice::lib
