// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/network.hpp"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace sluice::lib {

task<std::vector<std::string>> network::resolve(std::string address, time_point) {
  std::vector<std::string> itself;
  itself.push_back(std::move(address));
  co_return itself;
}

task<> read_exactly(connection& from, std::span<char> to, time_point deadline) {
  std::size_t done = 0;
  while (done < to.size()) {
    auto n = co_await from.read_some(to.subspan(done), deadline);
    if (n == 0) {
      auto why = unavailable_error(absl::StrCat("the peer ended after ", done, " of ", to.size(), " bytes"));
      co_await fail(std::move(why));
    }
    done += n;
  }
}

result<host_and_port> parse_address(const std::string& text) {
  std::size_t colon = text.rfind(':');
  std::uint32_t port = 0;
  if (colon == std::string::npos || colon == 0)
    return invalid_argument_error(absl::StrCat("address \"", text, "\": expected host:port, as in localhost:7700"));
  if (const std::size_t scheme = text.find("://"); scheme != std::string::npos)
    return invalid_argument_error(
        absl::StrCat("address \"", text, "\": expected host:port, without a scheme: ", text.substr(scheme + 3)));
  if (!absl::SimpleAtoi(text.substr(colon + 1), &port) || port > 65535)
    return invalid_argument_error(absl::StrCat("address \"", text, "\": the port is not a number up to 65535"));
  std::string host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return host_and_port{std::move(host), static_cast<std::uint16_t>(port)};
}

}  // namespace sluice::lib
