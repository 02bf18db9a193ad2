// SPDX-License-Identifier: Apache-2.0
// sluice/op/flat_map.hpp
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include "op/opened_elements.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib {
namespace {

using namespace test;
using int64 = std::int64_t;

SLUICE_FUNCTION(open_a_few, [](int64 x) { return opened_for(x); });

const register_verb flat_map_case("flat_map",
                                  {.inner = 1,
                                   .build = [](const verb_plan& p) { return p.in[0] | flat_map(p.inner[0]); },
                                   .expected =
                                       [](const verb_lists& l) {
                                         int64s out;
                                         std::size_t ordinal = 0;
                                         for (int64 x : l.in()) {
                                           const int64s all = l.inner(x, ordinal++);
                                           out.insert(out.end(), all.begin(), all.end());
                                           l.check_size(out.size());
                                         }
                                         return out;
                                       }});

}  // namespace

TEST_CASE("flat_map conforms") {
  conforms({.stage = [](const auto& in) { return in | flat_map(opened_for); },
            .expected = one_after_the_other,
            .before_error = one_after_the_other,
            .needs =
                [](const int64s& in, std::size_t k) {
                  std::size_t opened = 0;
                  for (int64s given; given.size() < k; ++opened) given = one_after_the_other(first_of(in, opened + 1));
                  return opened;
                }});
}

TEST_CASE("what opens a dataset may fail, after the elements before it") {
  auto throwing = [](int64 x) {
    if (x == 2) throw std::runtime_error("cannot open");
    return range(3);
  };
  consumed got = consume(range(5) | flat_map(throwing), {});
  CHECK(got.elements == int64s{0, 1, 2, 0, 1, 2});
  CHECK_THAT(got.why.to_string(), Catch::Contains("cannot open") && Catch::Contains("flat_map"));
  consumption dropping;
  dropping.on_error = error_policy::skip;
  CHECK(consume(range(5) | flat_map(throwing), dropping).elements == int64s{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2});
}

TEST_CASE("flat_map opens a dataset when it is asked for its first element, and passes over inside of datasets") {
  auto opened = std::make_shared<int>();
  auto made = std::make_shared<int>();
  auto counting = [opened, made](int64 x) {
    ++*opened;
    return range(100, {.start = 0}) | map([made, x](int64 y) {
             ++*made;
             return 1000 * x + y;
           });
  };
  auto ds = range(50) | flat_map(counting);
  CHECK(consume(ds | take(101), {}).elements.back() == 1000);
  CHECK(*opened == 2);
  CHECK(*made == 101);
  *opened = *made = 0;
  consumption how;
  how.skip = 250;
  how.elements_max = 1;
  how.ask_max = 1;
  CHECK(consume(ds, how).elements == int64s{2050});
  CHECK(*opened == 3);
  CHECK(*made <= 3);  // one of each at most: a range seeks
}

TEST_CASE("flat_map prints as text, is read again, and refuses what opens no dataset") {
  round_trips(*(range(5) | flat_map(open_a_few)).plan(), "range(5) | flat_map(open_a_few)");
  CHECK_THROWS_WITH(parse_plan("range(5) | flat_map(lines)"), Catch::Contains("takes paths (strings), and gets int64"));
  CHECK(cardinality_of(*(range(5) | flat_map(open_a_few)).plan()) == cardinality());
}

}  // namespace sluice::lib
