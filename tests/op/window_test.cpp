// SPDX-License-Identifier: Apache-2.0
// sluice/op/window.hpp
#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/resumed_everywhere.hpp"
#include "verbs/window_model.hpp"

namespace sluice::lib::window_test {
namespace {

using namespace test;
using namespace window_case;
using int64 = std::int64_t;

template <class As> int64 folded_as(const std::vector<decltype(As::made(0))>& window) {
  return fold(window, As::number);
}

template <class As> void conforms_in_windows(const shape& s) {
  conformance c = of(s);
  c.elements = As::kName;
  c.stage = [s](const auto& in) { return in | map(As::made) | s.stage() | map(folded_as<As>); };
  conforms(c);
}

/// Counts how often any of them was copied.
struct copy_counted {
  static constexpr std::string_view sluice_name = "copy_counted";
  static inline int copies = 0;
  explicit copy_counted(int64 x) : value(x) {}
  copy_counted(const copy_counted& o) : value(o.value) { ++copies; }
  copy_counted(copy_counted&&) = default;
  copy_counted& operator=(copy_counted&&) = default;
  int64 value;
};

}  // namespace

TEST_CASE("windows have the elements of their size, shift and stride, for every length of input") {
  for (int64 size : {1, 2, 3, 5})
    for (std::optional<int64> shift : {std::optional<int64>(), {1}, {2}, {3}, {7}})
      for (int64 stride : {1, 2, 3})
        for (bool drop : {false, true})
          for (int64 length : {0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 23}) {
            shape s{size, shift, stride, drop};
            CAPTURE(size, s.step(), stride, drop, length);
            int64s in;
            for (int64 i = 0; i != length; ++i) in.push_back(i);
            auto ds = range(length) | s.stage();
            consumption how;
            how.ask_max = static_cast<std::uint32_t>(length % 4);
            consumed got = consume(ds | map(folded), how);
            CHECK(got.complaint() == "");
            CHECK(got.elements == expected_of(in, s));
            CHECK(cardinality_of(*ds.plan()) == cardinality::of(static_cast<int64>(got.elements.size())));
          }
  CHECK(windows_over({0, 1, 2, 3, 4, 5, 6}, {3}) == std::vector<int64s>{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK(windows_over({0, 1, 2, 3, 4, 5, 6}, {3, 1, 2, true}) == std::vector<int64s>{{0, 2, 4}, {1, 3, 5}, {2, 4, 6}});
}

TEST_CASE("window conforms") {
  for (const shape& s : {shape{3}, shape{4, 1}, shape{2, 5}, shape{3, 2, 2}, shape{3, 1, 4, true},
                         shape{5, {}, 1, true}, shape{2, 3, 4}, shape{64, 8}}) {
    CAPTURE(s.size, s.step(), s.stride, s.drop_remainder);
    conformance c = of(s);
    c.stage = [s](const auto& in) { return in | s.stage() | map(folded); };
    conforms(c);
  }
}

TEST_CASE("window conforms for elements of every kind, where windows overlap and where they do not") {
  for (const shape& s :
       {shape{3}, shape{4, 3, 2}, shape{2, 3, 2, true}}) {  // the last two: one in the reach of another
    conforms_in_windows<as_text>(s);
    conforms_in_windows<as_record>(s);
    conforms_in_windows<as_tensor>(s);
  }
  conforms_in_windows<as_text>({4, 1, 2});
  conforms_in_windows<as_record>({3, 2});
  for (const shape& s : {shape{3}, shape{3, 3, 2}, shape{2, 7, 3, true}}) {  // these share no elements
    conforms_in_windows<as_move_only>(s);
    conforms_in_windows<as_counting>(s);
  }
}

TEST_CASE("windows of elements of a megabyte are resumed at every one of them") {
  auto large = [](int64 x) { return std::string(std::size_t{1} << 20, static_cast<char>('a' + x)); };
  auto initials = [](const std::vector<std::string>& w) {
    return fold(w, [](const std::string& s) { return s.size() == (1 << 20) && s.front() == s.back() ? s[0] : -1; });
  };
  for (const shape& s : {shape{3, 1}, shape{2}, shape{2, 4}}) {
    auto ds = range(8) | map(large) | prefetch(1) | s.stage() | map(initials);
    int64s letters;
    for (int64 i = 0; i != 8; ++i) letters.push_back('a' + i);
    resumes_everywhere(ds, expected_of(letters, s));
  }
}

TEST_CASE("skipped windows are not built, nor are elements that no window has") {
  int calls = 0;
  auto counting = [&calls](int64 x) {
    ++calls;
    return copy_counted(x);
  };
  auto values = [](const std::vector<copy_counted>& w) {
    return fold(w, [](const copy_counted& x) { return x.value; });
  };
  consumption one;
  one.elements_max = 1;
  auto far = range(1'000'000'000) | map(counting) | window(3, {.shift = 2}) | skip(100'000'000) | map(values);
  copy_counted::copies = 0;
  CHECK(consume(far, one).elements == int64s{folded({200'000'000, 200'000'001, 200'000'002})});
  CHECK(calls == 3);
  CHECK(copy_counted::copies == 1);  // the last one is in the next window, too
  calls = 0;
  CHECK(consume(range(1000) | map(counting) | window(2, {.shift = 100}) | map(values), {}).elements.size() == 10);
  CHECK(calls == 20);
}

TEST_CASE("an element is copied for every window it is in but the last") {
  auto made = range(100) | map([](int64 x) { return copy_counted(x); });
  auto sizes = [](const std::vector<copy_counted>& w) { return static_cast<int64>(w.size()); };
  for (const shape& s : {shape{5}, shape{5, 7}, shape{3, 3, 2}, shape{2, 4, 3}}) {
    copy_counted::copies = 0;
    consume(made | s.stage() | map(sizes), {});
    CHECK(copy_counted::copies == 0);
  }
  copy_counted::copies = 0;
  consume(made | window(5, {.shift = 1, .drop_remainder = true}) | map(sizes), {});
  CHECK(copy_counted::copies == 96 * 4);
}

namespace {

/// Copying the element 49 fails.
struct fails_to_copy {
  static std::atomic<std::int64_t> alive;
  std::int64_t number;
  explicit fails_to_copy(std::int64_t n) : number(n) { ++alive; }
  fails_to_copy(fails_to_copy&& o) noexcept : number(o.number) { ++alive; }
  fails_to_copy(const fails_to_copy& o) : number(o.number) {
    if (number == 49) throw std::runtime_error("no copy of 49");
    ++alive;
  }
  fails_to_copy& operator=(fails_to_copy&& o) noexcept = default;
  fails_to_copy& operator=(const fails_to_copy& o) = default;
  ~fails_to_copy() { --alive; }
};
std::atomic<std::int64_t> fails_to_copy::alive{0};

}  // namespace

TEST_CASE("where copying an element throws, the complete windows of the block are delivered and destroyed") {
  {
    runtime rt({.workers = 1});
    auto s = (range(300) | map([](std::int64_t x) { return fails_to_copy(x); }) | window(5, {.shift = 2})).iterate(rt);
    auto windows_of = [](stream<std::vector<fails_to_copy>>& in, std::int64_t* windows, status* why) -> task<void> {
      for (;;) {
        auto w = co_await in.try_next();
        if (!w) {
          *why = w.why;
          break;
        }
        CHECK((*w)[0].number == 2 * *windows);
        ++*windows;
      }
    };
    std::int64_t windows = 0;
    status why;
    sync_wait(rt, windows_of(s, &windows, &why));
    CHECK(windows == 23);  // the last one without element 49 begins with 44
    CHECK_THAT(why.to_string(), Catch::Contains("no copy of 49") && Catch::Contains("window"));
  }
  CHECK(fails_to_copy::alive == 0);
}

TEST_CASE("windows of elements that cannot be copied are refused where they share any, and only there") {
  auto made = range(3) | map(as_move_only::made);
  for (int64 size : {1, 2, 3, 4, 5})
    for (int64 shift : {1, 2, 3, 4, 6})
      for (int64 stride : {1, 2, 3, 4}) {
        CAPTURE(size, shift, stride);
        std::set<int64> seen;
        bool shared = false;
        for (int64 first = 0; first <= 60; first += shift)
          for (int64 j = 0; j != size; ++j) shared |= !seen.insert(first + j * stride).second;
        if (shared) {
          CHECK_THROWS_WITH(made | (shape{size, shift, stride}.stage()),
                            Catch::Contains("share elements") && Catch::Contains("cannot be copied"));
        } else {
          CHECK_NOTHROW(made | (shape{size, shift, stride}.stage()));
        }
      }
}

TEST_CASE("a window that moves on for long takes no more memory than it reaches over") {
  simulation world(1);
  runtime rt(world, {.workers = 2});
  auto ds = range(2'000'000) | window(1000, {.shift = 500}) | map([](const int64s& w) { return w[0]; });
  consumption how;
  how.ask_max = 1;
  CHECK(consume_on(rt, ds, how).elements.size() == 4000);
  for (auto& line : rt.ledger().report().lines)
    if (line.held_for == purpose::window) CHECK(line.peak_bytes < 64'000);
}

TEST_CASE("a list of pairs or of structures is made where the program has one") {
  auto sums = [](const std::vector<std::pair<int64, std::string>>& w) {
    return fold(w, [](const std::pair<int64, std::string>& p) { return p.first * 10 + as_text::number(p.second); });
  };
  auto ds = range(5) | map(as_text::made) | enumerate() | window(2, {.shift = 1}) | map(sums);
  CHECK(consume(ds, {}).elements ==
        int64s{folded({0, 11}), folded({11, 22}), folded({22, 33}), folded({33, 44}), folded({44})});
  auto longs = range(3) | map([](int64 x) { return static_cast<long long>(x); }) | window(2);
  CHECK(
      consume(longs | map([](const std::vector<long long>& w) { return static_cast<int64>(w.size()); }), {}).elements ==
      int64s{2, 1});
}

}  // namespace sluice::lib::window_test
