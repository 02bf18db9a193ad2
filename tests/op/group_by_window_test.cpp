// SPDX-License-Identifier: Apache-2.0
// sluice/op/group_by_window.hpp, src/op/group_by_window/window_groups.hpp, src/engine/data/given_elements.hpp, sluice/plan/stage_plan.hpp
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/plan_texts.hpp"
#include "support/trials/resumed_everywhere.hpp"
#include "verbs/group_by_window_model.hpp"

namespace sluice::lib::group_by_window_test {
namespace {

using namespace test;
using namespace group_by_window_case;
using Catch::Contains;
using int64 = std::int64_t;

int64s elements_in(const dataset<int64>& d) { return consume(d, {}).elements; }

/// Counts its copies.
struct group_copied {
  static constexpr std::string_view sluice_name = "group_copied";
  static inline int copies = 0;
  explicit group_copied(int64 x) : value(x) {}
  group_copied(const group_copied& o) : value(o.value) { ++copies; }
  group_copied(group_copied&&) = default;
  group_copied& operator=(group_copied&&) = default;
  int64 value;
};

SLUICE_FUNCTION(window_digit, [](const int64& x) { return x % 10; });
SLUICE_FUNCTION(window_size_of_digit, [](int64 digit) { return digit + 1; });

std::string given(const std::string& stages, const std::string& source = "range(10)") {
  return elements<batched<int64>>(source + " | group_by_window(" + stages + ")");
}

}  // namespace

TEST_CASE("groups at the end are in the order of their keys, for every kind of number") {
  CHECK(given("it % 2 == 0, batch(9), 9") == "[1,3,5,7,9] [0,2,4,6,8]");
  CHECK(given("it % 3 * 1099511627776, batch(9), 9") == "[0,3,6,9] [1,4,7] [2,5,8]");
  enum class colour : std::uint8_t { red = 200, green = 3, blue = 100 };
  auto by_colour = [](int64 x) { return std::array{colour::red, colour::green, colour::blue}[x % 3]; };
  CHECK(elements(range(6) | group_by_window(by_colour, skip(0), 9)) == "1 4 2 5 0 3");
  auto by_limits = [](int64 x) { return x % 2 ? INT64_MIN : INT64_MAX; };
  CHECK(elements(range(4) | group_by_window(by_limits, skip(0), 9)) == "1 3 0 2");
  auto unsigned_limits = [](int64 x) { return x % 2 ? std::uint64_t{0} : ~std::uint64_t{0}; };
  CHECK(elements(range(4) | group_by_window(unsigned_limits, skip(0), 9)) == "1 3 0 2");
  // More keys than a table has room for at first, and all in one of its places.
  auto crowded = [](int64 x) { return (x * 7 % 500) << 44; };
  int64s expected;
  for (auto& [key, group] : groups_of<int64>(elements_in(range(1000)), crowded, [](int64) { return 9; }))
    expected.insert(expected.end(), group.begin(), group.end());
  CHECK(elements_in(range(1000) | group_by_window(crowded, skip(0), 9)) == expected);
}

TEST_CASE("stages of reduce that begin again for each group yield the same as newly opened ones") {
  auto key = [](int64 x) { return x % 3; };
  auto odd = [](int64 x) { return x % 2 == 1; };
  auto half = [](int64 x) { return x / 2; };
  for (int64 size : {1, 2, 5, 40}) {
    auto again = range(37) | group_by_window(key, filter(odd) | map(half) | batch(2), size) | map(folded_batch);
    auto anew =
        range(37) | group_by_window(key, filter(odd) | map(half) | batch(2) | take(99), size) | map(folded_batch);
    CHECK(elements(again) == elements(anew));
    resumes_everywhere(again);
    auto list = [](int64 x) { return int64s(static_cast<std::size_t>(x % 4), x); };
    auto lists = range(37) | map(list);
    auto size_of = [](const int64s& l) { return l.size(); };
    auto padded = lists | group_by_window(size_of, padded_batch(2), size) | unbatch() | map(folded);
    CHECK(elements(padded) ==
          elements(lists | group_by_window(size_of, padded_batch(2) | take(99), size) | unbatch() | map(folded)));
    resumes_everywhere(padded);
  }
  auto drawn = [](int64, random_source& random) { return static_cast<int64>(random.below(1'000'000)); };
  auto one = [](int64) { return 0; };
  const int64s all = elements_in(range(40) | group_by_window(one, map(drawn, {.seed = 5}), 8));
  CHECK(all == elements_in(range(40) | group_by_window(one, map(drawn, {.seed = 5}) | take(99), 8)));
  CHECK(std::vector(all.begin(), all.begin() + 8) != std::vector(all.begin() + 8, all.begin() + 16));
}

TEST_CASE("a stage of reduce may be any, several, or a function of the dataset") {
  auto key = [](int64 x) { return x % 3; };
  CHECK(elements(range(6) | group_by_window(
                                key, [](const dataset<int64>& d) { return zip(d, d | skip(1)); }, 2)) ==
        "[0,3] [1,4] [2,5]");
  CHECK(elements(range(4) | group_by_window(key, [](const dataset<int64>& d) { return d; }, 9)) == "0 3 1 2");
  auto inner = [](int64 x) { return range(x % 3); };
  CHECK(elements(range(6) | group_by_window(key, flat_map(inner), 2)) == "0 0 0 1 0 1");
  auto again = [](const dataset<int64>& d) { return d | flat_map([d](int64) { return d; }); };
  CHECK(elements(range(6) | group_by_window(key, again, 2)) == "0 3 0 3 1 4 1 4 2 5 2 5");
  auto of_two = [](const dataset<int64>& d) { return d | group_by_window([](int64 x) { return x / 3; }, batch(9), 9); };
  CHECK(elements(range(7) | group_by_window(key, of_two, 9)) == "[0] [3] [6] [1] [4] [2] [5]");
}

TEST_CASE("a group's shuffle draws by the group's number, and a prefetch in a group is one of its own") {
  auto key = [](int64) { return 0; };
  auto all = elements(range(40) | group_by_window(key, shuffle(8, {.seed = 3}) | batch(8), 8) | map(folded_batch));
  CHECK(all != elements(range(40) | batch(8) | map(folded_batch)));
  resumes_everywhere(range(40) | group_by_window(key, shuffle(8, {.seed = 3}) | prefetch(2), 8));
  resumes_everywhere(range(60) | group_by_window([](int64 x) { return x % 7; },
                                                 prefetch(2) | batch(3) | map(folded_batch, {.parallelism = 2}), 5));
}

TEST_CASE("elements that cannot be copied are moved, and asked for once only") {
  auto one = [](const std::unique_ptr<int64>&) { return 0; };
  auto made = range(6) | map(as_move_only::made);
  CHECK(elements(made | group_by_window(one, skip(1), 3) | map(as_move_only::number)) == "1 2 4 5");
  CHECK_THROWS_WITH(elements(made | group_by_window(one, repeat(2), 3) | map(as_move_only::number)),
                    Contains("cannot be copied, and are asked for a second time"));
  group_copied::copies = 0;
  auto counted = range(90) | map([](int64 x) { return group_copied(x); });
  auto value = [](const group_copied& c) { return c.value; };
  elements(counted | group_by_window([](const group_copied& c) { return c.value % 4; }, take(5), 7) | map(value));
  CHECK(group_copied::copies == 0);
  elements(counted | group_by_window([](const group_copied&) { return 0; }, repeat(2), 9) | map(value));
  CHECK(group_copied::copies == 180);
}

TEST_CASE("the size of a key is asked for once") {
  std::atomic<int> calls = 0;
  auto size = [&calls](int64 key) {
    ++calls;
    return key + 1;
  };
  CHECK(elements(range(40) | group_by_window([](int64 x) { return x % 4; }, batch(9), size) | map(folded_batch)) != "");
  CHECK(calls == 4);
}

TEST_CASE("a resume rebuilds only groups that were not delivered") {
  for (int64 size : {1, 2, 5, 40}) {
    auto key = [](int64 x) { return 5 - x % 6; };
    resumes_everywhere(range(37) | map(as_text::made) |
                       group_by_window([](const std::string& s) { return as_text::number(s) % 6; }, skip(1), size) |
                       map(as_text::number));
    resumes_everywhere(range(37) | group_by_window(key, batch(2), size) | map(folded_batch) | prefetch(2));
  }
}

TEST_CASE("group_by_window refuses arguments that do not fit") {
  auto key = [](int64 x) { return x % 3; };
  auto sizes = range(9) | group_by_window(key, batch(2), [](int64 k) { return k - 1; }) | map(folded_batch);
  CHECK_THROWS_WITH(elements(sizes), Contains("at least 1, and window_size_func gives -1") && Contains("element 0"));
  for (auto size : {"it + 1", "2 * it", "-it", "it"}) {
    INFO(size);
    const std::string why =
        refusal_of(std::string("range(3) | group_by_window(it, batch(2), window_size_func=") + size + ")");
    CHECK_THAT(why, Contains("window_size_func") && Contains("{key: int64}") &&
                        Contains("where the key is `key`: write key + 1, and not it + 1"));
  }
  CHECK_THAT(refusal_of("range(3) | group_by_window(it, batch(2), window_size_func=key + \"a\")"),
             !Contains("write key"));
  dataset<int64> kept = range(1);
  auto keeping = [&kept](const dataset<int64>& d) {
    kept = d;
    return d;
  };
  elements(range(3) | group_by_window(key, keeping, 1));
  CHECK_THROWS_WITH(elements(kept), Contains("is run where there is no group"));
}

TEST_CASE("group_by_window prints as text, and is read again; of an endless input it is endless") {
  round_trips(*(range(10) | group_by_window(expr("it % 2"), take(4) | batch(2), 5)).plan(),
              "range(10) | group_by_window(it % 2, take(4) | batch(2), 5)");
  round_trips(*(range(10) | group_by_window(expr("it % 2"), batch(2), expr("key + 1"))).plan(),
              "range(10) | group_by_window(it % 2, batch(2), window_size_func=key + 1)");
  round_trips(*(range(10) | group_by_window(window_digit, batch(2), window_size_of_digit)).plan(),
              "range(10) | group_by_window(window_digit, batch(2), window_size_func=window_size_of_digit)");
  auto lambda = range(10) | group_by_window(expr("it"), [](const dataset<int64>& d) { return zip(d, d); }, 5);
  CHECK_THAT(serialisable(*lambda.plan()).to_string(), Contains("cannot be written down"));
  auto two = range(10) | group_by_window(expr("it"), batch(2), 5),
       three = range(10) | group_by_window(expr("it"), batch(3), 5);
  CHECK(fingerprint(*two.plan()) != fingerprint(*three.plan()));
  auto ahead = range(10) | group_by_window(expr("it"), batch(2) | prefetch(2), 5);
  auto further = range(10) | group_by_window(expr("it"), batch(2) | prefetch(9), 5);
  CHECK(fingerprint(*ahead.plan()) == fingerprint(*further.plan()));
  CHECK(cardinality_of(*two.plan()).kind == cardinality::unknown);
}

}  // namespace sluice::lib::group_by_window_test
