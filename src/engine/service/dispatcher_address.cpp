// SPDX-License-Identifier: Apache-2.0
#include "engine/service/dispatcher_address.hpp"

#include <absl/strings/str_cat.h>

#include "sluice/io/network.hpp"

namespace sluice::lib {

std::string mistake_in_address(const std::string& address) {
  if (address.find("://") != address.npos)
    return absl::StrCat("address expects HOST:PORT, without a scheme, and is \"", address, "\"");
  if (address.empty() || address.starts_with("unix:")) return {};
  if (address.find(':') == std::string::npos) {
    const bool is_port = address.find_first_not_of("0123456789") == address.npos;
    return absl::StrCat("address expects HOST:PORT, and is \"", address, "\": write \"",
                        is_port ? "127.0.0.1:" + address : address + ":7700", "\"");
  }
  const result<host_and_port> parsed = parse_address(address);
  return parsed.ok() ? std::string() : std::string(parsed.why().message());
}

}  // namespace sluice::lib
