// SPDX-License-Identifier: Apache-2.0
// sluice/op/pad_to_cardinality.hpp
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/consumption.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"
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

consumed padded_run(int64 there, int64 n, std::uint64_t skip) {
  consumption how;
  how.skip = skip;
  // Behind a filter nobody knows how many there are.
  return consume(range(there) | filter(expr("it >= 0")) | pad_to_cardinality(n) | map(number_of_padded), how);
}

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

TEST_CASE("pad_to_cardinality reports a longer input, after the first n") {
  for (std::uint64_t skip : {0, 1, 5, 7, 9, 50}) {
    CAPTURE(skip);
    int64s all = padded({0, 1, 2, 3, 4}, 8);
    CHECK(padded_run(5, 8, skip).elements == without_first(all, skip));
    CHECK(padded_run(5, 8, skip).length == std::max<std::uint64_t>(8, 0));
    consumed more = padded_run(9, 7, skip);
    CHECK(more.elements == without_first(padded({0, 1, 2, 3, 4, 5, 6}, 7), skip));
    CHECK(more.why.code() == status_code::failed_precondition);
    CHECK_THAT(more.why.to_string(), Catch::Contains("must be padded to 7 elements, and has more"));
  }
  CHECK(consume(range(10) | filter(expr("it >= 0")) | pad_to_cardinality(7) | take(7) | map(number_of_padded), {})
            .why.ok());
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

TEST_CASE("added tensors have the dtype and the shape of the last valid one, so that all stack") {
  auto sums = [](const std::string& plan, const consumption& how) {
    return consume(dataset<int64>(parse_plan(plan + " | map(int64(sum(it.first)) * 10 + length(it.first))")), how);
  };
  const std::string tensors = "from_tensor_slices([[1,2],[3,4],[5,6]]) | pad_to_cardinality(5)";
  const int64s expected{32, 72, 112, 2, 2};
  consumption saving;
  saving.save = true;
  consumed whole = sums(tensors, saving);
  CHECK(whole.elements == expected);
  for (std::size_t i = 0; i <= expected.size(); ++i) {
    INFO(i);
    consumption on = saving;
    on.from = whole.places[i];
    consumed rest = sums(tensors, on);
    CHECK(rest.elements == int64s(expected.begin() + static_cast<std::ptrdiff_t>(i), expected.end()));
    CHECK(rest.complaint().empty());
  }
  for (std::uint64_t n = 1; n != 5; ++n) {
    INFO(n);
    const int64s left(expected.begin() + static_cast<std::ptrdiff_t>(n), expected.end());
    for (const char* known : {"", " | filter(sum(it) >= 0)"}) {
      const std::string from = "from_tensor_slices([[1,2],[3,4],[5,6]])" + std::string(known) +
                               " | pad_to_cardinality(5) | skip(" + std::to_string(n) + ")";
      CHECK(sums(from, {}).elements == left);
    }
  }
}

}  // namespace sluice::lib::pad_to_cardinality_test
