// SPDX-License-Identifier: Apache-2.0
// sluice/op/transform.hpp
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

#include "sluice/plan/identity.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::transform_test {
namespace {

using namespace test;
using int64 = std::int64_t;

stream<int64> early(stream<int64> in) {
  int left = 3;
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield element;
    if (--left == 0) break;
  }
}

stream<int64> throwing(stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 element = *x;
    if (element == 4) throw std::runtime_error("four is not a number I know");
    co_yield element;
  }
}

stream<int64> scaled(saved<int64> seen, stream<int64> in, int64 by, std::string label) {
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield ++*seen * 1000 + element* by + static_cast<int64>(label.size());
  }
}

stream<int64> passed_on(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) co_yield int64(*x);
}

}  // namespace

TEST_CASE("further arguments follow the stream, and saved values before it begin with their defaults") {
  conforms({.stage = [](const auto& in) { return in | transform(scaled, 3, std::string("ab")); },
            .expected =
                [](const int64s& in) {
                  int64s out;
                  for (int64 x : in) out.push_back(static_cast<int64>(out.size() + 1) * 1000 + x * 3 + 2);
                  return out;
                }});
}

TEST_CASE("a named coroutine with a parameter before the stream keeps its name") {
  auto named = range(5) | transform(fn("passed_on", 1, passed_on));
  CHECK(named.plan()->as<transform_arguments>().function.value->name == "passed_on");
  CHECK(consume(named, {}).elements == int64s{0, 1, 2, 3, 4});
  auto with_argument = range(5) | transform(fn("scaled", 1, scaled), 3, std::string("ab"));
  CHECK(with_argument.plan()->as<transform_arguments>().function.value->name.empty());
}

TEST_CASE("a checkpoint compares the arguments of a coroutine, and its name and version") {
  auto identity = [](const dataset<int64>& ds) { return identities_of(*ds.plan()).at(0); };
  auto of = [&](int version, int64 by, std::string label) {
    return identity(range(5) | transform(fn("scaled", version, scaled), by, std::move(label)));
  };
  const function_identity first = of(1, 3, "ab");
  CHECK_FALSE(first.is_open());
  CHECK(difference_of({first}, {of(1, 3, "ab")}).empty());
  for (const function_identity& other : {of(1, 4, "ab"), of(1, 3, "ac"), of(2, 3, "ab")})
    CHECK(difference_of({first}, {other}) == "the function of transform captured other values there");
  static int64 outside = 3;
  auto adds = [](stateless, stream<int64> in, const int64* by) -> stream<int64> {
    while (auto x = co_await in.next()) co_yield *x + *by;
  };
  CHECK(identity(range(5) | transform(adds, &outside)).is_open());  // the number may be another one in the next process
}

TEST_CASE("a stage may end before its input") {
  conforms({.stage = [](const auto& in) { return in | transform(early); },
            .expected =
                [](const int64s& in) {
                  return int64s(in.begin(),
                                in.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, in.size())));
                }});
}

TEST_CASE("an exception of a stage follows the elements that it yielded, with its stage") {
  consumed got = consume(range(10) | transform(throwing), {});
  CHECK(got.elements == int64s{0, 1, 2, 3});
  CHECK_THAT(got.why.to_string(), Catch::Contains("four is not") && Catch::Contains("transform"));
}

}  // namespace sluice::lib::transform_test
