// SPDX-License-Identifier: Apache-2.0
#include "engine/service/dispatcher_address.hpp"

#include <absl/strings/str_cat.h>

#include "sluice/io/network.hpp"

namespace sluice::lib {

std::string mistake_in_address(const std::string& address) {
  if (address.find("://") != address.npos)
    return absl::StrCat("address expects HOST:PORT, without a scheme, and is \"", address, "\"");
  if (address.find(':') == std::string::npos || address.starts_with("unix:")) return {};
  const result<host_and_port> parsed = parse_address(address);
  return parsed.ok() ? std::string() : std::string(parsed.why().message());
}

}  // namespace sluice::lib
