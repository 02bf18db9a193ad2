// SPDX-License-Identifier: Apache-2.0
#include "runtime/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace sluice::lib {
namespace {

constexpr std::size_t kUnknownBytes = std::size_t{1} << 30;  // used if /proc cannot be read: a modest machine

std::optional<std::size_t> read_number(const std::string& path) {
  std::ifstream in(path);
  std::string word;
  std::size_t n = 0;
  if (in >> word && absl::SimpleAtoi(word, &n)) return n;
  return std::nullopt;  // no such file, or "max"
}

std::optional<std::size_t> machine_available(const std::string& root) {
  std::ifstream in(root + "/proc/meminfo");
  std::string name;
  std::size_t kib = 0;
  for (std::string line; std::getline(in, line);)
    if (line.rfind("MemAvailable:", 0) == 0) {
      std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
      if (words.size() > 1 && absl::SimpleAtoi(words[1], &kib)) return kib * 1024;
    }
  return std::nullopt;
}

/// Returns a folder's limit minus its use. The page cache counts as use in a cgroup although the kernel can drop it, so
/// this function adds it back.
std::optional<std::size_t> left_in(const std::string& folder, const char* limit_name, const char* use_name) {
  auto limit = read_number(folder + limit_name);
  if (!limit) return std::nullopt;
  std::size_t use = read_number(folder + use_name).value_or(0);
  std::ifstream in(folder + "/memory.stat");
  std::string name;
  for (std::size_t n = 0; in >> name >> n;)
    if (name == "inactive_file" || name == "total_inactive_file") use -= std::min(use, n);
  return *limit - std::min(*limit, use);
}

}  // namespace

std::size_t available_memory_bytes(const std::string& root) {
  std::size_t least = machine_available(root).value_or(kUnknownBytes);
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "0::/a/b" (version 2), "4:memory:/a/b" (version 1)
    std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    bool second = parts[1].empty();
    if (!second && parts[1] != "memory") continue;
    std::string top = root + (second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    for (std::string path = parts[2];; path.resize(path.rfind('/'))) {  // each ancestor has a limit too
      auto left = second ? left_in(top + path, "/memory.max", "/memory.current")
                         : left_in(top + path, "/memory.limit_in_bytes", "/memory.usage_in_bytes");
      if (left) least = std::min(least, *left);
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

}  // namespace sluice::lib
