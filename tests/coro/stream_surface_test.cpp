// SPDX-License-Identifier: Apache-2.0
// What users can call of a stream, and what only the engine can: sluice/coro/stream.hpp, sluice/coro/any_stream.hpp
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "sluice/pipeline/iterate.hpp"
#include "sluice/sluice.hpp"
#include "support/tree_of.hpp"

namespace {

using sluice::any_stream;
using sluice::open_run;
using sluice::range;
using sluice::runtime;
using sluice::stream;
using sluice::task;

// Whether a user, who is neither a class of the engine's nor derived from one, can write `s.MEMBER…`.
#define CAN_BE_CALLED(NAME, CALL) template <class S> concept NAME = requires(S& s) { s.CALL; }

CAN_BE_CALLED(has_next, next());
CAN_BE_CALLED(has_try_next, try_next());
CAN_BE_CALLED(has_next_block, next_block({}));
CAN_BE_CALLED(has_try_next_block, try_next_block({}));
CAN_BE_CALLED(has_position, position());
CAN_BE_CALLED(has_request_stop, request_stop());
CAN_BE_CALLED(has_operator_bool, operator bool());
CAN_BE_CALLED(has_type, type());

CAN_BE_CALLED(has_ready, ready({}));
CAN_BE_CALLED(has_peek, peek());
CAN_BE_CALLED(has_drop, drop(1));
CAN_BE_CALLED(has_take, take(1));
CAN_BE_CALLED(has_left, left());
CAN_BE_CALLED(has_consumed, consumed());
CAN_BE_CALLED(has_pass_over, pass_over(1));
CAN_BE_CALLED(has_hold_from, hold_from(1));
CAN_BE_CALLED(has_take_mark, take_mark());
CAN_BE_CALLED(has_begin_at, begin_at(1));
CAN_BE_CALLED(has_close, close());
CAN_BE_CALLED(has_stage, stage());
CAN_BE_CALLED(has_run, run());
CAN_BE_CALLED(has_shared_run, shared_run());
CAN_BE_CALLED(has_set_environment, set_environment(nullptr));
CAN_BE_CALLED(has_sealed_position, sealed_position());
#undef CAN_BE_CALLED

template <class S>
constexpr bool shows_the_engine =
    has_ready<S> || has_peek<S> || has_drop<S> || has_take<S> || has_left<S> || has_consumed<S> || has_pass_over<S> ||
    has_hold_from<S> || has_take_mark<S> || has_begin_at<S> || has_close<S> || has_stage<S> || has_run<S> ||
    has_shared_run<S> || has_set_environment<S> || has_sealed_position<S>;

task<std::string> all_of(any_stream s) {
  std::string all;
  while (auto b = co_await s.next_block({.elements = 2}))
    for (std::uint32_t i = 0; i != b.size(); ++i) all += std::to_string(b.as<std::int64_t>()[i]) + " ";
  auto end = cleanup(std::move(s));
  co_await end;
  co_return all;
}

}  // namespace

TEST_CASE("a typed stream shows users no member of the engine") {
  using s = stream<std::int64_t>;
  STATIC_REQUIRE((has_next<s> && has_try_next<s> && has_position<s> && has_request_stop<s> && has_operator_bool<s>));
  STATIC_REQUIRE(!shows_the_engine<s>);
  STATIC_REQUIRE(!std::is_convertible_v<s&, sluice::lib::stream_base&>);
  STATIC_REQUIRE(!std::is_constructible_v<sluice::lib::stream_base, s&&>);
}

TEST_CASE("a stream without a C++ type shows users no member of the engine") {
  using s = any_stream;
  STATIC_REQUIRE((has_next_block<s> && has_try_next_block<s> && has_position<s> && has_request_stop<s> && has_type<s>));
  STATIC_REQUIRE(has_operator_bool<s>);
  STATIC_REQUIRE(!shows_the_engine<s>);
  STATIC_REQUIRE(!std::is_convertible_v<s&, sluice::lib::stream_base&>);
  STATIC_REQUIRE(!std::is_convertible_v<s&, sluice::lib::erased_stream&>);
  STATIC_REQUIRE(!std::is_constructible_v<sluice::lib::erased_stream, s&&>);
}

// Else the cases above would pass, whatever is asked.
TEST_CASE("the engine's own stream has the members that users do not see") {
  using s = sluice::lib::erased_stream;
  STATIC_REQUIRE((has_ready<s> && has_peek<s> && has_drop<s> && has_take<s> && has_left<s> && has_consumed<s>));
  STATIC_REQUIRE((has_pass_over<s> && has_hold_from<s> && has_take_mark<s> && has_begin_at<s> && has_close<s>));
  STATIC_REQUIRE((has_stage<s> && has_run<s> && has_shared_run<s> && has_set_environment<s> && has_sealed_position<s>));
}

TEST_CASE("a stream without a C++ type delivers blocks, continues from its position, and ends its run") {
  runtime rt({.workers = 1});
  auto plan = range(5).plan();
  CHECK(sync_wait(rt, all_of(open_run(rt, plan))) == "0 1 2 3 4 ");
  any_stream s = open_run(rt, plan);
  auto first = [](any_stream& from) -> task<std::int64_t> {
    auto b = co_await from.next_block({.skip = 2, .elements = 1});
    co_return *b.as<std::int64_t>();
  };
  CHECK(sync_wait(rt, first(s)) == 2);
  CHECK(sync_wait(rt, all_of(open_run(rt, plan, {.from = s.position()}))) == "3 4 ");
  CHECK(s.type().name == range(5).plan()->type->name);
  s.request_stop();
  auto refused = [](any_stream& from) -> task<std::string> {
    auto got = co_await from.try_next_block({});
    co_return std::string(got.why.message());
  };
  CHECK(sync_wait(rt, refused(s)) != "");
  CHECK(report_of(s).errors == 0);
}

TEST_CASE("the engine finds the tree of a user's stream, and the stream of a tree") {
  runtime rt({.workers = 1});
  auto s = range(3).iterate(rt);
  sluice::lib::stream_base& tree = sluice::lib::test::tree_of(s);
  CHECK(&sluice::lib::detail::engine_access::typed<stream<std::int64_t>>(tree) == &s);
  sluice::lib::erased_stream released = sluice::lib::test::tree_of(open_run(rt, range(3).plan()));
  CHECK(released.consumed() == 0);
}
