// SPDX-License-Identifier: Apache-2.0
// sluice/op/repeat.hpp
#include <cstdint>
#include <memory>
#include <thread>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/tree_of.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::repeat_test {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s repeated(const int64s& in, int times) {
  int64s out;
  while (times--) out.insert(out.end(), in.begin(), in.end());
  return out;
}

stream<int64> counted(int n) {
  for (int64 i = 0; i < n; ++i) co_yield i;
}
task<void> end_of(stream<int64>& s, status& why) {
  auto x = co_await s.try_next();
  why = x.why;
}

}  // namespace

TEST_CASE("an error of the first epoch comes after its elements") {
  conforms({.stage = [](const auto& in) { return in | repeat(2); },
            .expected = [](const int64s& in) { return repeated(in, 2); },
            .before_error = [](const int64s& in) { return in; }});
}

TEST_CASE("repeat() ends with the first empty epoch, repeat(n) continues with the next") {
  auto pass = std::make_shared<int>();
  auto later_empty = generate([pass] { return counted(++*pass == 3 ? 0 : 2); });
  CHECK(consume(later_empty | repeat(), {}).elements == int64s{0, 1, 0, 1});
  *pass = 0;
  CHECK(consume(later_empty | repeat(4), {}).elements == int64s{0, 1, 0, 1, 0, 1});
  consumption how;
  how.skip = 3;
  *pass = 0;
  CHECK(consume(later_empty | repeat(), how).elements == int64s{1});
}

TEST_CASE("a repeat of an input that is declared empty runs it once, to check the declaration") {
  constexpr int64 kMany = int64{1} << 60;
  CHECK(consume(range(5) | take(0) | repeat(kMany), {}).why.ok());
  auto wrong = range(5) | filter(expr("it >= 0")) | assert_cardinality(3) | skip(3);
  for (auto& plan : {wrong | repeat(), wrong | repeat(2), wrong | repeat(kMany)}) {
    consumed c = consume(plan, {});
    CHECK(c.elements.empty());
    CHECK_THAT(c.why.to_string(), Catch::Contains("must have 3 elements, and has"));
  }
  auto right = range(5) | assert_cardinality(5) | skip(5) | repeat(kMany);
  CHECK(consume(right, {}).elements.empty());
  CHECK(consume(right, {}).why.ok());
}

TEST_CASE("a repeat of nothing yields to a stop, however many epochs it has") {
  runtime rt({.workers = 1});
  auto nothing = generate([] { return counted(0); }) | repeat(std::int64_t{1} << 60);
  auto s = nothing.iterate(rt);
  std::thread stopper([run = test::tree_of(s).shared_run()] { run->request_stop(); });
  status why;
  sync_wait(rt, end_of(s, why));
  stopper.join();
  CHECK(why.code() == status_code::cancelled);
}

}  // namespace sluice::lib::repeat_test
