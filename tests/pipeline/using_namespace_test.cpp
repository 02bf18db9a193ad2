// SPDX-License-Identifier: Apache-2.0
// A program that says `using namespace sluice` keeps its own names: what users do not write is in sluice::lib.
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/channel.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/format/example.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/meta_store.hpp"
#include "sluice/io/network.hpp"
#include "sluice/io/simulated_file_system.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::using_namespace_test {

namespace {

// As a program's own globals: variables …
int stage = 1, count = 2, seed = 3, order = 4, block = 5, field = 6, mark = 7, record_count = 8, clock = 9,
    executor = 10, knob = 11, demand = 12, source = 13, integer = 14, byte_size = 15, options = 16, codec = 17,
    duration = 18, time_point = 19, kind = 20, member = 21, slab = 22, outlet = 23, node = 24, purpose = 25, file = 26,
    connection = 27, listener = 28, network = 29, position = 30, buffer = 31, combine = 32, place = 33, hold = 34,
    index = 35, loan = 36, scheduler = 37;
// … functions …
int draw(int n) { return n; }
int mix(int n) { return n; }
int derive(int n) { return n; }
int print(int n) { return n; }
int leave(int n) { return n; }
int unwind(int n) { return n; }
int stable_hash(int n) { return n; }
// … and types.
struct applied {};
struct element_place {};
struct reaper {};
struct composed {};
struct refused {};
struct preserving {};
struct timer_heap {};
struct file_info {};
struct decision_log {};
struct op_info {};

int sum_of_names() {
  applied a;
  element_place p;
  reaper r;
  composed c;
  refused f;
  preserving s;
  timer_heap h;
  file_info i;
  decision_log d;
  op_info o;
  (void)a, (void)p, (void)r, (void)c, (void)f, (void)s, (void)h, (void)i, (void)d, (void)o;
  return stage + count + seed + order + block + field + mark + record_count + clock + executor + knob + demand +
         source + integer + byte_size + options + codec + duration + time_point + kind + member + slab + outlet + node +
         purpose + file + connection + listener + network + position + buffer + combine + place + hold + index + loan +
         scheduler + draw(0) + mix(0) + derive(0) + print(0) + leave(0) + unwind(0) + stable_hash(0);
}

stream<std::int64_t> doubled(stateless, stream<std::int64_t> in) {
  while (auto x = co_await in.next()) co_yield *x * 2;
}
task<std::vector<std::int64_t>> drained(runtime& rt) {
  auto ds = range(10) | transform([](stream<std::int64_t> in) { return doubled(stateless(), std::move(in)); }) |
            map([](std::int64_t x, element_index i) { return x + static_cast<std::int64_t>(i); },
                {.parallelism = 2, .order = sloppy}) |
            shuffle(5, {.seed = 7}) | prefetch(autotune);
  std::vector<std::int64_t> all;
  auto s = ds.iterate(rt);
  while (auto x = co_await s.next()) all.push_back(*x);
  co_return all;
}

}  // namespace

TEST_CASE("a program that uses the namespace sluice has its own stage, count, seed, order, block and the like") {
  CHECK(sum_of_names() == 37 * 38 / 2);
  runtime rt({.workers = 1});
  CHECK(sync_wait(rt, drained(rt)).size() == 10);
  dataset<line> texts = lines("a.txt", {.compression = compression::gzip});
  CHECK(plan_text(*texts.plan()) == "lines(\"a.txt\", compression=gzip)");
}

}  // namespace sluice::lib::using_namespace_test
