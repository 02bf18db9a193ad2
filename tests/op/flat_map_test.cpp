// SPDX-License-Identifier: Apache-2.0
// sluice/op/flat_map.hpp
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "op/opened_elements.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::flat_map_test {
namespace {

using namespace test;
using int64 = std::int64_t;

SLUICE_FUNCTION(open_a_few, [](int64 x) { return opened_for(x); });

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

TEST_CASE("opening a dataset may fail, after the elements before it") {
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

TEST_CASE("flat_map opens a dataset when its first element is requested, and skips inside datasets") {
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

TEST_CASE("flat_map and interleave open lists that are expressions") {
  auto elements_of = [](const char* plan) {
    consumption saving;
    saving.save = true;
    const dataset<int64> ds(parse_plan(plan));
    const consumed whole = consume(ds, saving);
    CHECK(whole.complaint() == "");
    for (std::size_t place = 0; place <= whole.elements.size(); ++place) {
      CAPTURE(plan, place);
      consumption from = saving;
      from.from = whole.places[place];
      const consumed rest = consume(ds, from);
      CHECK(rest.complaint() == "");
      CHECK(rest.elements == int64s(whole.elements.begin() + static_cast<std::ptrdiff_t>(place), whole.elements.end()));
    }
    return whole.elements;
  };
  CHECK(elements_of("range(3) | flat_map([it, -it])") == int64s{0, 0, 1, -1, 2, -2});
  CHECK(elements_of("range(7) | window(3) | flat_map(it)") == int64s{0, 1, 2, 3, 4, 5, 6});
  CHECK(elements_of("range(3) | map({n: it, all: [it, 10 * it]}) | flat_map(all)") == int64s{0, 0, 1, 10, 2, 20});
  CHECK(elements_of("range(6) | window(3) | interleave(it, cycle_length=2)") == int64s{0, 3, 1, 4, 2, 5});
  CHECK(elements_of("range(6) | window(3) | interleave(it, cycle_length=2, parallelism=2)") ==
        int64s{0, 3, 1, 4, 2, 5});
  CHECK(elements_of("range(0) | window(3) | flat_map(it)") == int64s{});
  CHECK(elements_of("range(3) | flat_map(let(x = it * it, [x, x]))") == int64s{0, 0, 1, 1, 4, 4});
  CHECK(elements_of("range(4) | flat_map(if(it % 2 == 0, [it], [it, it]))") == int64s{0, 1, 1, 2, 3, 3});
  CHECK(elements_of("range(2) | map({lines: [it, 7]}) | flat_map((lines))") == int64s{0, 7, 1, 7});
}

TEST_CASE("the lists that an interleave has open are charged") {
  simulation world(3);
  runtime rt(world, {.memory_budget_bytes = std::size_t{1} << 20});
  auto of = [&](int64 cycle) {
    return consume_on(rt,
                      range(40) | map([](int64) { return std::vector<std::string>(4, std::string(10'000, 'x')); }) |
                          interleave(expr<std::vector<std::string>>("it"), {.cycle_length = cycle}) |
                          map([](const std::string& s) { return static_cast<int64>(s.size()); }),
                      {});
  };
  const consumed few = of(4);
  CHECK(few.complaint() == "");
  CHECK(few.elements == int64s(160, 10'000));
  const consumed many = of(40);
  CHECK(many.mistake == "");
  CHECK(many.why.code() == status_code::resource_exhausted);
  CHECK_THAT(many.why.to_string(), Catch::Contains("the lists that are open") && Catch::Contains("lower cycle_length"));
  CHECK(rt.ledger().report().used_bytes == 0);
}

TEST_CASE("flat_map prints as text, is read again, and refuses functions that open no dataset") {
  round_trips(*(range(5) | flat_map(open_a_few)).plan(), "range(5) | flat_map(open_a_few)");
}

}  // namespace sluice::lib::flat_map_test
