// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/redirect_check.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "io/http/messages/http_text.hpp"
#include "sluice/io/network.hpp"

namespace sluice::lib::detail {
namespace {

struct ipv4_range {
  std::uint32_t first;
  int bits;
};
/// RFC 6890 and its successors: this network, private networks, carrier networks, this machine, links, tests, groups,
/// reserved ranges.
constexpr ipv4_range kNotPublic[] = {{0x00000000, 8},  {0x0a000000, 8},  {0x64400000, 10}, {0x7f000000, 8},
                                     {0xa9fe0000, 16}, {0xac100000, 12}, {0xc0000000, 24}, {0xc0a80000, 16},
                                     {0xc6120000, 15}, {0xe0000000, 4},  {0xf0000000, 4}};

bool is_public_ipv4(std::uint32_t address) {
  return std::none_of(std::begin(kNotPublic), std::end(kNotPublic),
                      [&](const ipv4_range& r) { return (address ^ r.first) >> (32 - r.bits) == 0; });
}

std::uint32_t ipv4_at(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

bool is_public_ipv6(const unsigned char (&a)[16]) {
  static constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff},
                                 kTranslated[12] = {0, 0x64, 0xff, 0x9b};
  if (std::memcmp(a, kMapped, 12) == 0 || std::memcmp(a, kTranslated, 12) == 0) return is_public_ipv4(ipv4_at(a + 12));
  if (a[0] == 0x20 && a[1] == 0x02) return is_public_ipv4(ipv4_at(a + 2));                 // 6to4
  if (std::all_of(a, a + 12, [](unsigned char byte) { return byte == 0; })) return false;  // ::, ::1, IPv4-compatible
  const bool is_local = (a[0] & 0xfe) == 0xfc, is_link = a[0] == 0xfe && (a[1] & 0x80) == 0x80, is_group = a[0] == 0xff;
  return !is_local && !is_link && !is_group;
}

bool all_public(const std::vector<std::string>& addresses) {
  return std::all_of(addresses.begin(), addresses.end(), is_public_address);
}

}  // namespace

bool is_public_address(const std::string& address) {
  auto parsed = parse_address(address);
  std::string host = parsed.ok() ? parsed->host : address;
  host = host.substr(0, host.find('%'));  // without the name of an interface
  unsigned char bytes[16];
  if (::inet_pton(AF_INET, host.c_str(), bytes) == 1) return is_public_ipv4(ipv4_at(bytes));
  if (::inet_pton(AF_INET6, host.c_str(), bytes) == 1) return is_public_ipv6(bytes);
  return !same_name(host, "localhost");
}

task<status> check_redirect(http_servers& servers, http_url from, http_url to, time_point deadline) {
  if (servers.context().options.allow_private_redirects || from.host == to.host) co_return status();
  auto finding = servers.at(to).pool.addresses(deadline);
  auto found = co_await finding.as_result();
  if (!found.ok() || all_public(*found)) co_return status();  // the request itself reports the error
  auto finding_own = servers.at(from).pool.addresses(deadline);
  auto own = co_await finding_own.as_result();
  if (!own.ok() || !all_public(*own)) co_return status();
  const std::string& address =
      *std::find_if(found->begin(), found->end(), [](const std::string& a) { return !is_public_address(a); });
  co_return failed_precondition_error(
      joined("the server redirects to ", to.origin(), ", whose address ", address,
             " is not public: if that is meant, set http_options::allow_private_redirects "
             "(SLUICE_PRIVATE_REDIRECTS=1 for the program)"));
}

}  // namespace sluice::lib::detail
