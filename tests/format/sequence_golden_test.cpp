// SPDX-License-Identifier: Apache-2.0
// tf.SequenceExamples against what TensorFlow makes of them (tests/golden/make_golden_sequences.py).
#include <catch2/catch.hpp>

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sluice/format/example_layout.hpp"
#include "sluice/format/sequence_layout.hpp"
#include "support/bytes/sequence_layouts.hpp"

namespace sluice::lib::sequence_golden_test {
using namespace sluice::lib::test;

namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> out(1);
  for (char c : line) {
    if (c == '\t') out.emplace_back();
    else out.back() += c;
  }
  return out;
}

std::string unhex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

}  // namespace

TEST_CASE("sequence examples are parsed as in TensorFlow") {
  std::ifstream in("tests/golden/sequences.tsv");
  REQUIRE(in);
  int read = 0, refused = 0;
  for (std::string line; std::getline(in, line);) {
    auto f = fields_of(line);
    CAPTURE(f[0], f[1], f[2]);
    REQUIRE(f.size() == 4);
    sequence_layouts layouts(f[0], f[1]);
    const auto wanted = nlohmann::json::parse(f[3]);
    std::string json;
    status why = layouts.parse(unhex(f[2]), json);
    if (wanted == "error") {
      CHECK((why.code() == status_code::invalid_argument || why.code() == status_code::data_loss));
      ++refused;
    } else {
      REQUIRE(why.to_string() == status().to_string());
      CHECK(nlohmann::json::parse(json) == wanted);
      ++read;
    }
  }
  CHECK(read > 150);
  CHECK(refused > 100);
}

}  // namespace sluice::lib::sequence_golden_test
