// SPDX-License-Identifier: Apache-2.0
// sluice/op/pad_to_cardinality.hpp
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/pad_to_cardinality_model.hpp"

namespace sluice::lib::pad_to_cardinality_test {
namespace {

using namespace test;
using namespace pad_to_cardinality_case;
using int64 = std::int64_t;

/// A struct that says itself which of its elements are valid, with a default of its own.
struct checked {
  int64 label = 7;
  std::string text = {};
  bool valid = true;
};

}  // namespace

TEST_CASE("pad_to_cardinality conforms for elements of every kind that can be made without a value") {
  auto expected = [](const int64s& in) { return padded(first_of(in, 40), 43); };
  conforms({.stage = [](const auto& in) { return in | take(40) | pad_to_cardinality(43) | map(number_of_padded); },
            .expected = expected,
            .needs = [](const int64s& in, std::size_t k) { return std::min({k, in.size(), std::size_t{40}}); }});
  auto texts = [](int64 x) { return as_text::made(x); };
  auto number = [](const std::pair<std::string, bool>& p) {
    return number_of(as_text::number(p.first), p.second ? 1 : 0);
  };
  conforms({.stage = [=](const auto& in) { return in | take(40) | map(texts) | pad_to_cardinality(43) | map(number); },
            .expected = expected,
            .elements = "texts"});
}

TEST_CASE("a struct's own member is set, and the rest of an added element is value-initialised") {
  auto ds = range(3) | map([](int64 x) { return checked{x, std::to_string(x), x != 1}; }) | pad_to_cardinality(5);
  CHECK(
      elements(ds) ==
      R"({"label":0,"text":"0","valid":true} {"label":1,"text":"1","valid":true} {"label":2,"text":"2","valid":true} )"
      R"({"label":7,"text":"","valid":false} {"label":7,"text":"","valid":false})");
}

TEST_CASE(
    "pad_to_cardinality has a known size, prints as text, is read again, and refuses elements that cannot be padded") {
  auto ds = range(4) | pad_to_cardinality(6);
  round_trips(*ds.plan(), "range(4) | pad_to_cardinality(6)");
  round_trips(*(range(4) | map([](int64) { return checked(); }) | pad_to_cardinality(6)).plan()->inputs[0]->inputs[0],
              "range(4)");
  CHECK_THROWS_WITH(range(3) | map([](int64) { return checked(); }) | pad_to_cardinality(5, {.mask_key = "ok"}),
                    Catch::Contains("needs a member `bool ok`"));
}

}  // namespace sluice::lib::pad_to_cardinality_test
