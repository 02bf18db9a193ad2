// SPDX-License-Identifier: Apache-2.0
// What a checkpoint knows of a plan's functions, captured values and data: sluice/plan/identity.hpp
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::identity_test {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;

SLUICE_FUNCTION(known_to_checkpoints, [](int64 x) { return x + 1; });
int64 summed(int64 a, int64 b) { return a + b; }
SLUICE_FUNCTION(sum_of_two, &summed);

struct labelled {
  std::string text;
  std::vector<float> values;
  bool operator==(const labelled&) const = default;
};
std::string shown(const labelled& x) { return x.text; }

/// What going on with `later` from a checkpoint of `earlier` says; "ok" where it goes on.
template <class T> std::string going_on(const dataset<T>& earlier, const dataset<T>& later) {
  file_world w;
  outcome first = run(w.rt, earlier);
  REQUIRE(first.places.size() > 3);
  iterate_options o;
  o.from = first.places[2];
  return run(w.rt, later, o).message();
}
std::vector<std::string> warnings_of(const dataset<int64>& ds, bool save) {
  simulation world(1);
  runtime rt(world);
  auto pull = [](runtime& rt, dataset<int64> plan, bool save) -> task<std::vector<std::string>> {
    auto s = plan.iterate(rt);
    for (;;) {
      auto x = co_await s.next();
      if (!x) break;
      if (save) (void)s.position();
    }
    run_report report = report_of(s);
    co_return report.warnings;
  };
  return sync_wait(rt, pull(rt, ds, save));
}

auto above(int64 limit) {
  return [limit](const int64& x) { return x > limit; };
}
auto scaled(double by) {
  return [by](int64 x) { return static_cast<int64>(static_cast<double>(x) * by); };
}
auto looked_up(const std::vector<int64>* table) {
  return [table](int64 x) { return x + static_cast<int64>(table->size()); };
}

}  // namespace

TEST_CASE("a function with a name and a version is known to a checkpoint: another version or name is refused") {
  auto with = [](int version) {
    return range(20) | map(fn("parse", version, [](int64 x) { return 2 * x; })) | prefetch(2);
  };
  CHECK(going_on(with(2), with(2)) == "ok");
  CHECK(going_on(with(2), with(3)) ==
        "failed_precondition: the checkpoint was made by another plan: function `parse` has version 2 there, 3 here");
  auto renamed = range(20) | map(fn("decode", 2, [](int64 x) { return 2 * x; })) | prefetch(2);
  CHECK_THAT(going_on(with(2), renamed), Contains("function `parse` stands there, `decode` here"));
  auto nameless = range(20) | map([](int64 x) { return 2 * x; }) | prefetch(2);
  CHECK_THAT(going_on(with(2), nameless), Contains("function `parse` stands there, a function without a name here"));
}

TEST_CASE("every kind of function can be named in place") {
  struct stage {
    static stream<int64> same(stateless, stream<int64> in) {
      while (auto x = co_await in.next()) co_yield *x;
    }
    static stream<int64> three() {
      for (int64 i = 0; i < 9; ++i) co_yield i;
    }
  };
  auto ds = [](int v) {
    auto same = [](stream<int64> in) { return stage::same(stateless(), std::move(in)); };
    auto one = [](int64 x) { return range(x + 1, {.start = x}); };
    return generate(fn("three", 1, [] { return stage::three(); })) | transform(fn("same", 1, same)) |
           filter(fn("all", 1, [](const int64&) { return true; })) | flat_map(fn("one", 1, one)) |
           map(fn("later", v, [](int64 x) -> task<int64> { co_return x; }));
  };
  CHECK(going_on(ds(1), ds(1)) == "ok");
  CHECK_THAT(going_on(ds(1), ds(2)), Contains("function `later` has version 1 there, 2 here"));
  CHECK(warnings_of(ds(1), true).empty());
  CHECK_THAT(plan_text(*ds(1).plan()), Contains("map(later)"));
  CHECK_THAT(serialisable(*ds(1).plan()).to_string(), Contains("named in place"));
}

TEST_CASE("captured values are compared, with and without a name; incomparable ones are not") {
  CHECK(going_on(range(20) | filter(above(3)), range(20) | filter(above(3))) == "ok");
  CHECK(going_on(range(20) | filter(above(3)), range(20) | filter(above(4))) ==
        "failed_precondition: the checkpoint was made by another plan: the function of filter captured other values "
        "there");
  CHECK_THAT(going_on(range(20) | map(scaled(1.5)), range(20) | map(scaled(2.5))),
             Contains("the function of map captured"));
  CHECK_THAT(going_on(range(20) | map(fn("scale", 1, scaled(1.5))), range(20) | map(fn("scale", 1, scaled(2.5)))),
             Contains("function `scale` captured other values there"));
  // A pointer has another value in each process: it must not make a sound checkpoint unusable.
  auto table = std::make_unique<std::vector<int64>>(3), moved = std::make_unique<std::vector<int64>>(3);
  CHECK(going_on(range(20) | map(looked_up(table.get())), range(20) | map(looked_up(moved.get()))) == "ok");
  // Padding has no value.
  auto padded = [](char noise) {
    struct {
      char c;
      int64 n;
    } local;
    std::memset(&local, noise, sizeof local);
    local.c = 1;
    local.n = 2;
    return [local](int64 x) { return x + local.n; };
  };
  CHECK(going_on(range(20) | map(padded('a')), range(20) | map(padded('b'))) == "ok");
}

TEST_CASE("elements in memory are compared, where their type can be hashed") {
  auto numbers = [](int64 last) { return from_elements<int64>({1, 2, 3, 4, last}); };
  CHECK(going_on(numbers(5), numbers(5)) == "ok");
  CHECK(going_on(numbers(5), numbers(6)) ==
        "failed_precondition: the checkpoint was made by another plan: the elements that from_elements holds in memory "
        "are "
        "others there");
  auto structs = [](float last) {
    return from_range(std::vector<labelled>{{"a", {1}}, {"b", {}}, {"c", {2, 3}}, {"d", {last}}});
  };
  CHECK(going_on(structs(1), structs(1)) == "ok");
  CHECK_THAT(going_on(structs(1), structs(2)), Contains("are others there"));
  auto texts = [](std::string last) { return from_elements<std::string>({"a", "b", "c", std::move(last)}); };
  CHECK_THAT(going_on(texts("d"), texts("e")), Contains("are others there"));
  CHECK_THAT(going_on(texts("d"), texts("dd")), Contains("are others there"));
}

TEST_CASE("a run warns once of captured values that cannot be compared, and only where there is a checkpoint") {
  int factor = 3;
  char unit = 'm';
  auto padded = range(20) | map([factor, unit](int64 x) { return x * factor + unit; }) |
                filter([unit, factor](const int64& x) { return x != factor + unit; });
  CHECK(warnings_of(padded, false).empty());
  auto told = warnings_of(padded, true);
  REQUIRE(told.size() == 1);
  CHECK(told[0] ==
        "checkpoints of this plan cannot detect changes of the values that these functions captured: map, filter; "
        "capture plain "
        "values without padding between them, no pointers and no containers, or count up the version in "
        "fn(\"name\", 1, f) with what they capture");
  std::vector<int64> table(3);
  auto unclear = warnings_of(range(20) | map(fn("table", 1, looked_up(&table))), true);
  REQUIRE(unclear.size() == 1);
  CHECK_THAT(unclear[0], Contains("map(table)"));
}

TEST_CASE("a run does not warn of functions whose captured values are compared, because code is never compared") {
  CHECK(warnings_of(range(20) | map(known_to_checkpoints) | shuffle(5), true).empty());
  CHECK(warnings_of(from_elements<int64>({1, 2}), true).empty());
  CHECK(warnings_of(range(20) | map([](int64 x) { return x; }) | filter(above(3)), true).empty());
  CHECK(warnings_of(dataset<int64>(parse_plan("range(20) | map(sum_of_two(it, int64(2)))")), true).empty());
  // One function that cannot be compared is named alone.
  std::vector<int64> table(3);
  auto told = warnings_of(range(20) | map([](int64 x) { return x; }) | filter(above(3)) | map(looked_up(&table)), true);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0], Contains("captured: map; capture"));
}

TEST_CASE("a warning goes to the hook of the runtime, when a checkpoint is taken and when one is started from") {
  static std::vector<std::string> heard;
  heard.clear();
  runtime_options options;
  options.workers = 1;
  options.on_warning = [](std::string_view text) { heard.emplace_back(text); };
  runtime rt(options);
  std::vector<int64> table(3);
  auto ds = range(20) | map(looked_up(&table));
  outcome whole = run(rt, ds);
  CHECK(heard.size() == 1);
  CHECK(whole.report.warnings == heard);
  iterate_options o;
  o.from = whole.places[3];
  stream<int64> s = ds.iterate(rt, o);
  CHECK(heard.size() == 2);
  CHECK(report_of(s).warnings.size() == 1);
}

}  // namespace sluice::lib::identity_test
