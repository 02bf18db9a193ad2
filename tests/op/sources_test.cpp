// SPDX-License-Identifier: Apache-2.0
// sluice/op/from_elements.hpp, sluice/op/generate.hpp
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice {
namespace {

using namespace test;
using int64 = std::int64_t;

stream<int64> squares(int64 n) {
  for (int64 i = 0; i < n; ++i) co_yield i* i;
}
stream<int64> committing(saved<int64> next, int64 n) {
  while (*next < n) {
    int64 made = *next * *next;
    ++*next;
    co_yield made;
    next.commit();
  }
}
stream<int64> failing(int64 n) {
  for (int64 i = 0; i < n; ++i) co_yield i;
  throw std::runtime_error("the well is dry");
}

int64s squares_of(const int64s& in) {
  int64s out;
  for (int64 x : in) out.push_back(x * x);
  return out;
}

}  // namespace

TEST_CASE("from_elements gives its elements, from any of them on") {
  // The stage is a source of its own: how many its input would have is all that it takes from it.
  auto as_elements = [](const dataset<int64>& in) {
    int64s all = consume(in, {}).elements;
    for (int64& x : all) x = x * x;
    return from_elements(all);
  };
  for (int64 n : {0, 1, 23, 200}) {
    auto ds = as_elements(range(n));
    consumption how;
    how.save = true;
    consumed full = consume(ds, how);
    CHECK(full.elements == squares_of(consume(range(n), {}).elements));
    REQUIRE(full.places.size() == full.elements.size() + 2);
    for (std::size_t i = 0; i <= full.elements.size(); i += 5) {
      consumption from_here;
      from_here.from = full.places[i];
      CHECK(consume(ds, from_here).elements ==
            int64s(full.elements.begin() + static_cast<std::ptrdiff_t>(i), full.elements.end()));
    }
  }
}

TEST_CASE("from_range copies a range once, when the dataset is made") {
  int64s source = {3, 1, 2};
  auto ds = from_range(source | std::views::transform([](int64 x) { return x * 10; }));
  source[0] = 99;
  CHECK(consume(ds, {}).elements == int64s{30, 10, 20});
  CHECK(consume(ds, {}).elements == int64s{30, 10, 20});
}

TEST_CASE("generated elements go on from every one of them, by replay and by commit") {
  constexpr int64 kElements = 50;
  const dataset<int64> both[] = {generate([] { return squares(kElements); }),
                                 generate([] { return committing(saved<int64>(), kElements); })};
  for (const auto& ds : both) {
    for (std::uint32_t ask_max : {0, 1, 7}) {
      consumption how;
      how.save = true;
      how.ask_max = ask_max;
      how.marks_every = 3;
      consumed full = consume(ds, how);
      REQUIRE(full.elements.size() == kElements);
      for (std::size_t i = 0; i <= full.elements.size(); ++i) {
        if (full.places[i].empty()) continue;
        CAPTURE(ask_max, i);
        consumption from_here;
        from_here.from = full.places[i];
        CHECK(consume(ds, from_here).elements ==
              int64s(full.elements.begin() + static_cast<std::ptrdiff_t>(i), full.elements.end()));
      }
    }
  }
}

TEST_CASE("a generator is called once for each epoch") {
  int calls = 0;
  auto ds = generate([&calls] {
              ++calls;
              return squares(2);
            }) |
            repeat(3);
  CHECK(consume(ds, {}).elements == int64s{0, 1, 0, 1, 0, 1});
  CHECK(calls == 3);
}

TEST_CASE("what a generator throws comes after its elements, with its stage") {
  consumed got = consume(generate([] { return failing(3); }), {});
  CHECK(got.elements == int64s{0, 1, 2});
  CHECK_THAT(got.why.to_string(), Catch::Contains("the well is dry") && Catch::Contains("generate"));
}

}  // namespace sluice
