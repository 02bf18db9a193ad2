// SPDX-License-Identifier: Apache-2.0
#if SLUICE_HAVE_TLS
#include "http/object_server.hpp"

#include <algorithm>
#include <cstdio>

#include "http/scripted_server.hpp"

namespace sluice::lib::testing {
namespace {

const std::string kVersion = "\"of-the-object-server\"";

std::string head_of(const std::string& code, std::size_t length, const std::string& fields) {
  return "HTTP/1.1 " + code + "\r\nContent-Length: " + std::to_string(length) + "\r\n" + fields + "\r\n";
}

}  // namespace

std::optional<std::string> read_head(wire& from, std::string& rest) {
  for (;;) {
    const std::size_t end = rest.find("\r\n\r\n");
    if (end != std::string::npos) {
      std::string head = rest.substr(0, end + 4);
      rest.erase(0, end + 4);
      return head;
    }
    char room[8192];
    const std::size_t n = from.read(room);
    if (n == 0) return {};
    rest.append(room, n);
  }
}

void object_server::converse(wire& with) {
  std::string rest;
  while (auto head = read_head(with, rest)) {
    const std::string target = head->substr(4, head->find(' ', 4) - 4);
    const auto found = objects_.find(target);
    const std::string wanted = field_of(*head, "If-Match"), range = field_of(*head, "Range");
    if (found == objects_.end() || (!wanted.empty() && wanted != kVersion)) {
      const std::string code = found == objects_.end() ? "404 Not Found" : "412 Precondition Failed";
      if (!with.write(head_of(code, 0, {}))) return;
      continue;
    }
    const std::string& bytes = found->second;
    std::size_t first = 0, last = bytes.size() - 1;
    const bool is_part = std::sscanf(range.c_str(), "bytes=%zu-%zu", &first, &last) == 2;
    last = std::min(last, bytes.size() - 1);
    std::string fields = "ETag: " + kVersion + "\r\n";
    if (is_part)
      fields += "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" +
                std::to_string(bytes.size()) + "\r\n";
    const std::size_t length = last + 1 - first;
    if (!with.write(head_of(is_part ? "206 Partial Content" : "200 OK", length, fields))) return;
    if (!with.write(std::string_view(bytes).substr(first, length))) return;
  }
}

}  // namespace sluice::lib::testing
#endif
