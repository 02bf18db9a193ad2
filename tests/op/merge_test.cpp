// SPDX-License-Identifier: Apache-2.0
// sluice/op/merge.hpp
#include <algorithm>
#include <chrono>
#include <cstdint>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::merge_test {
namespace {

using namespace std::chrono_literals;
using namespace test;
using int64 = std::int64_t;

int64s sorted(int64s v) {
  std::sort(v.begin(), v.end());
  return v;
}
dataset<int64> paced(int64 first, int64 n, std::chrono::microseconds each) {
  return range(first + n, {.start = first}) | sleep(each);
}

}  // namespace

TEST_CASE("merge is first come, first served") {
  consumed got = consume(merge(paced(0, 3, 1000us), paced(100, 8, 300us)), {});
  CHECK(got.complaint() == "");
  CHECK(got.elements == int64s{100, 101, 102, 0, 103, 104, 105, 1, 106, 107, 2});
}

TEST_CASE("ready inputs alternate, and one that never delivers does not delay the others") {
  consumption how;
  how.ask_max = 10;
  how.asks_all = true;
  how.elements_max = 60;
  consumed got = consume(merge(range(1000), paced(5000, 1, 1h), range(3000, {.start = 2000})), how);
  CHECK(got.mistake == "");
  auto of_second = std::count_if(got.elements.begin(), got.elements.end(), [](int64 x) { return x >= 2000; });
  CHECK(of_second >= 20);
  CHECK(of_second <= 40);
}

TEST_CASE("each element of merged inputs is delivered once, from every place, for any timing") {
  for (std::uint64_t seed = 1; seed != 8; ++seed) {
    CAPTURE(seed);
    auto ds = merge(paced(0, 20, 70us), paced(100, 20, 50us) | prefetch(2), range(220, {.start = 200}));
    consumption how;
    how.save = true;
    how.marks_every = 3;
    how.ask_max = seed % 2 ? 1 : 5;
    how.seed = seed;
    consumed full = consume(ds, how);
    CHECK(full.complaint() == "");
    REQUIRE(full.elements.size() == 60);
    for (std::size_t at = 0; at <= full.elements.size(); ++at) {
      if (full.places[at].bytes.empty()) continue;
      CAPTURE(at);
      consumption again;
      again.from = full.places[at];
      again.seed = seed * 100 + at;
      consumed rest = consume(ds, again);
      CHECK(rest.complaint() == "");
      int64s all(full.elements.begin(), full.elements.begin() + static_cast<std::ptrdiff_t>(at));
      all.insert(all.end(), rest.elements.begin(), rest.elements.end());
      CHECK(sorted(all) == sorted(full.elements));
      CHECK(rest.length == 60);
    }
  }
}

TEST_CASE("the waiting elements of merge's inputs are charged, and on two workers none is lost") {
  runtime rt({.workers = 2});
  auto ds = merge(range(3000) | prefetch(8), paced(10'000, 40, 20us), range(23'000, {.start = 20'000}));
  for (std::uint64_t i = 0; i != 10; ++i) {
    consumption how;
    how.ask_max = i % 2 ? 0 : 50;
    how.marks_every = 100;
    how.seed = i;
    consumed got = consume_on(rt, ds, how);  // complains of what is still charged behind it
    CHECK(got.complaint() == "");
    CHECK(got.elements.size() == 6040);
    CHECK(std::adjacent_find(got.elements.begin(), got.elements.end()) == got.elements.end());
  }
}

TEST_CASE("an error of an input ends merge when that input is served, and is dropped under the policy") {
  auto broken = paced(0, 4, 100us) | map([](int64 x) {
                  if (x == 2) throw_status(data_loss_error("broken here"));
                  return x;
                });
  CHECK(consume(merge(broken, paced(100, 50, 30us)), {}).why.code() == status_code::data_loss);
  consumption how;
  how.on_error = error_policy::skip;
  consumed got = consume(merge(broken, paced(100, 5, 30us)), how);
  CHECK(got.complaint() == "");
  CHECK(sorted(got.elements) == int64s{0, 1, 3, 100, 101, 102, 103, 104});
}

}  // namespace sluice::lib::merge_test
