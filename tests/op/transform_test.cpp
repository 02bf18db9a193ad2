// SPDX-License-Identifier: Apache-2.0
// sluice/op/transform.hpp
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::transform_test {
namespace {

using namespace test;
using int64 = std::int64_t;

stream<int64> differences(stream<int64> in) {
  int64 previous = 0;
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield element - previous;
    previous = element;
  }
}
int64s differences_of(const int64s& in) {
  int64s out;
  int64 previous = 0;
  for (int64 x : in) out.push_back(x - std::exchange(previous, x));
  return out;
}

stream<int64> doubled(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield element;
    co_yield -element;
  }
}
int64s doubled_of(const int64s& in) {
  int64s out;
  for (int64 x : in) out.insert(out.end(), {x, -x});
  return out;
}

stream<int64> sums(saved<int64> sum, stream<int64> in) {
  while (auto x = co_await in.next()) {
    *sum += *x;
    co_yield *sum;
  }
}
int64s sums_of(const int64s& in) {
  int64s out;
  int64 sum = 0;
  for (int64 x : in) out.push_back(sum += x);
  return out;
}

stream<int64> pair_sums(saved<int64> pairs, stream<int64> in) {
  for (;;) {
    pairs.commit();
    auto a = co_await in.next();
    if (!a) break;
    int64 first = *a;
    auto b = co_await in.next();
    if (!b) break;
    int64 both = first + *b;
    ++*pairs;
    co_yield both * 1000 + *pairs;
  }
}
int64s pair_sums_of(const int64s& in) {
  int64s out;
  for (std::size_t i = 0; i + 1 < in.size(); i += 2)
    out.push_back((in[i] + in[i + 1]) * 1000 + static_cast<int64>(i / 2) + 1);
  return out;
}

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

SLUICE_FUNCTION(named_differences, &differences);

}  // namespace

TEST_CASE("a stage that declares nothing about its state conforms, by replay") {
  conforms({.stage = [](const auto& in) { return in | transform(differences); },
            .expected = differences_of,
            .before_error = differences_of});
}

TEST_CASE("a stateless stage conforms") {
  conforms({.stage =
                [](const auto& in) {
                  return in | transform([](stream<int64> s) { return doubled(stateless(), std::move(s)); });
                },
            .expected = doubled_of,
            .before_error = doubled_of});
}

TEST_CASE("a stage with saved state conforms") {
  conforms({.stage =
                [](const auto& in) {
                  return in | transform([](stream<int64> s) { return sums(saved<int64>(), std::move(s)); });
                },
            .expected = sums_of,
            .before_error = sums_of});
}

TEST_CASE("a stage that commits conforms") {
  conforms({.stage =
                [](const auto& in) {
                  return in | transform([](stream<int64> s) { return pair_sums(saved<int64>(), std::move(s)); });
                },
            .expected = pair_sums_of,
            .before_error = pair_sums_of});
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

TEST_CASE("a transform whose coroutine has a name prints as text, and is read again") {
  round_trips(*(range(5) | transform(named_differences)).plan(), "range(5) | transform(named_differences)");
}

}  // namespace sluice::lib::transform_test
