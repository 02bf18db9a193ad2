// SPDX-License-Identifier: Apache-2.0
// sluice/op/drop_while.hpp
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::drop_while_test {
namespace {

using namespace test;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("drop_while conforms for elements of every kind, wherever it begins") {
  for (int64 first : {0, 1, 15, 1000}) {
    conforms({.stage = [first](const auto& in) { return in | drop_while([first](int64 x) { return x < first; }); },
              .expected =
                  [first](const int64s& in) {
                    std::size_t n = 0;
                    while (n != in.size() && in[n] < first) ++n;
                    return without_first(in, n);
                  }});
  }
  conforms_for_elements(
      [](const auto& in) {
        using element = typename std::remove_cvref_t<decltype(in)>::value_type;
        return in | drop_while([](const element&) { return false; });
      },
      {.expected = [](const int64s& in) { return in; },
       .before_error = [](const int64s& in) { return in; },
       .needs = one_each});
}

TEST_CASE("after its first element drop_while calls no predicate, and skips like its input") {
  auto asked = std::make_shared<int64>(0);
  auto ds = counter() | drop_while([asked](int64 x) {
              ++*asked;
              return x < 7;
            });
  consumption how;
  how.skip = 1'000'000'000'000;
  how.elements_max = 2;
  CHECK(consume(ds, how).elements == int64s{1'000'000'000'007, 1'000'000'000'008});
  CHECK(*asked == 8);
}

TEST_CASE("drop_while by an expression is the same stage, prints as text, and is read again") {
  auto ds = range(10) | drop_while(expr("it != 5"));
  round_trips(*ds.plan(), "range(10) | drop_while(it != 5)");
}

}  // namespace sluice::lib::drop_while_test
