// SPDX-License-Identifier: Apache-2.0
// sluice/op/batch.hpp with a timeout, src/engine/batching/timed_batches.hpp, src/ahead/signal_alarm.hpp
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"
#include "support/process_memory.hpp"
#include "support/trials/consumption.hpp"
#include "support/trials/resumed_everywhere.hpp"

namespace sluice::lib::batch_timeout_test {
namespace {

using namespace test;
using Catch::Contains;
using int64 = std::int64_t;
using std::chrono::milliseconds;

/// Requests that come at these times, in milliseconds.
stream<int64> requests(std::vector<int64> times) {
  int64 now = 0;
  for (int64 at : times) {
    co_await sleep_for(milliseconds(at - now));
    now = at;
    co_yield at;
  }
}
/// The same for each element of a run that is resumed: they come in steps of some milliseconds, drawn.
task<int64> comes_later(int64 x) {
  co_await sleep_for(milliseconds(mix(static_cast<std::uint64_t>(x)) % 9));
  co_return x;
}

/// Batches, each with the virtual time at which it was delivered.
task<std::string> batches_at(stream<batched<int64>> s, simulation& world) {
  std::string out;
  while (auto b = co_await s.next()) {
    if (!out.empty()) out += ' ';
    out += std::to_string(world.elapsed() / milliseconds(1)) + ":";
    print(type_of<batched<int64>>(), &*b, out);
  }
  co_return out;
}
std::string delivered(const std::vector<int64>& times, count rows, std::chrono::nanoseconds timeout) {
  simulation world(1);
  runtime rt(world, {.workers = 1});
  auto ds = generate([times] { return requests(times); }) | batch(rows, {.timeout = timeout});
  return sync_wait(rt, batches_at(ds.iterate(rt), world));
}

/// Takes some batches, then saves: their rows, and the checkpoint.
struct part_of_run {
  std::vector<int64s> batches;
  checkpoint place;
};
task<void> take_batches(runtime& rt, const dataset<batched<int64>>& ds, std::size_t most, checkpoint from,
                        part_of_run& part) {
  auto s = ds.iterate(rt, {.from = std::move(from)});
  while (part.batches.size() != most) {
    auto b = co_await s.next();
    if (!b) break;
    part.batches.emplace_back(b->values().begin(), b->values().end());
  }
  part.place = s.position();
  auto end = cleanup(std::move(s));
  co_await end;
}
part_of_run run_part(std::uint64_t seed, const dataset<batched<int64>>& ds, std::size_t most, checkpoint from = {}) {
  simulation world(seed);
  runtime rt(world, {.workers = 2});
  part_of_run part;
  sync_wait(rt, take_batches(rt, ds, most, std::move(from), part));
  return part;
}

int64s rows_of(const std::vector<int64s>& batches) {
  int64s all;
  for (const int64s& b : batches) all.insert(all.end(), b.begin(), b.end());
  return all;
}
int64s up_to(int64 from, int64 to) {
  int64s all;
  for (int64 x = from; x != to; ++x) all.push_back(x);
  return all;
}

}  // namespace

TEST_CASE("with a timeout a batch is delivered when it is full, or at the timeout after its first row") {
  CHECK(delivered({10, 20, 30, 40, 50, 60}, 3, milliseconds(100)) == "30:[10,20,30] 60:[40,50,60]");
  // The end of the input is waited for no longer than that: at 60 it is known.
  CHECK(delivered({10, 20, 30, 40, 50, 60}, 4, milliseconds(25)) == "35:[10,20,30] 60:[40,50,60]");
  CHECK(delivered({10, 500, 510}, 8, milliseconds(50)) == "60:[10] 510:[500,510]");
  CHECK(delivered({5, 5, 5, 5, 5}, 2, milliseconds(50)) == "5:[5,5] 5:[5,5] 5:[5]");
  CHECK(delivered({10, 20, 30, 40, 50, 200}, 4, milliseconds(25)) == "35:[10,20,30] 65:[40,50] 200:[200]");
  CHECK(delivered({}, 2, milliseconds(50)) == "");
  CHECK(delivered({10, 500, 900}, 2, std::chrono::nanoseconds::max()) == "500:[10,500] 900:[900]");
}

TEST_CASE("elements that arrive between requests are in the next batch") {
  simulation world(1);
  runtime rt(world, {.workers = 1});
  auto ds = generate([] { return requests({1, 2, 30, 31, 32, 33, 34}); }) | batch(4, {.timeout = milliseconds(5)});
  std::string got;
  auto slow = [](stream<batched<int64>> s, std::string& out) -> task<void> {
    while (auto b = co_await s.next()) {
      print(type_of<batched<int64>>(), &*b, out);
      co_await sleep_for(milliseconds(100));
    }
  };
  sync_wait(rt, slow(ds.iterate(rt), got));
  CHECK(got == "[1,2][30,31,32,33][34]");
}

TEST_CASE("a run with a timeout loses no row at a resume, and gives none twice") {
  auto ds = range(60) | map(comes_later) | batch(7, {.timeout = milliseconds(11)});
  for (std::uint64_t seed = 1; seed != 6; ++seed) {
    const part_of_run whole = run_part(seed, ds, 1000);
    CHECK(rows_of(whole.batches) == up_to(0, 60));
    bool some_are_short = false;
    for (std::size_t i = 0; i <= whole.batches.size(); ++i) {
      const part_of_run first = run_part(seed, ds, i);
      const int64s had = rows_of(first.batches);
      const part_of_run rest = run_part(seed + 100, ds, 1000, first.place);
      CAPTURE(seed, i);
      CHECK(rows_of(rest.batches) == up_to(static_cast<int64>(had.size()), 60));
      const part_of_run next = run_part(seed + 200, ds, 1, first.place);
      const part_of_run then = run_part(seed + 300, ds, 1000, next.place);
      CHECK(rows_of(then.batches) == up_to(static_cast<int64>(had.size() + rows_of(next.batches).size()), 60));
      if (i < whole.batches.size()) some_are_short |= whole.batches[i].size() < 7;
    }
    CHECK(some_are_short);
  }
}

TEST_CASE("batches since a mark are rebuilt unchanged, also behind a channel") {
  auto number = [](const batched<int64>& b) {
    int64 all = b.size();
    for (int64 x : b.values()) all = number_of(all, x);
    return all;
  };
  auto timed = range(90) | map(comes_later) | batch(5, {.timeout = milliseconds(7)});
  auto ds = timed | prefetch(3) | unbatch();
  for (std::uint64_t every : {0u, 7u}) resumes_everywhere(ds, up_to(0, 90), {.marks_every = every});
  CHECK(consume(timed | map(number), {}).complaint() == "");
}

TEST_CASE("a batch with a timeout holds its rows once, and twice their size while its columns grow") {
  if (testing::kSanitized) return;
  struct told {
    std::size_t peak_bytes = 0;
    int64 rows = 0;
  };
  constexpr int64 kRows = 4'000'000;
  auto one_batch = [] {
    told t;
    runtime rt({.workers = 1});
    auto all = range(kRows) | batch(kRows, {.timeout = std::chrono::hours(1)}) |
               map([](const batched<int64>& b) { return b.size(); });
    t.rows = consume_on(rt, all, {}).elements.at(0);
    return t;
  };
  const told t = testing::in_own_process<told>(one_batch);
  CHECK(t.rows == kRows);
  INFO(t.peak_bytes / 1e6 << " MB for rows of " << kRows * 8 / 1e6 << " MB");
  CHECK(t.peak_bytes < 2 * kRows * sizeof(int64));
}

TEST_CASE("an error of the input is met, and a stop ends the wait for rows") {
  auto failing = [](int64 x) -> task<int64> {
    co_await sleep_for(milliseconds(1));
    if (x == 5) throw_status(data_loss_error("no row"));
    co_return x;
  };
  consumed got = consume(range(9) | map(failing) | batch(4, {.timeout = milliseconds(100)}) | unbatch(), {});
  CHECK(got.elements == up_to(0, 4));
  CHECK(got.why.code() == status_code::data_loss);
  consumption stopping;
  stopping.stop_after = 4;
  consumed stopped =
      consume(range(1000) | map(comes_later) | batch(4, {.timeout = milliseconds(9)}) | unbatch(), stopping);
  CHECK(stopped.why.code() == status_code::cancelled);
}

}  // namespace sluice::lib::batch_timeout_test
