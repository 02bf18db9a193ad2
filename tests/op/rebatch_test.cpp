// SPDX-License-Identifier: Apache-2.0
// sluice/op/rebatch.hpp
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "verbs/rebatch_model.hpp"

namespace sluice::lib::rebatch_test {
namespace {

using namespace test;
using namespace rebatch_case;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("rebatch conforms for rows of every kind") {
  for (int64 from : {1, 4, 30})
    for (int64 to : {1, 3, 7}) {
      conforms({.stage = [from, to](const auto& in) { return in | batch(from) | rebatch(to) | map(folded); },
                .expected = [to](const int64s& in) { return refolded(in, {static_cast<std::size_t>(to)}, false); }});
    }
  struct row {
    int64 number;
    std::string text;
    std::vector<int64> list;
    std::optional<std::string> maybe;
  };
  auto stage = [](const dataset<int64>& in) {
    auto rows = in | map([](int64 x) {
                  row r{x, std::to_string(x), int64s(static_cast<std::size_t>(x % 3), x), {}};
                  if (x % 2 == 0) r.maybe = "even " + r.text;
                  return r;
                });
    return rows | batch(5) | rebatch({4, 3}) | unbatch() | map([](const row& r) {
             bool right = r.text == std::to_string(r.number) &&
                          r.list == int64s(static_cast<std::size_t>(r.number % 3), r.number) &&
                          r.maybe.has_value() == (r.number % 2 == 0) && (!r.maybe || *r.maybe == "even " + r.text);
             return right ? r.number : -1;
           });
  };
  conforms({.stage = stage, .expected = [](const int64s& in) { return in; }});
}

TEST_CASE("a batch that does not fit into the budget is an error, and no more") {
  runtime rt({.workers = 1, .memory_budget_bytes = 8 << 20});
  auto ds =
      range(100'000'000) | batch(1000) | rebatch(50'000'000) | map([](const batched<int64>& b) { return b.size(); });
  consumed got = consume_on(rt, ds, {});
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK_THAT(got.why.to_string(), Catch::Contains("lower its size"));
}

TEST_CASE("rebatch prints as text, and is read again") {
  round_trips(*(range(7) | batch(4) | rebatch(3)).plan(), "range(7) | batch(4) | rebatch(3)");
  round_trips(*(range(7) | batch(4) | rebatch({2, 1}, {.drop_remainder = true})).plan(),
              "range(7) | batch(4) | rebatch([2, 1], drop_remainder=true)");
}

TEST_CASE("rebatch requests the memory of larger columns before it allocates them, with the old ones still allocated") {
  auto rows_of = [](std::size_t budget_bytes) {
    runtime rt({.workers = 1, .memory_budget_bytes = budget_bytes});
    return consume_on(rt, dataset<int64>(parse_plan("range(60000) | batch(1000) | rebatch(60000) | map(length(it))")),
                      {});
  };
  CHECK(rows_of(2 << 20).elements == int64s{60'000});
  consumed tight = rows_of(700 << 10);  // the batch alone takes 480 kB
  CHECK(tight.why.code() == status_code::resource_exhausted);
  CHECK_THAT(tight.why.to_string(), Catch::Contains("rebatch"));
}

}  // namespace sluice::lib::rebatch_test
