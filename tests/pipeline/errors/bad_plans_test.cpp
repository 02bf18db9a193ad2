// SPDX-License-Identifier: Apache-2.0
// Plan text that cannot be a plan of the real operators: where it is told.
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bad_plans_test {

using Catch::Contains;

TEST_CASE("text that is no plan is refused with its column") {
  struct wrong {
    const char* text;
    std::size_t column;
    const char* words;
  };
  std::vector<wrong> all = {
      {"range(5) | shufle(3)", 12, "did you mean shuffle"},
      {"range(5) | shuffle(buffers=3)", 20, "buffers"},
      {"range(5) | interleave(tfrecord)", 12, "int64"},
      {"range(\"five\")", 7, ""},
      {"range(5) |", 11, ""},
  };
  for (const wrong& w : all) {
    CAPTURE(w.text);
    try {
      (void)parse_plan(w.text);
      FAIL("no error");
    } catch (const plan_error& e) {
      CHECK(e.column() == w.column);
      CHECK(e.code() == status_code::invalid_argument);
      CHECK_THAT(e.what(), Contains(w.words));
    }
  }
}

TEST_CASE("a run of no plan is refused") {
  runtime rt({.workers = 1});
  CHECK_THROWS_WITH(open_run(rt, nullptr), Catch::Contains("open_run: there is no plan"));
}

}  // namespace sluice::lib::bad_plans_test
