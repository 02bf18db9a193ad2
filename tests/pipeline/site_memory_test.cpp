// SPDX-License-Identifier: Apache-2.0
// The memory and the channels of each stage, as a run's report shows them.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::site_memory_test {
namespace {

using namespace testing;
using int64 = std::int64_t;

template <class T> task<> take_some(stream<T>& s, int n) {
  for (int i = 0; i != n; ++i) co_await s.next();
}

template <class T> task<> drain(stream<T>& s) {
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
  }
}

/// The stage of that name.
template <class T> site_report stage_of(const stream<T>& s, std::string_view name) {
  for (const site_report& site : report_of(s).sites)
    if (site.name == name) return site;
  FAIL("no stage of the name " << name);
  return {};
}

std::size_t used_bytes(const site_report& s) {
  std::size_t sum = 0;
  for (const ledger_line_report& l : s.memory) sum += l.used_bytes;
  return sum;
}

/// What the ledger shows for all stages of that name.
ledger_line_report line_of(runtime& rt, std::string_view stage) {
  for (const ledger_line_report& l : rt.ledger().report().lines)
    if (l.stage == stage) return l;
  return {};
}

/// Lets the tasks that work ahead do all that they may.
task<> let_work() {
  auto wait = sleep_for(std::chrono::seconds(1));
  co_await wait;
}

task<> take_one(stream<record>& s, std::vector<record>& to) {
  auto first = co_await s.next();
  to.push_back(*first);
}

int64 same(int64 x) { return x; }
std::string text_of(int64 x) { return std::string(100, static_cast<char>('a' + x % 26)); }

}  // namespace

TEST_CASE("two runs of one plan in one runtime report their memory separately, and the ledger the sum") {
  runtime rt({.workers = 1});
  auto shuffled = range(1'000'000) | shuffle(1'000, {.seed = 1});
  auto one = shuffled.iterate(rt), other = shuffled.iterate(rt);
  CHECK(stage_of(one, "shuffle").memory.empty());
  sync_wait(rt, take_some(one, 1));
  const site_report filled = stage_of(one, "shuffle");
  REQUIRE(filled.memory.size() == 1);
  CHECK(filled.memory[0].held_for == purpose::shuffle);
  CHECK(filled.memory[0].stage == "shuffle");
  CHECK(filled.memory[0].used_bytes >= 1'000 * 16);
  CHECK(filled.memory[0].peak_bytes >= filled.memory[0].used_bytes);
  CHECK(filled.memory[0].holders == 1);
  CHECK(stage_of(other, "shuffle").memory.empty());
  CHECK(stage_of(one, "range").memory.empty());
  CHECK(line_of(rt, "shuffle").used_bytes == used_bytes(filled));

  sync_wait(rt, take_some(other, 1));
  CHECK(used_bytes(stage_of(one, "shuffle")) == used_bytes(filled));
  CHECK(line_of(rt, "shuffle").used_bytes == used_bytes(filled) + used_bytes(stage_of(other, "shuffle")));
  CHECK(line_of(rt, "shuffle").holders == 2);

  const std::size_t peak = line_of(rt, "shuffle").peak_bytes;
  sync_wait(rt, cleanup(std::move(one)));
  CHECK(line_of(rt, "shuffle").used_bytes == used_bytes(stage_of(other, "shuffle")));
  sync_wait(rt, cleanup(std::move(other)));
  CHECK(line_of(rt, "shuffle").used_bytes == 0);
  CHECK(line_of(rt, "shuffle").peak_bytes == peak);
}

TEST_CASE("two stages of one name report their memory separately") {
  runtime rt({.workers = 1});
  auto s = (range(1'000'000) | shuffle(100, {.seed = 1}) | map(same) | shuffle(2'000, {.seed = 2})).iterate(rt);
  sync_wait(rt, take_some(s, 1));
  std::vector<std::size_t> bytes;
  for (const site_report& site : report_of(s).sites)
    if (site.name == "shuffle") bytes.push_back(used_bytes(site));
  REQUIRE(bytes.size() == 2);
  CHECK(bytes[0] >= 2'000 * 16);
  CHECK(bytes[1] >= 100 * 16);
  CHECK(bytes[1] < bytes[0] / 2);
  CHECK(line_of(rt, "shuffle").used_bytes == bytes[0] + bytes[1]);
  sync_wait(rt, cleanup(std::move(s)));
}

TEST_CASE("records that outlive their run stay charged") {
  temporary_folder folder;
  std::string path = folder.write("a", framed(some_records(100, 150)));
  runtime rt({.workers = 1});
  std::vector<record> kept;
  {
    auto s = tfrecord(path).iterate(rt);
    sync_wait(rt, take_one(s, kept));
    const site_report reader = stage_of(s, "tfrecord");
    REQUIRE(reader.memory.size() == 1);
    CHECK(reader.memory[0].held_for == purpose::read_ahead);
    CHECK(reader.memory[0].used_bytes >= 100 * 150);
    sync_wait(rt, cleanup(std::move(s)));
  }
  CHECK(line_of(rt, "tfrecord").used_bytes >= 100 * 150);
  kept.clear();
  CHECK(line_of(rt, "tfrecord").used_bytes == 0);
}

TEST_CASE("a channel reports what it contains, and its limits") {
  simulation world(1);
  world.decide_sharing([] { return true; });
  runtime rt(world, {.workers = 2});
  auto s = (range(1'000'000) | map(text_of) | prefetch(40)).iterate(rt);
  site_report before = stage_of(s, "prefetch");
  REQUIRE(before.channels.size() == 1);
  CHECK(before.channels[0].name == "prefetch");
  CHECK(before.channels[0].channels == 0);
  sync_wait(rt, take_some(s, 100));
  sync_wait(rt, let_work());
  const site_report filled = stage_of(s, "prefetch");
  REQUIRE(filled.channels.size() == 1);
  const channel_report& c = filled.channels[0];
  CHECK(c.channels == 1);
  CHECK(c.elements > 0);
  CHECK(c.elements <= 40);
  CHECK(c.elements_max == 40);
  CHECK(c.blocks > 0);
  CHECK(c.blocks <= c.blocks_max);
  CHECK(c.bytes >= c.elements * 100);
  CHECK(c.bytes == used_bytes(filled));
  CHECK(stage_of(s, "map").channels.empty());
  sync_wait(rt, cleanup(std::move(s)));
}

TEST_CASE("the channels of an interleave's inner plans report their sum") {
  simulation world(1);
  world.decide_sharing([] { return true; });
  runtime rt(world, {.workers = 2});
  auto inner = [](int64 x) { return range(x + 100'000, {.start = x}); };
  auto s = (range(100) | interleave(inner, {.cycle_length = 5, .parallelism = 3})).iterate(rt);
  sync_wait(rt, take_some(s, 20));
  sync_wait(rt, let_work());
  const site_report filled = stage_of(s, "interleave");
  std::size_t inner_channels = 0, outer_channels = 0;
  for (const channel_report& c : filled.channels) {
    (c.name == "interleave's inputs" ? outer_channels : inner_channels) += c.channels;
    CHECK(c.blocks <= c.blocks_max);
  }
  CHECK(inner_channels == 5);
  CHECK(outer_channels == 1);
  sync_wait(rt, cleanup(std::move(s)));
}

TEST_CASE("channels that have ended are not reported as open") {
  runtime rt({.workers = 2});
  auto s = (range(10'000) | map(text_of, {.parallelism = 4}) | prefetch(10)).iterate(rt);
  sync_wait(rt, drain(s));
  for (std::string_view name : {"map", "prefetch"}) {
    const site_report site = stage_of(s, name);
    REQUIRE(site.channels.size() == 1);
    CHECK(site.channels[0].elements == 0);
    CHECK(used_bytes(site) == 0);
    CHECK(std::any_of(site.memory.begin(), site.memory.end(), [](auto& l) { return l.peak_bytes != 0; }));
  }
  sync_wait(rt, cleanup(std::move(s)));
}

}  // namespace sluice::lib::site_memory_test
