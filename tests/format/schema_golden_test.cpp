// SPDX-License-Identifier: Apache-2.0
// Schemas with defaults, shapes and other names against what TensorFlow answers (tests/golden/make_golden_schemas.py).
#include <catch2/catch.hpp>

#include <fstream>
#include <string>

#include "sluice/element/batched.hpp"
#include "sluice/element/value.hpp"
#include "sluice/format/example_layout.hpp"
#include "sluice/format/example_parser.hpp"

namespace sluice::lib::schema_golden_test {

namespace {

std::string from_hex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

/// As a structure, and as the one row of a batch; "?" where it does not fit.
std::pair<std::string, std::string> parsed(const example_layout& layout, const std::string& bytes) {
  value v = value::empty_of(*layout.type);
  status why = layout.schema.parse(bytes, v.data());
  value batch = value::empty_of(*batched_of(layout.type));
  auto& storage = *static_cast<batch_storage*>(batch.data());
  example_parser parser(layout.schema);
  status of_row = parser.append_to(storage.make_rows(*layout.type), bytes);
  return {why.ok() ? v.print() : "?", of_row.ok() ? batch.at(0).print() : "?"};
}

}  // namespace

TEST_CASE("schemas with defaults, shapes and other names match TensorFlow's features") {
  std::ifstream in("tests/golden/schemas.tsv");
  std::size_t cases = 0, refused = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    CAPTURE(line);
    const std::size_t a = line.find('\t'), b = line.find('\t', a + 1);
    auto layout = layout_of(line.substr(0, a));
    REQUIRE((layout.ok() ? "" : layout.why().to_string()) == "");
    const std::string wanted = line.substr(b + 1);
    const auto [alone, row] = parsed(*layout, from_hex(line.substr(a + 1, b - a - 1)));
    CHECK(alone == wanted);
    CHECK(row == wanted);
    auto again = layout_of(schema_text(layout->schema));
    REQUIRE(again.ok());
    CHECK(schema_text(again->schema) == schema_text(layout->schema));
    CHECK(again->type == layout->type);
    ++cases;
    refused += wanted == "?";
  }
  CHECK(cases == 708);
  CHECK(refused > 100);
}

}  // namespace sluice::lib::schema_golden_test
