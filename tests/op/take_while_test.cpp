// SPDX-License-Identifier: Apache-2.0
// sluice/op/take_while.hpp
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::take_while_test {
namespace {

using namespace test;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("take_while conforms for elements of every kind, wherever it ends") {
  for (int64 most : {0, 1, 15, 1000}) {
    conforms({.stage = [most](const auto& in) { return in | take_while([most](int64 x) { return x < most; }); },
              .expected =
                  [most](const int64s& in) {
                    int64s out;
                    for (int64 x : in) {
                      if (x >= most) break;
                      out.push_back(x);
                    }
                    return out;
                  }});
  }
  conforms_for_elements(
      [](const auto& in) {
        using element = typename std::remove_cvref_t<decltype(in)>::value_type;
        return in | take_while([](const element&) { return true; });
      },
      {.expected = [](const int64s& in) { return in; }, .before_error = [](const int64s& in) { return in; }});
}

TEST_CASE("take_while asks its input for nothing behind its end") {
  auto made = std::make_shared<int64>(0);
  auto ds = range(100) | map([made](int64 x) {
              ++*made;
              return x;
            }) |
            take_while([](int64 x) { return x != 5; });
  consumption one_by_one;
  one_by_one.ask_max = 1;
  CHECK(consume(ds, one_by_one).elements == int64s{0, 1, 2, 3, 4});
  CHECK(*made == 6);
}

TEST_CASE(
    "an error of take_while's predicate comes behind the elements in front of it, and is not looked for behind the "
    "end") {
  auto failing_at = [](int64 bad, int64 last) {
    return range(10) | take_while([bad, last](int64 x) {
             if (x == bad) throw std::runtime_error("no");
             return x != last;
           });
  };
  consumed got = consume(failing_at(4, 7), {});
  CHECK(got.elements == int64s{0, 1, 2, 3});
  CHECK_THAT(std::string(got.why.message()), Catch::Contains("no"));
  CHECK(consume(failing_at(8, 7), {}).why.ok());
  consumption dropping;
  dropping.on_error = error_policy::skip;
  CHECK(consume(failing_at(4, 7), dropping).elements == int64s{0, 1, 2, 3, 5, 6});
}

TEST_CASE("take_while by an expression is the same stage, prints as text, and is read again") {
  auto ds = range(10) | take_while(expr("it != 5"));
  round_trips(*ds.plan(), "range(10) | take_while(it != 5)");
  // Behind the last element nothing is asked for: 1 / 0 is not.
}

TEST_CASE("how many take_while gives is not known before") {
  CHECK(cardinality_of(*(range(10) | take_while([](int64) { return true; })).plan()) == cardinality());
}

}  // namespace sluice::lib::take_while_test
