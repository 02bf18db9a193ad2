// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <ranges>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"
#include "support/trials/resumed_everywhere.hpp"

namespace sluice::lib::from_elements_test {
namespace {

using namespace test;
using int64 = std::int64_t;

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
    resumes_everywhere(ds, squares_of(consume(range(n), {}).elements));
  }
}

TEST_CASE("from_range copies a range once, when the dataset is made") {
  int64s source = {3, 1, 2};
  auto ds = from_range(source | std::views::transform([](int64 x) { return x * 10; }));
  source[0] = 99;
  CHECK(consume(ds, {}).elements == int64s{30, 10, 20});
  CHECK(consume(ds, {}).elements == int64s{30, 10, 20});
}

}  // namespace sluice::lib::from_elements_test
