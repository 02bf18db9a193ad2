// SPDX-License-Identifier: Apache-2.0
// sluice/op/unbatch.hpp
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/elements.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"

namespace sluice::lib::unbatch_test {
namespace {

using namespace test;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("unbatch conforms") {
  conforms({.stage = [](const auto& in) { return in | batch(5) | unbatch(); },
            .expected = [](const int64s& in) { return in; },
            .needs = [](const int64s& in, std::size_t k) { return std::min(in.size(), (k + 4) / 5 * 5); }});
}

TEST_CASE("batch and unbatch conform for rows of every kind that can be stacked") {
  auto stage = [](const auto& in) { return in | batch(5) | unbatch(); };
  conformance c{.expected = [](const int64s& in) { return in; }};
  conforms_as<as_text>(stage, c);
  conforms_as<as_record>(stage, c);
  conforms_as<as_tensor>(stage, c);
  conforms_as<as_counting>(stage, c);
}

TEST_CASE("unbatch gives the rows of batches of any sizes, also of none") {
  // Batches of 3, 0, 5 and 1 rows.
  auto ds = from_elements(std::vector<int64>{3, 0, 5, 1}) | map([](int64 n) {
              batched<int64> b;
              for (int64 i = 0; i != n; ++i) b.push_back(10 * n + i);
              return b;
            }) |
            unbatch();
  const int64s all{30, 31, 32, 50, 51, 52, 53, 54, 10};
  CHECK(consume(ds, {}).elements == all);
  for (std::uint64_t skip : {1u, 3u, 4u, 8u, 9u, 20u}) {
    CAPTURE(skip);
    consumption how;
    how.skip = skip;
    how.ask_max = 2;
    CHECK(consume(ds, how).elements == without_first(all, skip));
  }
  consumption saving;
  saving.save = true;
  const consumed whole = consume(ds, saving);
  for (std::size_t i = 0; i != whole.places.size(); ++i) {
    if (whole.places[i].empty()) continue;
    consumption rest;
    rest.from = whole.places[i];
    CHECK(consume(ds, rest).elements == without_first(all, i));
  }
}

TEST_CASE("unbatch prints as text, knows the number of rows, and refuses elements that are no batches") {
  round_trips(*(range(5) | batch(2) | unbatch()).plan(), "range(5) | batch(2) | unbatch");
}

}  // namespace sluice::lib::unbatch_test
