// SPDX-License-Identifier: Apache-2.0
// sluice/op/jsonl.hpp
#include "sluice/op/jsonl.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "verbs/jsonl_model.hpp"

namespace sluice::lib::jsonl_test {

using namespace test;
using namespace jsonl_case;

TEST_CASE("jsonl prints as text, and is read again") {
  const std::string text =
      "jsonl(\"a\", \"number: int64, text: string, tags: string[], at: json_place{x: float, y: double}?\")";
  CHECK(plan_text(*jsonl<json_line>("a").plan()) == text);
  auto reader = list_files("a-*") | flat_map(jsonl<std::vector<double>>());
  CHECK(plan_text(*reader.plan()) == "list_files(\"a-*\") | flat_map(jsonl(schema=\"double[]\"))");
  round_trips(*parse_plan(plan_text(*reader.plan())), plan_text(*reader.plan()));
}

}  // namespace sluice::lib::jsonl_test
