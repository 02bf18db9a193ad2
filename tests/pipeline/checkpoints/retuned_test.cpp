// SPDX-License-Identifier: Apache-2.0
// Checkpoints outlive knobs, rewrites of the plan and versions of operators.
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/tunables.hpp"
#include "sluice/plan/rewrite.hpp"
#include "sluice/runtime/simulation.hpp"
#include "support/random/random_plan.hpp"
#include "support/tree_of.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::retuned_test {
namespace {

using int64 = std::int64_t;
using test::int64s;
using namespace testing;
using tunable_functions::tripled;

test::consumption saving(std::uint64_t seed) {
  test::consumption how;
  how.on_error = error_policy::skip;
  how.save = true;
  how.marks_every = 5;
  how.seed = seed;
  return how;
}

}  // namespace

TEST_CASE("every knob may change between save and resume: 480 changes") {
  int changes = 0;
  for (const tunable& t : tunables()) {
    for (int64 from : {1, 2, 4, 8}) {
      test::consumed whole = test::consume(t.at(from), saving(1));
      REQUIRE(whole.complaint() == "");
      REQUIRE(whole.elements.size() >= 45);
      for (int64 to : {1, 2, 4, 8}) {
        if (from == to) continue;
        for (std::size_t place : {0, 7, 23, 44}) {
          CAPTURE(t.name, from, to, place);
          test::consumption how = saving(static_cast<std::uint64_t>(place) + 2);
          how.from = whole.places[place];
          test::consumed rest = test::consume(t.at(to), how);
          int64s expected(whole.elements.begin() + static_cast<std::ptrdiff_t>(place), whole.elements.end());
          CHECK(rest.complaint() == "");
          CHECK((t.is_ordered() ? rest.elements == expected : sorted(rest.elements) == sorted(expected)));
          ++changes;
        }
      }
    }
  }
  CHECK(changes == 480);
}

TEST_CASE("a run of many lives may have other knobs in each: 1, 2, 1, 8, 3, 1") {
  for (const tunable& t : tunables()) {
    CAPTURE(t.name);
    int64s expected = test::consume(t.at(1), saving(1)).elements, got;
    checkpoint from;
    std::uint64_t life = 0;
    for (int64 setting : {1, 2, 1, 8, 3, 1}) {
      test::consumption how = saving(++life);
      how.from = from;
      how.elements_max = setting == 1 && life > 1 && life != 3 ? ~std::size_t{0} : 8;
      test::consumed part = test::consume(t.at(setting), how);
      CAPTURE(life, part.mistake, part.why.to_string());
      REQUIRE(part.complaint() == "");
      got.insert(got.end(), part.elements.begin(), part.elements.end());
      from = part.places.back();
    }
    CHECK(sorted(got) == sorted(expected));
  }
}

namespace {

node_ptr with_noops(const node_ptr& plan) {
  return rewrite(plan, [](const node_ptr& n) {
    if (n->op->name == "map") return (dataset<int64>(n) | take(-1) | prefetch(2)).plan();
    if (n->op->name == "shuffle") return (dataset<int64>(n) | map([](int64 x) { return x; })).plan();
    if (n->op->name == "range") return (dataset<int64>(n) | take(-1) | prefetch(1)).plan();
    return n;
  });
}

/// Channels that a rewrite inserts beside those of the plan.
node_ptr with_channels(const node_ptr& plan) {
  return rewrite(plan, [](const node_ptr& n) {
    if (n->op->name != "map" && n->op->name != "range") return n;
    return make_node({.op = &prefetch_op,
                      .arguments = arguments::of(prefetch_arguments{3}),
                      .inputs = {n},
                      .inserted_by = "with_channels"});
  });
}

node_ptr with_parallelism(const node_ptr& plan, int64 setting) {
  return rewrite(plan, [setting](const node_ptr& n) {
    if (n->op->name != "map") return n;
    node copy = *n;
    map_arguments a = n->as<map_arguments>();
    a.options.parallelism = setting;
    copy.arguments = arguments::of(std::move(a));
    return make_node(std::move(copy));
  });
}

/// "map | map" as one map, which keeps the upper one's site.
node_ptr with_maps_fused(const node_ptr& plan) {
  return rewrite(plan, [](const node_ptr& n) {
    if (n->op->name != "map" || n->inputs[0]->op->name != "map") return n;
    dataset<int64> below(n->inputs[0]->inputs[0]);
    node fused = *(below | map([](int64 x) { return tripled(tripled(x)); })).plan();
    fused.site = n->site;
    return make_node(std::move(fused));
  });
}

struct life {
  int64s elements;
  std::vector<checkpoint> places;
};

task<void> live(runtime& rt, const node_ptr& written, const node_ptr& run, const iterate_options& o, life& l) {
  stream<int64> s(open_rewritten_run(rt, written, run, o));
  l.places.push_back(s.position());
  while (auto x = co_await s.next()) {
    l.elements.push_back(*x);
    if (l.elements.size() % 4 == 0) test::tree_of(s).stage()->env->request_marks();
    l.places.push_back(s.position());
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

}  // namespace

TEST_CASE("a checkpoint fits its plan under any rewriting: stages that do nothing, channels, two maps as one") {
  simulation world(1);
  runtime rt(world, {.workers = 2});
  auto summed = [](int64& sum, int64 x) { return sum += x; };
  node_ptr plan = (range(40) | prefetch(2) | map(tripled) | map(tripled) | shuffle(7) | scan(summed) | batch(3) |
                   unbatch() | repeat(2))
                      .plan();
  const std::vector<node_ptr> forms = {plan,
                                       with_noops(plan),
                                       with_parallelism(plan, 8),
                                       with_maps_fused(plan),
                                       with_noops(with_maps_fused(with_parallelism(plan, 2))),
                                       with_channels(plan),
                                       with_channels(with_parallelism(plan, 2))};
  iterate_options o;
  o.seed = 5;
  life first;
  sync_wait(rt, live(rt, plan, plan, o, first));
  REQUIRE(first.elements.size() == 80);
  for (std::size_t saved_by = 0; saved_by != forms.size(); ++saved_by) {
    life saved;
    sync_wait(rt, live(rt, plan, forms[saved_by], o, saved));
    CAPTURE(saved_by);
    CHECK(saved.elements == first.elements);
    for (std::size_t resumed_by = 0; resumed_by != forms.size(); ++resumed_by) {
      for (std::size_t place : {0, 1, 13, 38, 41, 80}) {
        CAPTURE(resumed_by, place);
        iterate_options resumes;
        resumes.from = saved.places[place];
        life rest;
        sync_wait(rt, live(rt, plan, forms[resumed_by], resumes, rest));
        CHECK(rest.elements ==
              int64s(first.elements.begin() + static_cast<std::ptrdiff_t>(place), first.elements.end()));
      }
    }
  }
}

namespace {

/// While it lives, take is an operator of another version.
class take_of_version {
 public:
  take_of_version(std::uint32_t version, std::uint32_t oldest)
      : take_(*find_op("take")), table_(operators().begin(), operators().end()) {
    take_.lowering.state_version = version;
    take_.lowering.state_version_oldest = oldest;
    for (const op_info*& op : table_)
      if (op->name == "take") op = &take_;
    scope_.emplace(std::span<const op_info* const>(table_));
  }

 private:
  op_info take_;
  std::vector<const op_info*> table_;
  std::optional<scoped_operators> scope_;
};

test::consumed ten_of_thirty(const checkpoint& from) {
  test::consumption how;
  how.save = true;
  how.from = from;
  return test::consume(dataset<int64>(parse_plan("range(30) | take(10)")), how);  // by name: of the version in force
}

}  // namespace

TEST_CASE("a stage's state of another version is converted or refused, and the error has the version") {
  checkpoint of_0 = ten_of_thirty({}).places[4], of_2;
  {
    take_of_version two(2, 0);
    of_2 = ten_of_thirty({}).places[4];
    CHECK(ten_of_thirty(of_0).elements == int64s{4, 5, 6, 7, 8, 9});
    CHECK(ten_of_thirty(of_2).elements == int64s{4, 5, 6, 7, 8, 9});
  }
  {
    take_of_version three(3, 3);
    for (const checkpoint& old : {of_0, of_2})
      CHECK_THAT(ten_of_thirty(old).mistake, Catch::Contains("reads versions 3 to 3"));
  }
  std::string why = ten_of_thirty(of_2).mistake;
  CHECK_THAT(why, Catch::Contains("take"));
  CHECK_THAT(why, Catch::Contains("in version 2"));
}

TEST_CASE("scan and reduce continue from every place, after skips and bad elements") {
  auto picky = [](int64& sum, int64 x) {
    sum += x;
    if (x % 10 == 3) throw std::runtime_error("a three");
    return sum;
  };
  auto summed = [](int64& sum, int64 x) { sum += x; };
  int64s sums;
  for (int64 x = 0, sum = 0; x != 40; ++x)
    if (x % 10 != 3) sums.push_back(sum += x);
  auto scanned = range(40) | scan(picky);
  int64s behind(sums.begin() + 7, sums.end());
  const std::vector<std::pair<dataset<int64>, int64s>> plans = {
      {scanned, sums}, {scanned | skip(7), behind}, {range(6) | reduce(summed) | repeat(4), {15, 15, 15, 15}}};
  for (const auto& [ds, expected] : plans) {
    test::consumption how;
    how.on_error = error_policy::skip;
    how.marks_every = 3;
    how.save = true;
    test::consumed whole = test::consume(ds, how);
    CHECK(whole.elements == expected);
    for (std::size_t at = 0; at <= expected.size(); ++at) {
      CAPTURE(at);
      how.from = whole.places.at(at);
      CHECK(test::consume(ds, how).elements ==
            int64s(expected.begin() + static_cast<std::ptrdiff_t>(at), expected.end()));
    }
  }
}

}  // namespace sluice::lib::retuned_test
