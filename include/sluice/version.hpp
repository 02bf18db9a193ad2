// SPDX-License-Identifier: Apache-2.0
// The version of the library: of the headers at compile time, of the loaded library at run time.
//
//   #if SLUICE_VERSION >= 200                     // 0.2.0 or later
//   std::puts(sluice::library_version().data());  // "0.1.0": the loaded library
//
// Before 1.0 a minor version may break programs, and the shared library's SONAME contains it: libsluice.so.0.1.
#pragma once

#include <string_view>

// The build fails to configure if its own version differs.
#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0
/// One number that grows: 10000 * major + 100 * minor + patch.
#define SLUICE_VERSION (SLUICE_VERSION_MAJOR * 10000 + SLUICE_VERSION_MINOR * 100 + SLUICE_VERSION_PATCH)

#define SLUICE_DETAIL_TEXT(X) #X
#define SLUICE_DETAIL_EXPANDED(X) SLUICE_DETAIL_TEXT(X)
/// "0.1.0"
#define SLUICE_VERSION_STRING                  \
  SLUICE_DETAIL_EXPANDED(SLUICE_VERSION_MAJOR) \
  "." SLUICE_DETAIL_EXPANDED(SLUICE_VERSION_MINOR) "." SLUICE_DETAIL_EXPANDED(SLUICE_VERSION_PATCH)

namespace sluice::lib {

/// The version of the library itself; ends in a zero byte. It differs from SLUICE_VERSION_STRING if a program runs with
/// another shared library than the one that it was compiled for.
std::string_view library_version() noexcept;

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::library_version;

}  // namespace sluice
