// SPDX-License-Identifier: Apache-2.0
#include "io/stores/stored_crc32c.hpp"

#include "io/http/messages/http_text.hpp"
#include "io/stores/digest.hpp"

namespace sluice::lib::detail {

std::optional<std::uint32_t> stored_crc32c(std::string_view text) {
  auto bytes = from_base64(text);
  if (!bytes.ok() || bytes->size() != 4) return {};
  std::uint32_t crc = 0;
  for (char c : *bytes) crc = crc << 8 | static_cast<unsigned char>(c);
  return crc;
}

std::string stored_text(std::uint32_t crc32c) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(crc32c >> shift & 0xff);
  return base64(bytes);
}

std::optional<std::uint32_t> crc32c_of_hashes(std::string_view hashes) {
  constexpr std::string_view kName = "crc32c=";
  while (!hashes.empty()) {
    const std::size_t end = hashes.find(',');
    const std::string_view one = without_blanks(hashes.substr(0, end));
    hashes.remove_prefix(end == std::string_view::npos ? hashes.size() : end + 1);
    if (one.starts_with(kName)) return stored_crc32c(one.substr(kName.size()));
  }
  return {};
}

}  // namespace sluice::lib::detail
