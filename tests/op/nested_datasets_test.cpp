// SPDX-License-Identifier: Apache-2.0
// Datasets as elements of datasets.
#include <catch2/catch.hpp>

#include <functional>

#include "sluice/element/value.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"
#include "support/trials/resumed_everywhere.hpp"

namespace sluice::lib::nested_datasets_test {
using namespace sluice::lib::test;

namespace {

/// range(0), range(1) … range(n - 1)
dataset<dataset<std::int64_t>> ranges(std::int64_t n) {
  return range(n) | map([](std::int64_t k) { return range(k); });
}

int64s in_order(std::int64_t n) {
  int64s all;
  for (std::int64_t k = 0; k != n; ++k)
    for (std::int64_t i = 0; i != k; ++i) all.push_back(i);
  return all;
}

task<int64s> lengths_of(runtime& rt, dataset<dataset<std::int64_t>> nested) {
  int64s lengths;
  auto outer = nested.iterate(rt);
  while (auto inner = co_await outer.next()) {
    std::int64_t n = 0;
    auto s = inner->iterate(rt);
    while (auto x = co_await s.next()) n += x != nullptr;
    lengths.push_back(n);
  }
  co_return lengths;
}

}  // namespace

TEST_CASE("datasets of datasets are read one after the other, alternately, shuffled and behind channels") {
  resumes_everywhere(ranges(5) | flat_map(std::identity()), in_order(5));
  resumes_everywhere(ranges(5) | prefetch(2) | flat_map([](const dataset<std::int64_t>& d) { return d | repeat(1); }),
                     in_order(5));
  resumes_everywhere(ranges(4) | interleave(std::identity(), {.cycle_length = 4}), int64s{0, 0, 0, 1, 1, 2});
  resumes_everywhere(ranges(5) | shuffle(3, {.seed = 1}) | take(0) | flat_map(std::identity()), int64s{});
  const auto shuffled = consume(ranges(6) | shuffle(6, {.seed = 1}) | flat_map(std::identity()), {});
  CHECK(shuffled.complaint() == "");
  CHECK(shuffled.elements.size() == 15);
  resumes_everywhere(range(9) | window(4) | map([](int64s w) { return from_range(std::move(w)); }) |
                         flat_map([](const dataset<std::int64_t>& w) { return w | take(2); }),
                     int64s{0, 1, 4, 5, 8});
}

TEST_CASE("datasets in batches stay datasets") {
  resumes_everywhere(ranges(5) | batch(2) | unbatch() | flat_map(std::identity()), in_order(5));
}

TEST_CASE("a dataset that came as an element is iterated as any other") {
  runtime rt;
  CHECK(sync_wait(rt, lengths_of(rt, ranges(5))) == int64s{0, 1, 2, 3, 4});
  CHECK(sync_wait(rt, lengths_of(rt, from_elements<dataset<std::int64_t>>({range(2), range(7) | take(3)}))) ==
        int64s{2, 3});
}

TEST_CASE("a dataset as an element is named and printed") {
  const value v = value::of(range(3) | take(2));
  CHECK(v.type().name == "dataset<int64>");
  CHECK(v.print() == "\"range(3) | take(2)\"");
  CHECK(value(v).as<dataset<std::int64_t>>().plan() == v.as<dataset<std::int64_t>>().plan());
  CHECK(type_of<dataset<std::vector<dataset<std::string>>>>().name == "dataset<dataset<string>[]>");
}

}  // namespace sluice::lib::nested_datasets_test
