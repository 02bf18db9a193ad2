// SPDX-License-Identifier: Apache-2.0
// An element of a stream is in its view or is gone, whatever verbs are mixed: sluice/coro/erased_stream.hpp
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "coro/test_world.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/stream.hpp"
#include "support/counting_element.hpp"

namespace sluice::lib::cursor_test {
namespace {

using test::counting_element;
using test::lifetimes;
using int64 = std::int64_t;
using int64s = std::vector<int64>;

stream<counting_element> numbers(int64 n) {
  for (int64 i = 0; i < n; ++i) {
    counting_element made(i);
    co_yield std::move(made);
  }
}
erased_stream erased_numbers(int64 n) { return erased_stream(numbers(n)); }

/// What a consumer has come by, in order.
class taken {
 public:
  int64s numbers;

  /// Room for `n` elements, a few bytes of nothing between each two.
  char* room(std::uint32_t n) {
    room_.assign((n + 1) * kStride, 0);
    return room_.data();
  }
  static constexpr std::size_t kStride = sizeof(counting_element) * 3;
  /// n elements stand there now, one to each `stride` bytes: takes their numbers, and destroys them.
  void here(std::uint32_t n, std::size_t stride) {
    for (std::uint32_t i = 0; i != n; ++i) {
      auto* c = std::launder(reinterpret_cast<counting_element*>(room_.data() + i * stride));
      numbers.push_back(c->number());
      c->~counting_element();
    }
  }

 private:
  std::vector<char> room_;
};

void note(taken& t, const block& b) {
  for (std::uint32_t i = 0; i != b.size(); ++i)
    t.numbers.push_back(reinterpret_cast<counting_element*>(b.at(i))->number());
}

}  // namespace

TEST_CASE("elements dropped before a block that is moved out of are destroyed once", "[cursor]") {
  lifetimes watched;
  taken t;
  {
    test_world world;
    erased_stream s = erased_numbers(20);
    auto go = [](erased_stream& s, taken& t) -> task<void> {
      bool more = co_await s.ready({0, 12});
      CHECK(more);
      CHECK(s.left() == 12);
      s.drop(11);
      block rest = s.take(1);  // its owner's front is the view's now
      rest.move_front(t.room(1), 1);
      t.here(1, sizeof(counting_element));
      CHECK(s.left() == 0);
    };
    auto going = go(s, t);
    world.run(std::move(going));
  }
  CHECK(t.numbers == int64s{11});
  CHECK(watched.complaint() == "");
}

TEST_CASE("a request that skips elements begins with the rest of the view", "[cursor]") {
  lifetimes watched;
  taken t;
  {
    test_world world;
    erased_stream s = erased_numbers(40);
    auto go = [](erased_stream& s, taken& t) -> task<void> {
      bool more = co_await s.ready({0, 10});
      CHECK(more);
      more = co_await s.ready({4, 10});  // within the view
      CHECK((more && s.left() == 6 && s.consumed() == 4));
      more = co_await s.ready({6, 3});  // all of it, and nothing beyond
      CHECK((more && s.left() == 3 && s.consumed() == 10));
      auto b = co_await s.next_block({5, 2});  // three of the view and two that have to be made
      note(t, b);
      CHECK(s.consumed() == 17);
      auto last = co_await s.next_block({30, 1});
      CHECK(last.empty());
      CHECK(s.skip_left() == 7);
      CHECK(s.consumed() == 40);
    };
    auto going = go(s, t);
    world.run(std::move(going));
  }
  CHECK(t.numbers == int64s{15, 16});
  CHECK(watched.complaint() == "");
}

TEST_CASE("a skip that a view served is not asked for a second time", "[cursor]") {
  test_world world;
  stream<counting_element> typed = numbers(10);
  auto go = [](stream<counting_element>& typed) -> task<void> {
    erased_stream s(std::move(typed));
    bool more = co_await s.ready({0, 4});
    CHECK(more);
    more = co_await s.ready({2, 4});
    CHECK(more);
    typed = stream<counting_element>(std::move(s));
    for (int64 i = 2; i != 10; ++i) {
      auto x = co_await typed.next();
      CHECK((x && x->number() == i));
    }
  };
  auto going = go(typed);
  world.run(std::move(going));
}

TEST_CASE("before the first request and at the end there is nothing to consume, and every verb reports it",
          "[cursor]") {
  test_world world;
  erased_stream s = erased_numbers(0);
  auto nothing = [](erased_stream& in) {
    CHECK(in.left() == 0);
    CHECK(in.peek().empty());
    CHECK(in.peek().data() == nullptr);
    in.drop(0);
    CHECK(in.move_to(nullptr, 0) == 0);
    CHECK(in.move_to(nullptr, 5) == 0);
    CHECK(in.take(0).empty());
    CHECK(in.take(5).empty());
  };
  nothing(s);
  auto go = [](erased_stream& in) -> task<void> {
    bool more = co_await in.ready({0, 4});
    CHECK(!more);
  };
  auto going = go(s);
  world.run(std::move(going));
  nothing(s);
  erased_stream empty;
  nothing(empty);
}

TEST_CASE("a request for no element is one for one element, made or left of a view", "[cursor]") {
  lifetimes watched;
  taken t;
  {
    test_world world;
    erased_stream s = erased_numbers(6);
    auto go = [](erased_stream& s, taken& t) -> task<void> {
      auto made = co_await s.next_block({.elements = 0});
      note(t, made);
      bool more = co_await s.ready({0, 3});
      CHECK((more && s.left() == 3));
      auto left = co_await s.next_block({.skip = 1, .elements = 0});
      note(t, left);
      auto attempt = co_await s.try_next_block({.skip = 2, .elements = 0});
      note(t, attempt.view);
      auto end = co_await s.next_block({.elements = 0});
      CHECK(end.empty());
    };
    auto going = go(s, t);
    world.run(std::move(going));
  }
  CHECK(t.numbers == int64s{0, 2, 5});
  CHECK(watched.complaint() == "");
}

template <class View>
concept can_be_consumed = requires(View v) { v.drop_front(1); } || requires(View v, char* to) { v.move_front(to, 1); };

TEST_CASE("a peek is to look at: it cannot be dropped or moved out of", "[cursor]") {
  STATIC_REQUIRE(!can_be_consumed<decltype(std::declval<erased_stream&>().peek())>);
  STATIC_REQUIRE(can_be_consumed<decltype(std::declval<erased_stream&>().take(1))>);
}

namespace {

/// Consumes all of `s` by a random verb at a time; what it comes by goes to `t`, the rest is passed over.
task<void> consume_somehow(erased_stream& s, std::uint64_t seed, taken& t) {
  std::uint64_t drawn = 0;
  auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(draw(seed, drawn++, n)); };
  for (;;) {
    demand d{below(3) ? 0 : below(6), 1 + below(9)};
    if (below(4) == 0) {
      auto b = co_await s.next_block(d);
      if (!b) break;
      note(t, b);
      if (below(2)) {
        std::uint32_t n = below(b.size() + 1);
        std::vector<char> room(n * sizeof(counting_element) + 1);
        b.move_front(room.data(), n);
        for (std::uint32_t i = 0; i != n; ++i)
          reinterpret_cast<counting_element*>(room.data() + i * sizeof(counting_element))->~counting_element();
      }
      continue;
    }
    bool more = co_await s.ready(d);
    if (!more) break;
    for (std::uint32_t turns = below(4); turns; --turns) {
      std::uint32_t n = below(s.left() + 2);
      switch (below(4)) {
        case 0: s.drop(std::min(n, s.left())); break;
        case 1: {
          char* to = t.room(n);
          t.here(s.move_to(to, n), sizeof(counting_element));
          break;
        }
        case 2: {
          char* to = t.room(n);
          t.here(s.move_to(to, n, taken::kStride), taken::kStride);
          break;
        }
        default: {
          block b = s.take(n);
          note(t, b);
          if (below(2) && b) b.drop_front(below(b.size() + 1));
        }
      }
      CHECK(s.peek().size() == s.left());
      if (s.left())
        CHECK(reinterpret_cast<counting_element*>(s.peek().data())->number() == static_cast<int64>(s.consumed()));
    }
  }
}

}  // namespace

TEST_CASE("for any mix of verbs, each element is seen at most once, in order, and destroyed once", "[cursor]") {
  for (std::uint64_t seed = 0; seed != 200; ++seed) {
    CAPTURE(seed);
    lifetimes watched;
    taken t;
    {
      test_world world;
      erased_stream s = erased_numbers(200);
      auto going = consume_somehow(s, seed, t);
      world.run(std::move(going));
      CHECK(s.consumed() == 200);
    }
    CHECK(std::adjacent_find(t.numbers.begin(), t.numbers.end(), std::greater_equal<>()) == t.numbers.end());
    CHECK(watched.constructions() == 200);
    CHECK(watched.complaint() == "");
  }
}

TEST_CASE("the counting element detects double destruction, construction over it, and leaks", "[cursor]") {
  alignas(counting_element) char room[sizeof(counting_element)];
  auto* c = reinterpret_cast<counting_element*>(room);
  lifetimes watched;
  new (room) counting_element(7);
  CHECK(watched.alive() == 1);
  CHECK(watched.complaint() == "1 are never destroyed, one of them element 7");
  std::launder(c)->~counting_element();
  CHECK(watched.complaint() == "");
  std::launder(c)->~counting_element();
  CHECK(watched.complaint().find("was destroyed, not being alive") != std::string::npos);
  lifetimes again;
  new (room) counting_element(8);
  new (room) counting_element(9);
  CHECK(again.complaint().find("element 8 at 0x") == 0);
  std::launder(c)->~counting_element();
}

}  // namespace sluice::lib::cursor_test
