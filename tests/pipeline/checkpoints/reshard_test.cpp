// SPDX-License-Identifier: Apache-2.0
// sluice/pipeline/reshard.hpp
#include "sluice/pipeline/reshard.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>

#include "op/shard/shard_rest.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::reshard_test {
namespace {

using texts = std::vector<std::string>;

task<texts> pulled(any_stream* s, std::size_t most) {
  texts out;
  while (out.size() < most) {
    block b = co_await s->next_block({0, static_cast<std::uint32_t>(std::min<std::size_t>(most - out.size(), 1000))});
    if (!b) break;
    for (std::uint32_t i = 0; i != b.size(); ++i) print(b.type(), b.at(i), out.emplace_back());
  }
  co_return out;
}

/// The numbers in batches, or by themselves.
texts numbers_in(const texts& elements) {
  texts out;
  for (const std::string& e : elements) {
    std::string one;
    for (char c : e + ",") {
      if (c == '[' || c == ']') continue;
      if (c != ',') one += c;
      else if (!one.empty()) out.push_back(std::exchange(one, {}));
    }
  }
  return out;
}

struct consumer {
  any_stream stream;
  texts got;
};
std::vector<consumer> consumers_of(runtime& rt, const node_ptr& plan, std::int64_t n,
                                   const std::vector<checkpoint>& from) {
  std::vector<consumer> all;
  for (std::int64_t i = 0; i != n; ++i) {
    iterate_options o;
    o.seed = 5;
    if (!from.empty()) o.from = from[static_cast<std::size_t>(i)];
    all.push_back({open_run(rt, with_shard(plan, n, i), o), {}});
  }
  return all;
}
void pull(runtime& rt, consumer& c, std::size_t most) {
  const texts more = sync_wait(rt, pulled(&c.stream, most));
  c.got.insert(c.got.end(), more.begin(), more.end());
}
std::vector<checkpoint> positions_of(std::vector<consumer>& all) {
  std::vector<checkpoint> out;
  for (consumer& c : all) out.push_back(c.stream.position());
  return out;
}
texts sorted(texts all) {
  std::sort(all.begin(), all.end());
  return all;
}
/// One element of each list, alternately, from the list `first` on.
texts alternately(const std::vector<consumer>& all, std::size_t first) {
  texts out;
  std::vector<std::size_t> at(all.size(), 0);
  for (std::size_t i = first;; i = (i + 1) % all.size()) {
    if (at[i] == all[i].got.size()) return out;
    out.push_back(all[i].got[at[i]++]);
  }
}

const std::vector<std::string> kPlans{
    "range(400) | shard(1, 0)",
    "range(400) | shuffle(50, seed=3) | shard(1, 0) | map(it * 2)",
    "range(60) | interleave([it, it + 100, it + 200, it + 300], cycle_length=3) | shard(1, 0) | filter(it % 7 != 2)",
    "range(400) | filter(it % 3 != 1) | shard(1, 0) | map(it + 1) | batch(4)",
    "sample_from_datasets([range(200), range(1000, 1150)], weights=[0.6, 0.4], seed=2) | shard(1, 0) | prefetch(3)",
    "range(400) | shuffle(30) | map(it + random(10)) | shard(1, 0) | batch(3) | prefetch(2)",
    "range(100) | shuffle(9, seed=1) | repeat(4) | prefetch(2) | map(it * 3) | shard(1, 0)",
};
constexpr std::int64_t kCounts[] = {1, 2, 3, 5, 8};

TEST_CASE("the consumers of another number deliver exactly the rest") {
  runtime rt({.workers = 1});
  std::mt19937_64 random(7);
  for (const std::string& text : kPlans) {
    const node_ptr plan = parse_plan(text);
    any_stream whole_run = open_run(rt, plan, {.seed = 5});
    const texts whole = sorted(numbers_in(sync_wait(rt, pulled(&whole_run, SIZE_MAX))));
    for (std::int64_t n : kCounts)
      for (std::int64_t m : kCounts) {
        CAPTURE(text, n, m);
        std::vector<consumer> old = consumers_of(rt, plan, n, {});
        texts all;
        for (consumer& c : old) {
          pull(rt, c, random() % 30);
          for (const std::string& x : numbers_in(c.got)) all.push_back(x);
        }
        std::vector<consumer> next =
            consumers_of(rt, plan, m, reshard(rt, with_shard(plan, n, n / 2), positions_of(old), m));
        for (consumer& c : next) pull(rt, c, random() % 9);
        // The number changes again, while the consumers are at different places.
        std::vector<consumer> last =
            consumers_of(rt, plan, n, reshard(rt, with_shard(plan, m, 0), positions_of(next), n));
        for (consumer& c : next)
          for (const std::string& x : numbers_in(c.got)) all.push_back(x);
        for (consumer& c : last) {
          pull(rt, c, 5);
          any_stream resumed = open_run(rt, with_shard(plan, n, &c - last.data()), {.from = c.stream.position()});
          const texts rest = sync_wait(rt, pulled(&resumed, SIZE_MAX));
          c.got.insert(c.got.end(), rest.begin(), rest.end());
          for (const std::string& x : numbers_in(c.got)) all.push_back(x);
        }
        REQUIRE(sorted(all) == whole);
      }
  }
}

TEST_CASE("in global order the elements of any number of consumers are one sequence") {
  runtime rt({.workers = 1});
  const node_ptr plan = parse_plan("range(300) | shuffle(40, seed=3) | shard(1, 0) | map(it * 2)");
  any_stream whole_run = open_run(rt, plan, {.seed = 5});
  const texts whole = sync_wait(rt, pulled(&whole_run, SIZE_MAX));
  for (std::int64_t n : kCounts)
    for (std::int64_t m : kCounts) {
      CAPTURE(n, m);
      std::vector<consumer> old = consumers_of(rt, plan, n, {});
      for (consumer& c : old) pull(rt, c, 11 + (&c == old.data()));
      texts all = alternately(old, 0);
      REQUIRE(all.size() == static_cast<std::size_t>(11 * n + 1));
      std::vector<consumer> next =
          consumers_of(rt, plan, m, reshard(rt, with_shard(plan, n, 0), positions_of(old), m, {.global_order = true}));
      for (consumer& c : next) pull(rt, c, SIZE_MAX);
      const texts rest = alternately(next, 0);
      all.insert(all.end(), rest.begin(), rest.end());
      REQUIRE(all == whole);
    }
}

TEST_CASE("consumers that are at different places have no common order") {
  runtime rt({.workers = 1});
  const node_ptr plan = parse_plan("range(300) | shard(1, 0)");
  std::vector<consumer> old = consumers_of(rt, plan, 2, {});
  pull(rt, old[0], 10);
  pull(rt, old[1], 12);
  CHECK_THROWS_WITH(reshard(rt, with_shard(plan, 2, 0), positions_of(old), 3, {.global_order = true}),
                    Catch::Contains("have delivered 10, 12 elements"));
}

TEST_CASE("reshard refuses what it cannot divide, and names it") {
  runtime rt({.workers = 1});
  const auto refusal = [&rt](const std::string& text) {
    const node_ptr plan = parse_plan(text);
    std::vector<consumer> old = consumers_of(rt, plan, 2, {});
    for (consumer& c : old) pull(rt, c, 3);
    try {
      reshard(rt, with_shard(plan, 2, 0), positions_of(old), 3);
    } catch (const error& e) { return std::string(e.why().message()); }
    return std::string();
  };
  CHECK_THAT(refusal("range(90) | shard(1, 0) | shuffle(9, seed=1)"),
             Catch::Contains("shuffle(9, seed=1) has elements or a state"));
  CHECK_THAT(refusal("range(90) | shard(1, 0) | enumerate"), Catch::Contains("enumerate has elements or a state"));
  CHECK_THAT(refusal("range(90) | shard(1, 0) | map(it + random(9))"), Catch::Contains("depends on the numbers"));
  CHECK_THAT(refusal("range(90) | shard(1, 0) | flat_map([it, it])"), Catch::Contains("flat_map"));
  CHECK_THAT(refusal("range(90) | shard(1, 0) | batch(4, timeout=1s)"), Catch::Contains("ends batches by time"));
  CHECK(refusal("range(90) | shard(1, 0) | map(it + 1) | batch(4)").empty());
}

TEST_CASE("reshard needs the checkpoint of each consumer of one plan") {
  runtime rt({.workers = 1});
  const node_ptr plan = with_shard(parse_plan("range(90) | shard(1, 0)"), 2, 0);
  std::vector<consumer> two = consumers_of(rt, plan, 2, {});
  const std::vector<checkpoint> at = positions_of(two);
  CHECK_THROWS_WITH(reshard(rt, plan, {at[0]}, 3), Catch::Contains("shard(2, 1) is missing"));
  CHECK_THROWS_WITH(reshard(rt, plan, {at[0], at[0]}, 3), Catch::Contains("two checkpoints are of shard(2, 0)"));
  CHECK_THROWS_WITH(reshard(rt, with_shard(plan, 3, 0), at, 3), Catch::Contains("not of this plan"));
  CHECK_THROWS_WITH(reshard(rt, parse_plan("range(9)"), at, 3), Catch::Contains("no shard"));
  CHECK_THROWS_WITH(reshard(rt, parse_plan("range(9) | shard(2, 0) | shard(2, 0)"), at, 3),
                    Catch::Contains("several shards"));
  CHECK_THROWS_WITH(reshard(rt, plan, at, 0), Catch::Contains("1 to 65,536"));
}

TEST_CASE("the rest of shards is found without looking at the delivered beginning") {
  shard_rest rest;
  REQUIRE(rest.add({2, {std::uint64_t{1} << 40, (std::uint64_t{1} << 40) + 3}}).ok());
  CHECK(rest.next(0, 1, 0) == std::uint64_t{1} << 41);
  CHECK(rest.next((std::uint64_t{1} << 41) + 1, 1, 0) == (std::uint64_t{1} << 41) + 2);
  CHECK(rest.count(0, (std::uint64_t{1} << 41) + 8, 1, 0) == 5);
  CHECK(!rest.add({2, {0, std::uint64_t{1} << 30}}).ok());
  position_writer w;
  rest.save(w);
  const std::string bytes = w.bytes();
  for (std::size_t i = 0; i != bytes.size(); ++i) {
    position_reader cut(std::string_view(bytes).substr(0, i));
    shard_rest other;
    other.load(cut);
    CHECK((i == 0 || !cut.ok()));
  }
}

}  // namespace
}  // namespace sluice::lib::reshard_test
