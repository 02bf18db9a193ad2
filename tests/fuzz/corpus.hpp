// SPDX-License-Identifier: Apache-2.0
// The inputs in tests/fuzz/corpus/.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

#include "fuzz/target.hpp"

namespace sluice::lib::fuzz {

/// The tests run in the root of the source tree (tools/run_tests.py); by hand they are found from the build folder too.
inline std::filesystem::path corpus() {
  for (std::filesystem::path root : {".", ".."})
    if (std::filesystem::exists(root / "tests/fuzz/corpus")) return root / "tests/fuzz/corpus";
  throw std::runtime_error("tests/fuzz/corpus is not here: run in the root of the source tree");
}

/// Returns the files of a target, in the order of their names.
inline std::set<std::filesystem::path> corpus_files(const target& t) {
  std::set<std::filesystem::path> files;
  for (auto& entry : std::filesystem::directory_iterator(corpus() / t.name)) files.insert(entry.path());
  return files;
}

inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace sluice::lib::fuzz
