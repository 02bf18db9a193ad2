// SPDX-License-Identifier: Apache-2.0
// One suite for both metadata stores; then what only each of them can show.
#include "sluice/io/meta_store.hpp"

#include <catch2/catch.hpp>

#include <fstream>

#include "io/temporary_folder.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/memory_meta_store.hpp"
#include "sluice/io/simulated_meta_store.hpp"
#include "sluice/io/sqlite_meta_store.hpp"
#include "sluice/runtime/runtime.hpp"

using namespace sluice::lib;
using namespace std::chrono_literals;

namespace {

struct simulated_world {
  simulation world{20261121};
  runtime rt{world};
  simulated_meta_store memory{world};
  meta_store& store() { return memory; }
};
struct memory_world {
  runtime rt{runtime_options{.workers = 2, .memory_budget_bytes = 1 << 20, .io = {}, .seed = 1}};
  std::unique_ptr<meta_store> memory = make_memory_meta_store();
  meta_store& store() { return *memory; }
};
#if SLUICE_HAVE_SQLITE
struct real_world {
  testing::temporary_folder folder;
  runtime rt{
      runtime_options{.workers = 2, .memory_budget_bytes = 1 << 20, .io = {}, .blocking_threads_max = 4, .seed = 1}};
  std::unique_ptr<meta_store> file = open_sqlite_meta_store(folder.path("meta.db"), rt.blocking_calls()).value();
  meta_store& store() { return *file; }
};
#define SLUICE_META_WORLDS simulated_world, memory_world, real_world
#else
#define SLUICE_META_WORLDS simulated_world, memory_world
#endif

using version = std::optional<std::uint64_t>;

task<version> write_one(meta_store& s, std::string key, std::string value, std::uint64_t expected) {
  std::vector<meta_guard> guards;
  guards.push_back(meta_guard(key, expected));
  std::vector<meta_write> writes;
  writes.push_back(meta_write::put(key, std::move(value)));
  auto v = co_await s.commit(std::move(guards), std::move(writes));
  co_return v;
}
task<> add_one(meta_store& s, int times) {
  for (int done = 0; done < times;) {
    std::string key = "/counter";
    auto e = co_await s.get(key);
    int n = e ? std::stoi(e->value) : 0;
    std::uint64_t expected = e ? e->version : 0;
    auto v = co_await write_one(s, key, std::to_string(n + 1), expected);
    if (v) ++done;
  }
}
task<std::string> count_together(meta_store& s, int tasks, int times) {
  environment* env = co_await this_environment();
  scope all(*env);
  for (int i = 0; i < tasks; ++i) all.spawn(add_one(s, times));
  co_await all.join();
  std::string key = "/counter";
  auto e = co_await s.get(key);
  co_return e->value;
}
task<> write_later(meta_store& s, duration d) {
  co_await sleep_for(d);
  std::string key = "k", value = "v";
  auto v = co_await write_one(s, key, value, 0);
  (void)v;
}
task<std::uint64_t> wait_for_write(meta_store& s) {
  environment* env = co_await this_environment();
  scope both(*env);
  auto before = co_await s.revision();
  both.spawn(write_later(s, 20ms));
  auto waiting = s.changed(before, 1ms);
  auto now = co_await waiting.as_result();
  co_await both.join();
  co_return now.ok() ? *now - before : 0;
}

}  // namespace

TEMPLATE_TEST_CASE("committed data are read back, with the version that wrote them", "[meta_store]",
                   SLUICE_META_WORLDS) {
  TestType w;
  meta_store& s = w.store();
  CHECK_FALSE(sync_wait(w.rt, s.get("a")));
  std::string odd("\0\xff\n", 3);
  auto v = sync_wait(w.rt, write_one(s, "a", odd, 0));
  REQUIRE(v == version(1));
  auto e = sync_wait(w.rt, s.get("a"));
  REQUIRE(e);
  CHECK(e->value == odd);
  CHECK(e->version == 1);
  CHECK(sync_wait(w.rt, write_one(s, "a", "", 1)) == version(2));
  CHECK(sync_wait(w.rt, s.get("a"))->value.empty());
  CHECK(sync_wait(w.rt, s.revision()) == 2);
}

TEMPLATE_TEST_CASE("a guard that does not hold leaves everything as it was", "[meta_store]", SLUICE_META_WORLDS) {
  TestType w;
  meta_store& s = w.store();
  REQUIRE(sync_wait(w.rt, write_one(s, "a", "1", 0)));
  CHECK_FALSE(sync_wait(w.rt, write_one(s, "a", "2", 0)));
  CHECK_FALSE(sync_wait(w.rt, write_one(s, "a", "2", 7)));
  std::vector<meta_guard> guards{meta_guard("a", 1), meta_guard("b", 3)};
  std::vector<meta_write> writes{meta_write::put("a", "2"), meta_write::put("c", "3")};
  CHECK_FALSE(sync_wait(w.rt, s.commit(guards, writes)));
  CHECK(sync_wait(w.rt, s.get("a"))->value == "1");
  CHECK_FALSE(sync_wait(w.rt, s.get("c")));
  CHECK(sync_wait(w.rt, s.revision()) == 1);
}

TEMPLATE_TEST_CASE("one commit writes and removes several keys at one version", "[meta_store]", SLUICE_META_WORLDS) {
  TestType w;
  meta_store& s = w.store();
  sync_wait(w.rt,
            s.commit({}, {meta_write::put("/x/1", "a"), meta_write::put("/x/2", "b"), meta_write::put("/y", "c")}));
  CHECK(sync_wait(w.rt, s.commit({meta_guard("/x/1", 1)},
                                 {meta_write::remove("/x/1"), meta_write::put("/x/3", "d")})) == version(2));
  auto found = sync_wait(w.rt, s.list("/x/"));
  REQUIRE(found.size() == 2);
  CHECK(found[0].key == "/x/2");
  CHECK(found[0].version == 1);
  CHECK(found[1].key == "/x/3");
  CHECK(found[1].version == 2);
  CHECK(sync_wait(w.rt, s.list("")).size() == 3);
  CHECK(sync_wait(w.rt, s.list("/z")).empty());
  CHECK(sync_wait(w.rt, s.commit({meta_guard("/y", 1)}, {})) == version(2));
}

TEMPLATE_TEST_CASE("guarded increments from many tasks are all counted", "[meta_store]", SLUICE_META_WORLDS) {
  TestType w;
  CHECK(sync_wait(w.rt, count_together(w.store(), 4, 10)) == "40");
}

TEMPLATE_TEST_CASE("every waiter sees a change", "[meta_store]", SLUICE_META_WORLDS) {
  TestType w;
  CHECK(sync_wait(w.rt, wait_for_write(w.store())) == 1);
}

namespace {

/// One call after the other, in the order of the class, each with so much time to answer.
task<> call_each(meta_store& s, duration patience, std::vector<status>& seen, std::vector<duration>& took) {
  environment* env = co_await this_environment();
  std::string key = "a";
  for (int i = 0; i != 4; ++i) {
    time_point begun = env->time->now(), until = begun + patience;
    if (i == 0) {
      auto getting = s.get(key, until);
      auto r = co_await getting.as_result();
      seen.push_back(r.why());
    } else if (i == 1) {
      auto listing = s.list(key, until);
      auto r = co_await listing.as_result();
      seen.push_back(r.why());
    } else if (i == 2) {
      std::vector<meta_guard> guards;
      std::vector<meta_write> writes;
      writes.push_back(meta_write::put(key, "late"));
      auto committing = s.commit(std::move(guards), std::move(writes), until);
      auto r = co_await committing.as_result();
      seen.push_back(r.why());
    } else {
      auto asking = s.revision(until);
      auto r = co_await asking.as_result();
      seen.push_back(r.why());
    }
    took.push_back(env->time->now() - begun);
  }
}
task<std::string> wait_for_a_change(meta_store& s, duration patience) {
  environment* env = co_await this_environment();
  auto waiting = s.changed(0, 1ms, env->time->now() + patience);
  auto revision = co_await waiting.as_result();
  co_return revision.why().to_string();
}

}  // namespace

TEMPLATE_TEST_CASE("a call of the store whose deadline has passed fails at once, and a wait for a change at its own",
                   "[meta_store]", SLUICE_META_WORLDS) {
  TestType w;
  std::vector<status> seen;
  std::vector<duration> took;
  sync_wait(w.rt, call_each(w.store(), duration(0), seen, took));
  REQUIRE(seen.size() == 4);
  for (const status& why : seen)
    CHECK(why.to_string() == "deadline_exceeded: metadata store: no answer until the deadline");
  CHECK(sync_wait(w.rt, w.store().revision()) == 0);
  CHECK(sync_wait(w.rt, wait_for_a_change(w.store(), 40ms)) ==
        "deadline_exceeded: metadata store: no answer until the deadline");
  REQUIRE(sync_wait(w.rt, write_one(w.store(), "a", "1", 0)));
  CHECK(sync_wait(w.rt, wait_for_a_change(w.store(), 60s)) == "ok");
}

namespace {

/// In virtual time: every call of a store that is silent ends after its second, and what it has begun goes on alone.
template <class Answer> void check_silent(runtime& rt, meta_store& s, Answer answer_again) {
  std::vector<status> seen;
  std::vector<duration> took;
  sync_wait(rt, call_each(s, 1s, seen, took));
  REQUIRE(seen.size() == 4);
  for (std::size_t i = 0; i != 4; ++i) {
    CHECK(seen[i].to_string() == "deadline_exceeded: metadata store: no answer until the deadline");
    CHECK(took[i] == duration(1s));
  }
  answer_again();
  auto e = sync_wait(rt, s.get("a"));
  REQUIRE(e);  // the commit nobody had an answer to
  CHECK(e->value == "late");
}

}  // namespace

TEST_CASE("a simulated store that does not answer is given up at the deadline; a commit may have happened",
          "[meta_store][simulation]") {
  simulated_world w;
  w.memory.set_silent(true);
  check_silent(w.rt, w.memory, [&] { w.memory.set_silent(false); });
}

TEST_CASE("every call of a simulated store that is cut off is unavailable, and nothing is written",
          "[meta_store][simulation]") {
  simulated_world w;
  REQUIRE(sync_wait(w.rt, write_one(w.memory, "a", "1", 0)));
  w.memory.set_reachable(false);
  std::vector<status> seen;
  std::vector<duration> took;
  sync_wait(w.rt, call_each(w.memory, 1s, seen, took));
  REQUIRE(seen.size() == 4);
  for (const status& why : seen) CHECK(why.to_string() == "unavailable: the metadata store does not answer");
  w.memory.set_reachable(true);
  CHECK(sync_wait(w.rt, w.memory.get("a"))->value == "1");
}

#if SLUICE_HAVE_SQLITE
TEST_CASE("slow calls of an SQLite store are abandoned at the deadline; they continue, and a commit happens",
          "[meta_store][simulation]") {
  testing::temporary_folder folder;
  simulation world(5);
  runtime rt(world);
  world.delay_blocking_calls([] { return duration(20s); });
  auto store = open_sqlite_meta_store(folder.path("meta.db"), rt.blocking_calls()).value();
  check_silent(rt, *store, [] {});
  // Dropped while its calls are on their way: they keep what they need.
  auto committing = [](meta_store& s) -> task<std::string> {
    environment* env = co_await this_environment();
    std::vector<meta_guard> guards;
    std::vector<meta_write> writes;
    writes.push_back(meta_write::put("a", "later still"));
    auto call = s.commit(std::move(guards), std::move(writes), env->time->now() + 1s);
    auto r = co_await call.as_result();
    co_return r.why().to_string();
  };
  CHECK(sync_wait(rt, committing(*store)) == "deadline_exceeded: metadata store: no answer until the deadline");
  store.reset();
  auto rest = []() -> task<> { co_await sleep_for(duration(60s)); };
  sync_wait(rt, rest());
  auto again = open_sqlite_meta_store(folder.path("meta.db"), rt.blocking_calls()).value();
  CHECK(sync_wait(rt, again->get("a"))->value == "later still");
}
#endif

TEST_CASE("a failed commit of the simulated store may have happened, and both cases occur",
          "[meta_store][simulation]") {
  int happened = 0, lost = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    simulation world(seed);
    runtime rt(world);
    simulated_meta_store s(world, {.fail_chance = 0.5});
    status why = sync_wait_result(rt.root(), write_one(s, "a", "1", 0)).why();
    if (why.ok()) continue;
    CHECK(why.code() == status_code::unavailable);
    for (;;) {
      auto e = sync_wait_result(rt.root(), s.get("a"));
      if (!e.ok()) continue;
      ++(*e ? happened : lost);
      break;
    }
  }
  CHECK(happened > 10);
  CHECK(lost > 10);
}

#if SLUICE_HAVE_SQLITE
TEST_CASE("the SQLite store can be opened again after it was closed, also twice", "[meta_store]") {
  real_world w;
  REQUIRE(sync_wait(w.rt, write_one(w.store(), "a", "1", 0)));
  auto other = open_sqlite_meta_store(w.folder.path("meta.db"), w.rt.blocking_calls()).value();
  CHECK(sync_wait(w.rt, other->get("a"))->value == "1");
  REQUIRE(sync_wait(w.rt, write_one(*other, "a", "2", 1)));
  CHECK_FALSE(sync_wait(w.rt, write_one(w.store(), "a", "3", 1)));
  w.file.reset();
  other.reset();
  auto again = open_sqlite_meta_store(w.folder.path("meta.db"), w.rt.blocking_calls()).value();
  CHECK(sync_wait(w.rt, again->get("a"))->value == "2");
}

TEST_CASE("a file that is no database, or cannot be made, is an error that names it", "[meta_store]") {
  real_world w;
  std::string path = w.folder.path("noise.db");
  std::ofstream(path) << std::string(5000, 'x');
  auto bad = open_sqlite_meta_store(path, w.rt.blocking_calls());
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.why().code() == status_code::data_loss);
  CHECK_THAT(bad.why().to_string(), Catch::Contains(path));
  auto nowhere = open_sqlite_meta_store(w.folder.path("missing/meta.db"), w.rt.blocking_calls());
  CHECK(nowhere.why().code() == status_code::unavailable);
}
#endif
