// SPDX-License-Identifier: Apache-2.0
#include "sluice/version.hpp"

namespace sluice::lib {

std::string_view library_version() noexcept { return SLUICE_VERSION_STRING; }

}  // namespace sluice::lib
