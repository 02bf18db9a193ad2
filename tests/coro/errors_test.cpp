// SPDX-License-Identifier: Apache-2.0
// How errors leave tasks: sluice/coro/detail/promise.hpp, task.hpp
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "coro/test_world.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/stream.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/element/type_of.hpp"

namespace sluice::lib::errors_test {
using namespace std::chrono_literals;

namespace {

using names = std::vector<std::string>;

/// Notes its own end.
class witness {
 public:
  witness(names& log, std::string name) : log_(log), name_(std::move(name)) {}
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;
  ~witness() { log_.push_back(name_); }

 private:
  names& log_;
  std::string name_;
};

status lost() { return data_loss_error("half a record").in_file("a.tfrecord", 12, 3).in_stage("tfrecord", 3); }

task<int> fails() {
  co_await yield_now();
  co_await fail(lost());
  co_return 0;
}
task<> throws_its_own() {
  co_await yield_now();
  throw std::invalid_argument("mine");
}

/// What `co_await work` threw, as text; "nothing" when it did not.
template <class T> task<std::string> caught(task<T> work) {
  std::string what = "nothing";
  auto mine = std::move(work);
  try {
    co_await mine;
  } catch (const error& e) { what = e.why().to_string(); } catch (const std::exception& e) {
    what = e.what();
  }
  co_return what;
}

task<> nest(int depth, names& log) {
  witness w(log, std::to_string(depth));
  if (depth == 0) {
    co_await fail(lost());
    co_return;
  }
  auto inner = nest(depth - 1, log);
  co_await inner;
}

task<> nest_anonymously(int depth) {
  if (depth == 0) throw std::invalid_argument("at the bottom");
  co_await nest_anonymously(depth - 1);
}

stream<int> three_then_fails() {
  for (int i = 0; i < 3; ++i) co_yield i;
  throw error(lost());
}

stream<int> passed_on(stream<int> in, names& log) {
  witness w(log, "stage");
  try {
    while (auto x = co_await in.next()) co_yield std::move(*x);
  } catch (...) { log.push_back("caught in a stage"); }
}

}  // namespace

TEST_CASE("a try around a task catches its error, and the catcher continues", "[errors]") {
  test_world w;
  auto continues = []() -> task<std::string> {
    std::string seen;
    for (int i = 0; i < 3; ++i) {
      try {
        auto n = co_await fails();
        seen += std::to_string(n);
      } catch (const error& e) { seen += e.why().to_string() + "; "; }
      co_await sleep_for(1ms);
    }
    co_return seen;
  };
  std::string once = lost().to_string() + "; ";
  CHECK(w.run(continues()) == once + once + once);
  CHECK(w.moment == time_point(3ms));
}

TEST_CASE("code, message and provenance of an error come through tasks unchanged", "[errors]") {
  test_world w;
  auto outer = []() -> task<int> {
    auto n = co_await fails();
    co_return n;
  };
  status why = w.result_of(outer()).why();
  CHECK(why.code() == status_code::data_loss);
  CHECK(why.to_string() == lost().to_string());
  CHECK(why.where().offset_bytes == 12);
  CHECK(why.where().record_index == 3);
  CHECK(why.where().element == 3);
}

TEST_CASE("an exception of the user's own type is caught as that type, through other tasks", "[errors]") {
  test_world w;
  auto outer = []() -> task<> { co_await throws_its_own(); };
  auto catches = [](task<> work) -> task<std::string> {
    std::string seen;
    try {
      co_await work;
    } catch (const std::invalid_argument& e) { seen = e.what(); }
    co_return seen;
  };
  CHECK(w.run(catches(outer())) == "mine");
}

TEST_CASE("an error can be thrown on, and turned into another", "[errors]") {
  test_world w;
  auto again = []() -> task<> {
    try {
      auto n = co_await fails();
      (void)n;
    } catch (const error&) { throw; }
  };
  auto another = []() -> task<> {
    try {
      auto n = co_await fails();
      (void)n;
    } catch (const error& e) { throw error(unavailable_error("because of " + std::string(e.why().message()))); }
  };
  CHECK(w.run(caught(again())) == lost().to_string());
  CHECK(w.run(caught(another())) == "unavailable: because of half a record");
}

TEST_CASE("destructors run when the error passes, innermost first, before the catcher continues", "[errors]") {
  test_world w;
  names log;
  auto outer = [](names& log) -> task<> {
    witness kept(log, "outer");
    try {
      witness inside(log, "try");
      auto work = nest(2, log);
      co_await work;
    } catch (const error&) { log.push_back("caught"); }
  };
  w.run(outer(log));
  CHECK(log == names{"0", "1", "2", "try", "caught", "outer"});
}

TEST_CASE("an error passes a thousand nested awaits, and every frame is left once", "[errors]") {
  test_world w;
  names log;
  CHECK(w.run(caught(nest(1000, log))) == lost().to_string());
  REQUIRE(log.size() == 1001);
  for (int i = 0; i <= 1000; ++i) CHECK(log[static_cast<std::size_t>(i)] == std::to_string(i));
  CHECK(w.run(caught(nest_anonymously(1000))) == "at the bottom");
}

TEST_CASE("fail() in a task throws at the call", "[errors]") {
  test_world w;
  auto turns_round = []() -> task<std::string> {
    std::string seen = "nothing";
    try {
      co_await fail(not_found_error("here"));
      seen = "went on";
    } catch (const error& e) { seen = e.what(); }
    co_return seen;
  };
  CHECK(w.run(turns_round()) == "not_found: here");
}

TEST_CASE("a stop is thrown at every wait, and at the next one again", "[errors]") {
  test_world w;
  w.stop.request_stop();
  auto stubborn = []() -> task<int> {
    int stops = 0;
    channel<int> empty({.elements = 1});
    channel<int> full({.elements = 1});
    (void)full.try_send(1);
    for (int i = 0; i < 4; ++i) {
      try {
        if (i == 0) co_await sleep_for(1h);
        if (i == 1) co_await check_stop();
        if (i == 2) {
          auto r = co_await empty.receive();
          (void)r;
        }
        if (i == 3) {
          auto s = co_await full.send(2);
          (void)s;
        }
      } catch (const error& e) { stops += e.code() == status_code::cancelled; }
    }
    co_return stops;
  };
  CHECK(w.run(stubborn()) == 4);
  CHECK(w.timers.empty());
}

TEST_CASE("a stop that comes during a wait is thrown there", "[errors]") {
  test_world w;
  auto sleeper = []() -> task<std::string> {
    std::string seen;
    channel<int> never({.elements = 1});
    try {
      auto x = co_await never.receive();
      (void)x;
    } catch (const error& e) { seen = e.what(); }
    try {
      co_await sleep_for(1h);
    } catch (const error& e) { seen += e.what(); }
    co_return seen;
  };
  auto stops = [](std::stop_source& stop) -> task<std::string> {
    co_await sleep_for(1ms);
    stop.request_stop();
    co_return "";
  };
  auto both = [](task<std::string> a, task<std::string> b) -> task<std::string> {
    auto all = co_await when_all(std::move(a), std::move(b));
    co_return std::get<0>(all);
  };
  CHECK(w.run(both(sleeper(), stops(w.stop))) == "cancelled: stoppedcancelled: stopped");
}

TEST_CASE("a closed channel's reason is thrown at its receivers, waiting and coming", "[errors]") {
  test_world w;
  auto receives = [](channel<int>& c) -> task<std::string> {
    std::string seen;
    for (int i = 0; i < 2; ++i) {
      try {
        auto x = co_await c.receive();
        (void)x;
      } catch (const error& e) { seen += e.what() + std::string(";"); }
    }
    co_return seen;
  };
  auto closes = [](channel<int>& c) -> task<> {
    co_await sleep_for(1ms);
    c.close(lost());
  };
  auto both = [](task<std::string> a, task<> b) -> task<std::string> {
    auto all = co_await when_all(std::move(a), std::move(b));
    co_return std::get<0>(all);
  };
  channel<int> c({.elements = 1});
  CHECK(w.run(both(receives(c), closes(c))) == lost().to_string() + ";" + lost().to_string() + ";");
}

TEST_CASE("when_all and a scope's join throw their first error in a task that catches it", "[errors]") {
  test_world w;
  auto tries_all = []() -> task<std::string> {
    std::string seen;
    try {
      auto a = fails();
      auto b = fails();
      auto all = co_await when_all(std::move(a), std::move(b));
      seen = std::to_string(std::get<0>(all));
    } catch (const error& e) { seen = e.what(); }
    std::vector<task<int>> many;
    for (int i = 0; i < 3; ++i) many.push_back(fails());
    try {
      auto all = co_await when_all(std::move(many));
      seen += std::to_string(all.size());
    } catch (const error& e) { seen += e.what(); }
    environment* env = co_await this_environment();
    scope s(*env);
    s.spawn(throws_its_own());
    try {
      co_await s.join();
    } catch (const std::invalid_argument& e) { seen += e.what(); }
    co_return seen;
  };
  CHECK(w.run(tries_all()) == lost().to_string() + lost().to_string() + "mine");
}

TEST_CASE("a stream's error is thrown at next() after its elements; the stages below are left without a throw",
          "[errors]") {
  test_world w;
  names log;
  auto reads = [](names& log) -> task<std::string> {
    std::string seen;
    {
      auto source = three_then_fails();
      auto s = passed_on(std::move(source), log);
      try {
        while (auto x = co_await s.next()) seen += std::to_string(*x);
      } catch (const error& e) { seen += e.what(); }
      try {
        auto again = co_await s.next();
        (void)again;
      } catch (const error& e) { seen += " again"; }
    }
    co_return seen;
  };
  CHECK(w.run(reads(log)) == "012" + lost().to_string() + " again");
  CHECK(log == names{"stage"});  // not "caught in a stage"
}

TEST_CASE("a user's stage catches the errors of awaited tasks and continues", "[errors]") {
  test_world w;
  struct stage {
    static stream<int> patient(may_suspend, stream<int> in) {
      while (auto x = co_await in.next()) {
        int n = *x;
        try {
          if (n % 2) {
            auto more = co_await fails();
            n += more;
          }
        } catch (const error&) { n = -n; }
        co_yield n;
      }
    }
    static stream<int> numbers() {
      for (int i = 0; i < 4; ++i) co_yield i;
    }
  };
  auto reads = []() -> task<std::string> {
    auto numbers = stage::numbers();
    auto s = stage::patient(may_suspend(), std::move(numbers));
    std::string seen;
    while (auto x = co_await s.next()) seen += std::to_string(*x) + " ";
    co_return seen;
  };
  CHECK(w.run(reads()) == "0 -1 2 -3 ");
}

TEST_CASE("a second next() while one is outstanding is refused, and the first is not disturbed", "[errors][misuse]") {
  test_world w;
  struct stage {
    static stream<int> slow(may_suspend) {
      for (int i = 0; i < 3; ++i) {
        co_await sleep_for(10ms);
        co_yield i;
      }
    }
  };
  auto reads = [](stream<int>& s) -> task<std::string> {
    std::string seen;
    while (auto x = co_await s.next()) seen += std::to_string(*x);
    co_return seen;
  };
  auto intrudes = [](stream<int>& s) -> task<std::string> {
    std::string seen;
    co_await sleep_for(1ms);
    try {
      auto x = co_await s.next();
      (void)x;
    } catch (const error& e) { seen = e.what(); }
    try {
      auto x = co_await s.try_next();
      (void)x;
    } catch (const error& e) { seen += e.what(); }
    try {
      (void)s.position();
    } catch (const error& e) { seen += e.what(); }
    co_return seen;
  };
  auto both = [](task<std::string> a, task<std::string> b) -> task<std::vector<std::string>> {
    auto all = co_await when_all(std::move(a), std::move(b));
    co_return std::vector<std::string>{std::get<0>(all), std::get<1>(all)};
  };
  auto s = stage::slow(may_suspend());
  auto seen = w.run(both(reads(s), intrudes(s)));
  CHECK(seen[0] == "012");
  CHECK_THAT(seen[1],
             Catch::StartsWith("failed_precondition: next() while another coroutine's request on this stream is "
                               "outstanding: a stream has one consumer at a time"));
  CHECK_THAT(seen[1], Catch::Contains("position() while"));
}

TEST_CASE("a stream that is moved away under its reader reports this to the reader", "[errors][misuse]") {
  test_world w;
  struct stage {
    static stream<int> slow(may_suspend) {
      co_await sleep_for(10ms);
      co_yield 1;
    }
  };
  auto moves = [](stream<int>& from, stream<int>& to) -> task<std::string> {
    co_await sleep_for(1ms);
    to = std::move(from);
    co_return "";
  };
  auto reads = [](stream<int>& s) -> task<std::string> {
    std::string seen;
    try {
      auto x = co_await s.next();
      (void)x;
    } catch (const error& e) { seen = e.what(); }
    co_return seen;
  };
  auto both = [](task<std::string> a, task<std::string> b) -> task<std::string> {
    auto all = co_await when_all(std::move(a), std::move(b));
    co_return std::get<0>(all);
  };
  auto s = stage::slow(may_suspend());
  stream<int> elsewhere;
  CHECK_THAT(w.run(both(reads(s), moves(s, elsewhere))),
             Catch::StartsWith("failed_precondition: this stream is empty"));
}

}  // namespace sluice::lib::errors_test
