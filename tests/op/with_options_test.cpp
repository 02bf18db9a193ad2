// SPDX-License-Identifier: Apache-2.0
// sluice/op/with_options.hpp, sluice/engine/dataset_options.hpp, and what else a dataset can be asked (plan/dataset.hpp).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/element/spec.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::with_options_test {
namespace {

using namespace std::chrono_literals;
using namespace test;
using int64 = std::int64_t;
constexpr auto kSkip = error_policy::skip, kStop = error_policy::stop;

int64 not_seven(int64 x) {
  if (x % 7 == 3) throw_status(data_loss_error("three is out"));
  return x;
}
int64s without_sevens(const int64s& in) {
  int64s good;
  for (int64 x : in)
    if (x % 7 != 3) good.push_back(x);
  return good;
}

task<int64> later(int64 x) {
  co_await sleep_for(x % 5 == 0 ? 10ms : 1ms);
  co_return x;
}
bool is_sorted(const int64s& v) { return std::is_sorted(v.begin(), v.end()); }
consumption tolerant() {
  consumption how;
  how.on_error = kSkip;
  return how;
}

}  // namespace

TEST_CASE("with_options decides before the policy of the run") {
  CHECK(consume(range(20) | map(not_seven) | with_options({.on_error = kStop}), tolerant()).elements ==
        int64s{0, 1, 2});
}

TEST_CASE("order=sloppy makes maps and interleaves upstream sloppy, and those alone") {
  auto slow = range(40) | map(later, {.parallelism = 8});
  CHECK(is_sorted(consume(slow, {}).elements));
  int64s got = consume(slow | with_options({.order = sloppy}), {}).elements;
  CHECK(got.size() == 40);
  CHECK(!is_sorted(got));
  CHECK(
      is_sorted(consume(slow | with_options({.order = sloppy}) | with_options({.order = deterministic}), {}).elements));
  CHECK(is_sorted(consume(range(40) | with_options({.order = sloppy}) | map(later, {.parallelism = 8}), {}).elements));
  auto says_so = range(40) | map(later, {.parallelism = 8, .order = sloppy});
  CHECK(!is_sorted(consume(says_so | with_options({.order = deterministic}), {}).elements));
  auto later_each = [](int64 k) { return range(100 * k + 10, {.start = 100 * k}) | map(later); };
  auto opened = range(4) | interleave(later_each, {.cycle_length = 4, .parallelism = 4});
  CHECK(consume(opened | with_options({.order = sloppy}), {}).elements != consume(opened, {}).elements);
}

TEST_CASE("a run with options goes on from every element") {
  auto ds =
      range(60) | map(later, {.parallelism = 4}) | map(not_seven) | with_options({.on_error = kSkip, .order = sloppy});
  consumption how;
  how.save = true;
  how.ask_max = 1;
  consumed whole = consume(ds, how);
  CHECK(whole.complaint() == "");
  for (std::size_t at = 0; at < whole.elements.size(); at += 5) {
    consumption again;
    again.from = whole.places[at];
    int64s all(whole.elements.begin(), whole.elements.begin() + static_cast<std::ptrdiff_t>(at));
    int64s rest = consume(ds, again).elements;
    all.insert(all.end(), rest.begin(), rest.end());
    std::sort(all.begin(), all.end());
    CHECK(all == without_sevens(consume(range(60), {}).elements));
  }
}

TEST_CASE("a dataset tells its options, the outermost first") {
  CHECK(!range(5).options().on_error);
  CHECK(!range(5).options().order);
  auto ds = range(5) | with_options({.on_error = kSkip, .errors_max = 9}) | map(not_seven) |
            with_options({.on_error = kStop}) | batch(2) | with_options({.order = sloppy});
  CHECK(ds.options().on_error == kStop);
  CHECK(!ds.options().errors_max.is_given());
  CHECK(ds.options().order == sloppy);
  auto inner = range(5) | with_options({.on_error = kSkip, .errors_max = 9, .order = deterministic}) | take(2);
  CHECK(inner.options().errors_max.value == 9);
}

TEST_CASE("a dataset tells how many elements it gives: exactly, between bounds, without end, or not at all") {
  auto odd = [](int64 x) { return x % 2 == 1; };
  CHECK((range(10) | batch(4)).cardinality() == cardinality::of(3));
  CHECK(counter().cardinality() == cardinality::forever());
  auto some = range(10) | filter(odd) | take_while(odd) | unique() | shuffle(3) | skip(1) | prefetch(2);
  CHECK(some.cardinality() == cardinality{});
  CHECK(some.cardinality_limits().least == 0);
  CHECK(some.cardinality_limits().most == cardinality::of(10));
  CHECK((range(10) | on_error(kSkip, map(not_seven))).cardinality_limits().most == cardinality::of(10));
  CHECK((range(10) | map(not_seven) | ignore_errors()).cardinality_limits().most == cardinality::of(10));
  CHECK((counter() | filter(odd)).cardinality_limits().most == cardinality::forever());
  CHECK(lines("a").cardinality_limits().most == cardinality{});
  CHECK((range(10) | batch(4)).cardinality_limits().least == 3);
}

TEST_CASE("a dataset tells what its elements are, with partial shapes") {
  CHECK(zip(range(3), range(3) | map([](int64) { return std::string(); })).element_spec().text() == "(int64, string)");
  CHECK((range(3) | map([](int64) { return std::vector<std::array<float, 3>>(2); })).element_spec().text() ==
        "float32[?,3]");
  CHECK(parse_plan("range(3) | map({label: it, x: [it, it]})")->type->name.size() > 3);
}

}  // namespace sluice::lib::with_options_test
