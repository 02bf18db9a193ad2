// SPDX-License-Identifier: Apache-2.0
// sluice/op/csv.hpp
#include "sluice/op/csv.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "verbs/csv_model.hpp"

namespace sluice::lib::csv_test {
using namespace test;
using namespace csv_case;
using Catch::Contains;

TEST_CASE("csv prints as text, and is read again") {
  const std::string text = "csv(\"a\", \"number: int64, text: bytes, half: double?\")";
  CHECK(plan_text(*csv<numbered_row>("a").plan()) == text);
  CHECK(plan_text(*csv<numbered_row>("a", "text = 'Text': bytes = ''", {.header = true}).plan()) ==
        "csv(\"a\", \"number: int64, text = 'Text': bytes = '', half: double?\", header=true)");
  auto reader = list_files("a-*") | flat_map(csv<numbered_row>({.header = true}));
  const std::string read =
      "list_files(\"a-*\") | flat_map(csv(schema=\"number: int64, text: bytes, half: double?\", header=true))";
  CHECK(plan_text(*reader.plan()) == read);
}

TEST_CASE("invalid options of csv are refused when the plan is built") {
  CHECK_THROWS_WITH(csv<numbered_row>("a", "other: int8"), Contains("has no member other"));
  CHECK_THROWS_WITH(csv<numbered_row>("a", "number: int8"), Contains("is int64, and the text says int8"));
}

}  // namespace sluice::lib::csv_test
