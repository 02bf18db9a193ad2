// SPDX-License-Identifier: Apache-2.0
#include "io/stores/surroundings.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

/// The limit of a file with credentials.
constexpr std::size_t kFileBytesMax = 1 << 20;

result<std::string> read_small_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return errno_error(errno ? errno : ENOENT, "cannot read").in_file(path);
  std::string text(kFileBytesMax, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return errno_error(EIO, "cannot read").in_file(path);
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

surroundings surroundings::of_process() {
  surroundings s;
  s.variable = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (!value || !*value) return {};
    return std::string(value);
  };
  s.read_file = read_small_file;
  s.now_ns = [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  };
  return s;
}

bool surroundings::flag(const char* name) const {
  const std::string value = text(name);
  for (std::string_view yes : {"1", "true", "yes", "on"})
    if (same_name(value, yes)) return true;
  return false;
}

}  // namespace sluice::lib::detail
