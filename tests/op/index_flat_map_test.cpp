// SPDX-License-Identifier: Apache-2.0
// sluice/op/index_flat_map.hpp
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "base/index_permutation.hpp"
#include "sluice/sluice.hpp"
#include "support/elements.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/index_flat_map_model.hpp"

namespace sluice::lib::index_flat_map_test {
namespace {

using namespace test;
using namespace index_flat_map_case;
using int64 = std::int64_t;
using place = std::pair<int64, int64>;

/// The lists of 1, 2, 3 … numbers: where number i is.
place in_triangle(int64 i) {
  int64 row = 0;
  while ((row + 1) * (row + 2) / 2 <= i) ++row;
  return {row, i - row * (row + 1) / 2};
}
int64s row_of(int64 x) {
  int64s row;
  for (int64 k = 0; k <= x; ++k) row.push_back(100 * x + k);
  return row;
}

}  // namespace

TEST_CASE("index_flat_map conforms for lists of every kind of element that can be copied") {
  auto expected = [](const int64s& in) { return flat(in, 3); };
  conforms({.stage = [](const auto& in) { return in | index_flat_map([](int64 x) { return list_of(x, 3); }, nowhere); },
            .expected = expected,
            .before_error = expected});
  auto texts = [](int64 x) {
    std::vector<std::string> all;
    for (int64 y : list_of(x, 3)) all.push_back(as_text::made(y));
    return all;
  };
  conforms({.stage = [texts](const auto& in) { return in | index_flat_map(texts, nowhere) | map(as_text::number); },
            .expected = expected,
            .before_error = expected,
            .elements = "texts"});
  conforms(
      {.stage = [](const auto& in) { return in | index_flat_map([](int64 x) { return std::array{x, -x}; }, nowhere); },
       .expected =
           [](const int64s& in) {
             int64s out;
             for (int64 x : in) out.insert(out.end(), {x, -x});
             return out;
           },
       .elements = "arrays"});
}

TEST_CASE("index_flat_map skips by index, and builds only the lists that it delivers from") {
  static std::atomic<int> made;
  auto rows = [](int64 x) {
    ++made;
    return row_of(x);
  };
  auto ds = range(100) | index_flat_map(rows, in_triangle, {.cardinality = 5050});
  int64s all = consume(ds, {}).elements;
  REQUIRE(all.size() == 5050);
  for (std::uint64_t skip : {1u, 2u, 5u, 54u, 55u, 1000u, 5049u, 5050u, 9000u}) {
    CAPTURE(skip);
    consumption how;
    how.skip = skip;
    how.elements_max = 3;
    how.ask_max = 1;
    made = 0;
    CHECK(consume(ds, how).elements == first_of(without_first(all, skip), 3));
    CHECK(made <= 3);
    how.elements_max = ~std::size_t{0};
    how.ask_max = 7;
    consumed rest = consume(ds, how);
    CHECK(rest.elements == without_first(all, skip));
    CHECK(rest.length == std::min<std::uint64_t>(skip, 5050) + rest.elements.size());
    // Behind the end nothing comes any more, also where it was passed over.
    how.save = true;
    consumed saved_at_end = consume(ds, how);
    consumption behind;
    behind.from = saved_at_end.places.back();
    CHECK(consume(ds, behind).elements.empty());
    CHECK(consume(ds, behind).why.ok());
  }
  // Some passed over again and again, and saved everywhere.
  consumption jumping;
  jumping.ask_max = 4;
  jumping.pass_max = 40;
  jumping.save = true;
  consumed some = consume(ds, jumping);
  for (std::size_t i = 0; i != some.elements.size(); ++i) CHECK(some.elements[i] == all[some.ordinals[i]]);
}

TEST_CASE("a global_shuffle after index_flat_map delivers each element once, and builds one list for each") {
  auto ds = range(60) | index_flat_map(row_of, in_triangle, {.cardinality = 1830});
  int64s all = consume(ds, {}).elements, got = consume(ds | global_shuffle({.seed = 3}), {}).elements;
  index_permutation order(1830, mix(3));
  REQUIRE(got.size() == all.size());
  for (std::size_t i = 0; i != all.size(); ++i) CHECK(got[i] == all[order[i]]);
}

TEST_CASE("index_flat_map reports an invalid place that only a skip finds") {
  auto third_is_empty = [](int64 x) { return int64s(x == 3 ? 0 : 2, x); };
  consumption over;
  over.skip = 1;
  auto at_third = range(5) | index_flat_map(third_is_empty, [](int64) { return place(3, 0); }, {.cardinality = 8});
  CHECK_THAT(consume(at_third, over).why.to_string(),
             Catch::Contains("in the list of input 3 at place 0, and the list has 0 elements"));
  // Upstream of what was delivered.
  consumption back;
  back.ask_max = 1;
  back.pass_max = 3;
  consumed c = consume(dataset<int64>(parse_plan("range(9) | index_flat_map([it, it], (0, 0), cardinality=18)")), back);
  CHECK_THAT(c.why.to_string(), Catch::Contains("places do not go back"));
}

}  // namespace sluice::lib::index_flat_map_test
