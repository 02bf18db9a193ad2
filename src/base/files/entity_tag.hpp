// SPDX-License-Identifier: Apache-2.0
// HTTP's version tags of objects (RFC 9110, 8.8.3).
#pragma once

#include <string_view>

namespace sluice::lib {

/// Returns "a" for W/"a": both denote one version. Apache marks the tag as weak while the object is younger than the
/// resolution of its time (a second), and as strong later. Other texts are returned unchanged.
inline std::string_view opaque_tag(std::string_view version) {
  if (version.starts_with("W/\"")) version.remove_prefix(2);
  return version;
}

}  // namespace sluice::lib
