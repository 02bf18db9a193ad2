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

TEST_CASE("take_while requests nothing of its input after its end") {
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

TEST_CASE("take_while by an expression is the same stage, prints as text, and is read again") {
  auto ds = range(10) | take_while(expr("it != 5"));
  round_trips(*ds.plan(), "range(10) | take_while(it != 5)");
  // Behind the last element nothing is asked for: 1 / 0 is not.
}

}  // namespace sluice::lib::take_while_test
