// SPDX-License-Identifier: Apache-2.0
// sluice/op/top.hpp, src/engine/held/final_elements.hpp
#include <cstdint>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::top_test {
namespace {

using namespace test;
using Catch::Contains;

int64s four_largest(const int64s& in) {
  int64s out;
  for (std::int64_t rank = 4; rank >= 0; --rank)
    for (std::int64_t x : in)
      if (x % 5 == rank && out.size() != 4) out.push_back(x);
  return out;
}

}  // namespace

TEST_CASE("top conforms for elements of every kind") {
  auto over = [](auto as) {
    using As = decltype(as);
    using T = decltype(As::made(0));
    return conformance{.stage =
                           [](const auto& in) {
                             auto rank = [](const T& x) { return static_cast<double>(As::number(x) % 5); };
                             return in | map(As::made) | top(4, rank) | map(As::number);
                           },
                       .expected = four_largest,
                       .before_error = [](const int64s&) { return int64s(); },
                       .elements = As::kName};
  };
  conforms(over(as_text()));
  conforms(over(as_record()));
  conforms(over(as_tensor()));
  conforms(over(as_move_only()));
  conforms(over(as_counting()));
  conforms({.stage = [](const auto& in) { return in | top(4, expr("it % 5")); },
            .expected = four_largest,
            .before_error = [](const int64s&) { return int64s(); },
            .needs = [](const int64s& in, std::size_t k) { return k ? in.size() : 0; }});
}

TEST_CASE("top ranks by optionals and texts that a function returns") {
  auto odd = [](std::int64_t x) { return x % 2 ? std::optional<double>(-0.5 * static_cast<double>(x)) : std::nullopt; };
  consumed by_optional = consume(range(6) | top(4, odd), {});
  CHECK(by_optional.complaint() == "");
  CHECK(by_optional.elements == int64s{1, 3, 5, 0});
  consumed by_text = consume(range(12) | top(3, [](std::int64_t x) { return std::to_string(x); }), {});
  CHECK(by_text.elements == int64s{9, 8, 7});
}

TEST_CASE("top delivers the rest after a resume, also where the elements are too large for a position") {
  for (std::int64_t n : {3, 60'000}) {
    consumption how;
    how.save = true;
    const dataset<std::int64_t> all = range(100'000) | top(n);
    consumed whole = consume(all | skip(n - 3), how);
    REQUIRE(whole.complaint() == "");
    REQUIRE(whole.elements.size() == 3);
    how.from = whole.places[1];
    consumed rest = consume(all | skip(n - 3), how);
    CHECK(rest.complaint() == "");
    CHECK(rest.elements == int64s{whole.elements[1], whole.elements[2]});
  }
}

TEST_CASE("top reports elements that the budget cannot hold") {
  runtime rt({.workers = 1, .memory_budget_bytes = 1 << 20});
  auto texts = range(1'000'000) | map([](std::int64_t x) { return std::string(100, 'a') + std::to_string(x); });
  auto sizes = [](const std::string& s) { return static_cast<std::int64_t>(s.size()); };
  consumed got = consume_on(rt, texts | top(100'000) | map(sizes), {});
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK_THAT(got.why.to_string(), Contains("largest elements") && Contains("request fewer"));
  CHECK(rt.ledger().report().used_bytes == 0);
  got = consume_on(rt, texts | top(10) | map(sizes), {});
  CHECK(got.complaint() == "");
  CHECK(got.elements == int64s(10, 106));
}

}  // namespace sluice::lib::top_test
