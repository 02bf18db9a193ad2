// SPDX-License-Identifier: Apache-2.0
// What a run's report says that each stage has done.
#include <chrono>
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::site_counts_test {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using int64 = std::int64_t;
using reports = std::map<std::string, site_report>;

reports by_name(const run_report& r) {
  reports all;
  for (const site_report& s : r.sites) all[s.name] = s;
  return all;
}

template <class T> task<> take_some(stream<T>& s, int n) {
  for (int i = 0; i != n; ++i) co_await s.next();
}

template <class T> task<> drain(stream<T>& s) {
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
  }
}

/// Of a whole run.
template <class T> reports reports_of(runtime& rt, const dataset<T>& ds, const iterate_options& o = {}) {
  auto s = ds.iterate(rt, o);
  sync_wait(rt, drain(s));
  reports all = by_name(report_of(s));
  sync_wait(rt, cleanup(std::move(s)));
  return all;
}

int64 same(int64 x) { return x; }
bool even(int64 x) { return x % 2 == 0; }

task<int64> after_5_ms(int64 x) {
  auto wait = sleep_for(5ms);
  co_await wait;
  co_return x;
}

dataset<int64> hundred_from(int64 x) { return range(x * 100 + 100, {.start = x * 100}) | filter(even); }

/// Times are sampled: a block in 32 or more stands for the others.
bool is_near(duration sampled, duration exact) { return std::chrono::abs(sampled - exact) <= exact / 50; }

}  // namespace

TEST_CASE("each stage counts its delivered and skipped elements") {
  runtime rt({.workers = 2});
  auto all = reports_of(rt, range(1000) | map(same) | filter(even) | skip(10) | batch(7) | prefetch(3));
  REQUIRE(all.size() == 6);
  CHECK(all["range"].elements == 1000);
  CHECK(all["map"].elements == 1000);
  CHECK(all["filter"].elements == 490);
  CHECK(all["filter"].passed == 10);
  CHECK(all["skip"].elements == 490);
  CHECK(all["batch"].elements == 70);
  CHECK(all["prefetch"].elements == 70);
  CHECK(all["map"].blocks > 0);
  CHECK(all["map"].blocks <= 1000);
  auto skipped = reports_of(rt, range(1000) | map(same) | skip(990));
  CHECK(skipped["map"].elements == 10);
  CHECK(skipped["map"].passed == 990);
  CHECK(skipped["range"].elements == 10);
  CHECK(skipped["range"].passed == 990);
}

TEST_CASE("the report lists a stage before its inputs, and the stages of inner plans once") {
  runtime rt({.workers = 1});
  for (int64 parallelism : {1, 3}) {
    auto ds =
        range(8) | interleave(hundred_from, {.cycle_length = 3, .parallelism = parallelism}) | repeat(2) | prefetch();
    auto s = ds.iterate(rt);
    sync_wait(rt, drain(s));
    std::vector<site_report> sites = report_of(s).sites;
    std::vector<std::string> names;
    for (const site_report& r : sites) names.push_back((r.is_inner ? "  " : "") + r.name);
    CHECK(names == std::vector<std::string>{"prefetch", "repeat", "interleave", "range", "  filter", "  range"});
    CHECK(sites[1].elements == 800);
    CHECK(sites[2].elements == 800);
    CHECK(sites[4].elements == 800);  // sixteen streams
    CHECK(sites[5].elements == 1600);
    sync_wait(rt, cleanup(std::move(s)));
  }
}

TEST_CASE("each of many stages in inner plans has one record") {
  runtime rt({.workers = 1});
  auto with_many_stages = [](int64) {
    dataset<int64> ds = range(3);
    for (int i = 0; i != 40; ++i) ds = ds | map(same);
    return ds;
  };
  auto s = (range(5) | flat_map(with_many_stages)).iterate(rt);
  sync_wait(rt, drain(s));
  std::vector<site_report> sites = report_of(s).sites;
  CHECK(sites.size() == 43);
  for (std::size_t i = 2; i < sites.size(); ++i) CHECK(sites[i].elements == 15);
  sync_wait(rt, cleanup(std::move(s)));
}

TEST_CASE("a report in the midst of a run has counted all work of the consumer's requests") {
  runtime rt({.workers = 1});
  auto s = (range(1'000'000) | map(same) | batch(10)).iterate(rt);
  sync_wait(rt, take_some(s, 3));
  reports all = by_name(report_of(s));
  CHECK(all["batch"].elements >= 3);
  CHECK(all["map"].elements >= 30);
  CHECK(all["map"].elements <= 20'000);
  sync_wait(rt, cleanup(std::move(s)));
}

TEST_CASE("waiting and calls are counted in the run's own time") {
  simulation world(1);
  runtime rt(world, {.workers = 2});
  auto all = reports_of(rt, range(20) | map(after_5_ms, {.parallelism = 4}) | prefetch(2));
  CHECK(all["map"].busy >= 100ms);  // 20 calls of 5 ms
  CHECK(all["map"].busy < 101ms);
  CHECK(all["map"].waits > 0);
  CHECK(all["map"].waited >= 20ms);  // four at a time
  CHECK(all["map"].waited <= 26ms);
  CHECK(all["prefetch"].waited >= 20ms);
  CHECK(all["prefetch"].busy == 0ms);
  CHECK(all["range"].busy == 0ms);
}

// The engine puts a reader between an interleave and what it reads ahead of: a stage without counts of its own.
TEST_CASE("the waits of a stage without counts are not added to the stage after it") {
  simulation world(1);
  runtime rt(world, {.workers = 2});
  for (int64 parallelism : {1, 2, 3}) {
    auto slow = range(200) | map(after_5_ms);
    auto all =
        reports_of(rt, slow | interleave(hundred_from, {.cycle_length = 3, .parallelism = parallelism}) | batch(50));
    CAPTURE(parallelism);
    CHECK(all["interleave"].elements == 10'000);
    CHECK(all["interleave"].busy == 0ms);
    CHECK(all["batch"].busy == 0ms);
  }
}

TEST_CASE("a stage's own time excludes that of its inputs, directly and behind a channel") {
  for (bool channel : {false, true}) {
    simulation world(1);
    runtime rt(world, {.workers = 2});
    auto below = range(4'000) | map([&world](int64 x) {
                   world.spend(10us);
                   return x;
                 });
    auto ds = (channel ? below | prefetch() : below) | filter([&world](int64 x) {
                world.spend(1us);
                return even(x);
              }) |
              batch(8);
    auto all = reports_of(rt, ds);
    CAPTURE(channel);
    CHECK(is_near(all["map"].busy, 4'000 * 10us));
    CHECK(is_near(all["filter"].busy, 4'000 * 1us));
    CHECK(all["range"].busy == 0us);
    CHECK(all["batch"].busy == 0us);
    if (channel) CHECK(all["prefetch"].busy == 0us);
  }
}

TEST_CASE("bytes that are read and made are counted") {
  temporary_folder folder;
  texts records = some_records(5'000, 150);
  std::string bytes = framed(records);
  std::string path = folder.write("a", bytes);
  runtime rt({.workers = 2});
  auto all = reports_of(rt, tfrecord(path) | map([](const record& r) { return std::string(r.view()); }) | prefetch(16));
  CHECK(all["tfrecord"].elements == 5'000);
  CHECK(all["tfrecord"].read_bytes == bytes.size());
  CHECK(all["map"].bytes > 5'000 * 150);
  CHECK(all["map"].bytes < 5'000 * 300);
}

}  // namespace sluice::lib::site_counts_test
