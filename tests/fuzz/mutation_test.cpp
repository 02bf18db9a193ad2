// SPDX-License-Identifier: Apache-2.0
// Random changes of the inputs of the corpus, without the guidance of libFuzzer, so that all lanes try some.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "fuzz/corpus.hpp"
#include "fuzz/target.hpp"
#include "support/budget.hpp"

namespace sluice::lib::mutation_test {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> inputs_of(const fuzz::target& t) {
  std::vector<std::string> inputs;
  for (auto& file : fuzz::corpus_files(t)) inputs.push_back(fuzz::content(file));
  return inputs;
}

class mutator {
 public:
  mutator(const std::vector<std::string>& inputs, std::uint64_t seed) : inputs_(inputs), draw_(seed) {}

  std::string next() {
    std::string bytes = inputs_[below(inputs_.size())];
    for (std::size_t changes = 1 + below(4); changes-- != 0;) change(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t n) { return n ? static_cast<std::size_t>(draw_() % n) : 0; }
  void change(std::string& bytes) {
    const std::size_t at = below(bytes.size()), n = std::min(1 + below(16), bytes.size() - at);
    const std::string& other = inputs_[below(inputs_.size())];
    switch (below(7)) {
      case 0: return flip(bytes, at);
      case 1: return bytes.resize(at);
      case 2: return bytes.erase(at, n), void();
      case 3: return bytes.insert(at, bytes.substr(below(bytes.size()), n)), void();
      case 4: return bytes.replace(at, n, other, below(other.size()), n), void();
      case 5: return bytes.replace(at, n, n, "\0\x01\x7f\x80\xff"[below(5)]), void();  // the bounds of whole numbers
      default: return bytes.replace(at, n, random(n)), void();
    }
  }
  void flip(std::string& bytes, std::size_t at) {
    if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
  }
  std::string random(std::size_t n) {
    std::string bytes(n, '\0');
    for (char& c : bytes) c = static_cast<char>(below(256));
    return bytes;
  }

  const std::vector<std::string>& inputs_;
  std::mt19937_64 draw_;
};

/// Writes the input to a file, for `./dev fuzz TARGET FILE`.
std::string stored(const fuzz::target& t, const std::string& input) {
  const fs::path file = fs::temp_directory_path() / ("sluice-changed-" + std::string(t.name));
  std::ofstream(file, std::ios::binary) << input;
  return file.string();
}

}  // namespace

TEST_CASE("changed inputs of the corpus are read or refused by each fuzz target") {
  const std::uint64_t seed = test::first_seed(20261130);
  const char* wanted = std::getenv("SLUICE_TEST_MUTATIONS");
  const std::uint64_t count = wanted ? std::strtoull(wanted, nullptr, 10) : 300;
  const char* only = std::getenv("SLUICE_TEST_TARGET");
  std::uint64_t tried = 0;
  for (auto& t : fuzz::targets()) {
    if (only && t.name != only) continue;
    const std::vector<std::string> inputs = inputs_of(t);
    mutator changed(inputs, seed);
    for (std::uint64_t i = 0; i != count; ++i, ++tried) {
      const std::string input = changed.next();
      try {
        t.run(input);
      } catch (const std::exception& why) {
        FAIL(t.name << ", number " << i << " of the seed " << seed << " (" << stored(t, input) << "): " << why.what());
      }
    }
  }
  CHECK(tried >= count);
}

}  // namespace sluice::lib::mutation_test
