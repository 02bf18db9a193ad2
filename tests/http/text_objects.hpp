// SPDX-License-Identifier: Apache-2.0
// Objects of lines that tell where they come from.
#pragma once

#include <string>
#include <vector>

namespace sluice::lib::testing {

using texts = std::vector<std::string>;

/// "3:17 aaaa…", of `bytes` bytes; `spread` more for each of the next six, and again.
inline texts lines_of(std::size_t file, std::size_t count, std::size_t bytes, std::size_t spread = 0) {
  texts all;
  for (std::size_t i = 0; i != count; ++i) {
    std::string line = std::to_string(file) + ":" + std::to_string(i) + " ";
    line.resize(bytes + i % 7 * spread, static_cast<char>('a' + (i + file) % 26));
    all.push_back(std::move(line));
  }
  return all;
}
inline std::string joined_lines(const texts& all) {
  std::string text;
  for (auto& line : all) text += line + "\n";
  return text;
}

}  // namespace sluice::lib::testing
