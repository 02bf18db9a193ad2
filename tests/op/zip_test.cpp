// SPDX-License-Identifier: Apache-2.0
// sluice/op/zip.hpp
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::zip_test {
namespace {

using namespace test;
using int64 = std::int64_t;

int64 folded_pair(const std::pair<int64, int64>& p) { return p.first * 1000 + p.second; }
dataset<int64> others(int64 n) { return range(500 + n, {.start = 500}); }

/// Counts what a stage below has made.
dataset<int64> noting(const dataset<int64>& in, std::shared_ptr<int64> made) {
  return in | map([made](int64 x) {
           ++*made;
           return x;
         });
}

}  // namespace

TEST_CASE("zip of the same plan twice, shuffled, draws twice") {
  auto one = range(50) | shuffle(50);
  auto equal = zip(one, one) | map([](const std::pair<int64, int64>& p) { return int64{p.first == p.second}; });
  int64s got = consume(equal, {}).elements;
  REQUIRE(got.size() == 50);
  CHECK(std::count(got.begin(), got.end(), 1) < 10);
}

TEST_CASE("zip asks each input for no more than is asked of it") {
  auto first = std::make_shared<int64>(0), second = std::make_shared<int64>(0);
  auto both = zip(noting(range(100), first), noting(others(100), second)) | map(folded_pair);
  CHECK(consume(both | take(5), {}).elements.size() == 5);
  CHECK(*first == 5);
  CHECK(*second == 5);
  *first = *second = 0;
  consumption how;
  how.skip = 90;
  CHECK(consume(both, how).elements.size() == 10);
  CHECK(*first == 10);  // the map passes on what is passed over
  CHECK(*second == 10);
}

TEST_CASE("zip of six inputs, by rows and as a batch of six columns") {
  auto text = [](int64 x) { return std::to_string(x); };
  auto half = [](int64 x) { return 0.5 * static_cast<double>(x); };
  auto owned = [](int64 x) { return std::vector<int64>{x, x}; };
  auto six =
      zip(range(9), range(9) | map(text), range(9) | map(half), range(9) | map(owned), range(4) | repeat(), range(9));
  using row = decltype(six)::value_type;
  auto same = six | filter([](const row& r) { return std::to_string(std::get<0>(r)) == std::get<1>(r); }) |
              map([](const row& r) { return std::get<3>(r)[1] * 100 + std::get<4>(r); });
  CHECK(consume(same, {}).elements == int64s{0, 101, 202, 303, 400, 501, 602, 703, 800});
  auto sums = six | batch(4) | map([](batched<row> b) {
                auto columns = b.columns();
                int64 sum = 0;
                for (int64 x : std::get<0>(columns)) sum += x;
                for (double x : std::get<2>(columns)) sum += static_cast<int64>(2 * x) * 1000;
                return sum + static_cast<int64>(std::get<1>(columns)[0].size()) * 1'000'000;
              });
  CHECK(consume(sums, {}).elements == int64s{1'006'006, 1'022'022, 1'008'008});
}

TEST_CASE("zip knows its size where its inputs do") {
  auto some = range(5) | filter([](int64) { return true; });
  CHECK(cardinality_of(*zip(some, range(3)).plan()) == cardinality());
  CHECK(cardinality_of(*zip(some, range(0)).plan()) == cardinality::of(0));
}

}  // namespace sluice::lib::zip_test
