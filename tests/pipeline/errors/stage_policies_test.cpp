// SPDX-License-Identifier: Apache-2.0
// What a bad element does, where the run, an ignore_errors and the stage itself each may say it; and how many a stage may drop.
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/failing_functions.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/plan/on_error.hpp"
#include "sluice/plan/text.hpp"
#include "support/budget.hpp"

namespace sluice::lib::stage_policies_test {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;
constexpr error_policy kSkip = error_policy::skip, kStop = error_policy::stop;

iterate_options under(error_policy p, checkpoint from = {}) {
  iterate_options o;
  o.on_error = p;
  o.from = std::move(from);
  return o;
}

/// "map 2, tfrecord 1": the stages' own errors.
std::string by_stage(const run_report& report) {
  std::string text;
  for (const stage_errors& s : report.errors_by_stage)
    if (s.errors) text += (text.empty() ? "" : ", ") + s.stage + " " + std::to_string(s.errors);
  return text;
}

texts from_on(const texts& all, std::size_t i) { return {all.begin() + static_cast<std::ptrdiff_t>(i), all.end()}; }

/// Every place of the run is one that the rest can be had from, and from some places of that one, too.
template <class T>
void check_resumes(runtime& rt, const dataset<T>& ds, error_policy p, const outcome& whole, bool is_ordered = true) {
  for (std::size_t i = 0; i < whole.places.size(); i += is_ordered ? 1 : 3) {
    CAPTURE(i);
    outcome rest = run(rt, ds, under(p, whole.places[i]));
    CHECK(rest.why.ok() == whole.why.ok());
    if (is_ordered) CHECK(rest.elements == from_on(whole.elements, i));
    else CHECK_THAT(rest.elements, Catch::UnorderedEquals(from_on(whole.elements, i)));
    if (i % 10 || !is_ordered) continue;
    for (std::size_t k = 0; k < rest.places.size(); k += 7)
      CHECK(run(rt, ds, under(p, rest.places[k])).elements == from_on(whole.elements, i + k));
  }
}

const texts kGood = without(numbers(0, 60), {7, 14, 21, 28, 35, 42, 49, 56});
int64 not_five(int64 x) {
  if (x % 11 == 5) throw std::runtime_error("five is out");
  return x;
}
stream<int64> twice(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 n = throws(*x);
    co_yield n;
  }
}
auto as_stage = [](stream<int64> in) { return twice(stateless(), std::move(in)); };
dataset<int64> ten_good(int64 x) { return range(10 * x + 10, {.start = 10 * x}) | map(throws); }
dataset<int64> ten_good_or_end(int64 x) { return range(10 * x + 10, {.start = 10 * x}) | on_error(kStop, map(throws)); }

}  // namespace

TEST_CASE("a stage's own policy decides, then the nearest ignore_errors downstream, then the run's") {
  for (error_policy of_run : {kStop, kSkip})
    for (bool is_ignored : {false, true})
      for (std::optional<error_policy> own :
           {std::optional<error_policy>(), std::optional(kStop), std::optional(kSkip)})
        for (int64 parallelism : {1, 3}) {
          dataset<int64> ds = range(20);
          auto failing = map(throws, {.parallelism = parallelism});
          ds = own ? ds | on_error(*own, failing) : ds | failing;
          if (is_ignored) ds = ds | ignore_errors();
          bool skips = own ? *own == kSkip : is_ignored || of_run == kSkip;
          CAPTURE(plan_text(*ds.plan()), of_run == kSkip, skips);
          file_world w;
          outcome got = run(w.rt, ds, under(of_run));
          CHECK(got.why.ok() == skips);
          CHECK(got.elements == (skips ? without(numbers(0, 20), {7, 14}) : numbers(0, 7)));
          CHECK(got.report.errors == (skips ? 2 : 0));
          CHECK(by_stage(got.report) == (skips ? "map 2" : ""));
        }
}

TEST_CASE("ignore_errors decides for the stages upstream of it, up to the next one, and not for those downstream") {
  file_world w;
  outcome got = run(w.rt, range(20) | map(throws) | ignore_errors() | map(not_five));
  CHECK(got.message() == "unknown: map at element 5: five is out");
  CHECK(got.elements == numbers(0, 5));
  CHECK(got.report.errors == 0);

  got = run(w.rt, range(20) | map(throws) | ignore_errors({.errors_max = 9}) | map(not_five) |
                      ignore_errors({.errors_max = 8}));
  CHECK(got.why.ok());
  REQUIRE(got.report.errors_by_stage.size() == 4);
  std::vector<std::string> told;
  for (const stage_errors& s : got.report.errors_by_stage)
    told.push_back(s.stage + " " + std::to_string(s.errors) + " " + std::to_string(s.errors_in_all) +
                   (s.errors_max == ~std::uint64_t{0} ? "" : " of " + std::to_string(s.errors_max)));
  // Each before its inputs, as report_of(s).sites has them.
  CHECK(told == std::vector<std::string>{"ignore_errors 0 2 of 8", "map 2 2", "ignore_errors 0 2 of 9", "map 2 2"});

  // A stage that says it itself is no matter of theirs.
  got = run(w.rt, range(20) | on_error(kStop, map(throws)) | map(not_five) | ignore_errors());
  CHECK(got.message() == "unknown: map at element 7: seven does not please me");
  got = run(w.rt, range(60) | on_error(kSkip, map(throws)) | ignore_errors({.errors_max = 0}));
  CHECK(got.elements == kGood);
}

TEST_CASE(
    "inner plans follow the stage that opens them; a repeated input and several inputs follow the stages downstream") {
  file_world w;
  auto six = range(6);
  const texts stopped = numbers(0, 7);
  struct way {
    dataset<int64> ds;
    texts expected;
  };
  const std::vector<way> ways = {
      {six | flat_map(ten_good), stopped},
      {six | on_error(kSkip, flat_map(ten_good)), kGood},
      {six | flat_map(ten_good) | ignore_errors(), kGood},
      {six | on_error(kStop, flat_map(ten_good)) | ignore_errors(), stopped},
      {six | on_error(kSkip, flat_map(ten_good_or_end)) | ignore_errors(), stopped},
      {six | on_error(kSkip, interleave(ten_good, {.cycle_length = 1, .parallelism = 2})), kGood},
      {six | interleave(ten_good, {.cycle_length = 1, .parallelism = 1}) | ignore_errors() | prefetch(4), kGood},
      {range(1) | flat_map([](int64) { return range(6) | flat_map(ten_good); }) | ignore_errors(), kGood},
      {range(1) | on_error(kSkip, flat_map([](int64) { return range(6) | on_error(kStop, flat_map(ten_good)); })),
       stopped},
      {six | flat_map([](int64 x) { return ten_good(x) | ignore_errors(); }), kGood},
      {range(60) | map(throws) | repeat(1) | ignore_errors(), kGood},
      {range(60) | map(throws) | on_error(kSkip, repeat(1)), stopped},  // the stage that fails is no part of repeat
      {range(60) | map(throws) | on_error(kSkip, take(60)), stopped},
      {concatenate(range(30) | map(throws), range(60, {.start = 30}) | map(throws)) | ignore_errors(), kGood},
      {concatenate(range(30) | on_error(kSkip, map(throws)), range(60, {.start = 30}) | on_error(kSkip, map(throws))),
       kGood},
  };
  for (const way& each : ways) {
    CAPTURE(plan_text(*each.ds.plan()));
    outcome got = run(w.rt, each.ds);
    CAPTURE(got.message());
    CHECK(got.elements == each.expected);
    CHECK(got.why.ok() == (each.expected == kGood));
    if (got.why.ok()) CHECK(got.report.errors == 8);
    check_resumes(w.rt, each.ds, kStop, got);
  }
}

TEST_CASE("stages that stop between stages that drop: all ways agree, and every place resumes") {
  auto same = [](int64 x) { return x; };
  const std::vector<dataset<int64>> ways = {
      range(60) | on_error(kSkip, map(throws)) | map(same),
      range(60) | on_error(kSkip, map(throws)) | map(same, {.parallelism = 3}),
      range(60) | on_error(kSkip, map(throws, {.parallelism = 3})) | map(same),
      range(60) | on_error(kSkip, map(throws, {.parallelism = 3})) | map(same, {.parallelism = 2}) | prefetch(3),
      range(60) | on_error(kSkip, map(fails_later, {.parallelism = 4})) | filter([](int64) { return true; }),
      range(60) | map(same) | on_error(kSkip, filter(throws_as_predicate)) | map(same),
      range(60) | on_error(kSkip, transform(as_stage)) | map(same),
      range(60) | on_error(kSkip, map(throws)) | transform(passes_on),
      range(60) | on_error(kSkip, map(throws)) | transform(as_stage) | prefetch(2),
      range(60) | map(returns_an_error) | ignore_errors() | batch(4) | unbatch() | prefetch(2),
      range(60) | on_error(kSkip, map(throws)) | interleave(one, {.cycle_length = 1, .parallelism = 2}),
      range(60) | on_error(kSkip, flat_map(opens_or_throws)) | map(same, {.parallelism = 2}),
  };
  for (std::size_t i = 0; i != ways.size(); ++i) {
    const auto& ds = ways[i];
    CAPTURE(i, plan_text(*ds.plan()));
    file_world w(i + 1);
    outcome got = run(w.rt, ds);
    CAPTURE(got.message());
    CHECK(got.why.ok());
    CHECK(got.elements == kGood);
    CHECK(got.report.errors == 8);
    check_resumes(w.rt, ds, kStop, got);
    for (unsigned workers : {1u, 2u}) {
      runtime rt({.workers = workers});
      outcome real = run(rt, ds);
      CHECK(real.elements == kGood);
      CHECK(real.report.errors == 8);
      CHECK(run(rt, ds, under(kStop, real.places[30])).elements == from_on(kGood, 30));
    }
  }
}

TEST_CASE("sloppy stages drop by their own policy, and their places lose and repeat nothing") {
  auto same = [](int64 x) { return x; };
  const std::vector<dataset<int64>> ways = {
      range(60) | on_error(kSkip, map(fails_later, {.parallelism = 4, .order = sloppy})) | map(same),
      range(60) | on_error(kSkip, map(throws)) | map(same, {.parallelism = 4, .order = sloppy}),
      range(60) | on_error(kSkip, interleave(opens_or_throws, {.cycle_length = 4, .parallelism = 3, .order = sloppy})),
      range(6) | on_error(kSkip, interleave(ten_good, {.cycle_length = 3, .parallelism = 3, .order = sloppy})) |
          map(same),
      range(6) | interleave(ten_good, {.cycle_length = 3, .order = sloppy}) | ignore_errors(),
  };
  for (std::size_t i = 0; i != ways.size(); ++i) {
    const auto& ds = ways[i];
    CAPTURE(i, plan_text(*ds.plan()));
    file_world w(i + 1);
    outcome got = run(w.rt, ds);
    CHECK(got.why.ok());
    CHECK_THAT(got.elements, Catch::UnorderedEquals(kGood));
    CHECK(got.report.errors == 8);
    check_resumes(w.rt, ds, kStop, got, false);
    for (unsigned workers : {1u, 2u}) {
      runtime rt({.workers = workers});
      outcome real = run(rt, ds);
      CHECK_THAT(real.elements, Catch::UnorderedEquals(kGood));
      CHECK(real.report.errors == 8);
      CHECK_THAT(run(rt, ds, under(kStop, real.places[30])).elements,
                 Catch::UnorderedEquals(from_on(real.elements, 30)));
    }
  }
}

TEST_CASE("texts, records and elements that cannot be copied are dropped as numbers are") {
  auto as_text = [](int64 x) { return std::string(30, 'x') + std::to_string(throws(x)); };
  auto owned = [](int64 x) { return std::make_unique<int64>(throws(x)); };
  auto kept = [](std::unique_ptr<int64> x) { return x; };
  file_world w;
  texts long_good;
  for (const std::string& x : kGood) long_good.push_back(std::string(30, 'x') + x);
  for (int64 parallelism : {1, 3}) {
    CAPTURE(parallelism);
    auto texts_of = range(60) | on_error(kSkip, map(as_text, {.parallelism = parallelism})) | prefetch(2);
    outcome got = run(w.rt, texts_of);
    CHECK(got.elements == long_good);
    check_resumes(w.rt, texts_of, kStop, got);
    auto boxes = range(60) | map(owned, {.parallelism = parallelism}) | ignore_errors() | map(kept);
    got = run(w.rt, boxes);
    CHECK(got.elements == kGood);
    check_resumes(w.rt, boxes, kStop, got);
  }
}

TEST_CASE("a damaged record that its source drops is reported with file, offset, record and stage") {
  texts records = some_records(40);
  std::string bytes = framed(records);
  bytes = flipped(bytes, frame_of(records, 5) + kTfrecordHeaderBytes);
  bytes = flipped(bytes, frame_of(records, 20) + 1);
  file_world w;
  w.files->put("a", bytes);
  w.files->put("list", "a\n");
  auto sound = [](const record& r) -> result<std::string> {
    if (r.view() == "r33") return invalid_argument_error("33 is not allowed");
    return std::string(r.view());
  };
  const std::vector<dataset<std::string>> ways = {
      on_error(kSkip, tfrecord("a")) | map(sound),
      lines("list") | interleave(on_error(kSkip, tfrecord), {.cycle_length = 2}) | map(sound),
      lines("list") | on_error(kSkip, interleave(tfrecord, {.cycle_length = 3, .parallelism = 3})) | map(sound),
      lines("list") | interleave(tfrecord, {.cycle_length = 3, .parallelism = 3}) | prefetch(2) | ignore_errors() |
          map(sound, {.parallelism = 2}),
  };
  for (const auto& ds : ways) {
    CAPTURE(plan_text(*ds.plan()));
    outcome got = run(w.rt, ds);
    CHECK(got.elements == without(first_of(records, 33), {5, 20}));
    CHECK_THAT(got.message(), Contains("map at element 31: 33 is not allowed"));  // which stops: 31 are in front of it
    REQUIRE(got.report.first_errors.size() == 2);
    for (std::size_t i = 0; i != 2; ++i) {
      const provenance& at = got.report.first_errors[i].where();
      std::size_t damaged = i == 0 ? 5 : 20;
      CHECK(at.file == "a");
      CHECK(at.offset_bytes == frame_of(records, damaged));
      CHECK(at.record_index == damaged);
      CHECK(at.stage == "tfrecord");
    }
    CHECK(by_stage(got.report) == "tfrecord 2");
    check_resumes(w.rt, ds, kStop, got);
  }
}

namespace {

/// What a run gave, and what it had counted for each stage by then.
task<void> count_into(runtime& rt, dataset<int64> ds, texts& told) {
  auto s = ds.iterate(rt);
  for (;;) {
    auto x = co_await s.try_next();
    run_report report = report_of(s);
    std::string counted = " (" + by_stage(report) + ", all " + std::to_string(report.errors) + ")";
    told.push_back((x ? shown(*x) : x.why.to_string()) + counted);
    if (!x) break;
  }
  auto end = cleanup(std::move(s));
  co_await end;
}
texts counted(runtime& rt, const dataset<int64>& ds) {
  texts told;
  sync_wait(rt, count_into(rt, ds, told));
  return told;
}

/// Each way counts as the first one does, which has no channel.
void check_same_counts(const std::vector<dataset<int64>>& ways) {
  file_world calm;
  const texts right = counted(calm.rt, ways[0]);
  for (const auto& ds : ways) {
    CAPTURE(plan_text(*ds.plan()));
    for (std::uint64_t seed = 1, seeds = test::cases(10); seed <= seeds; ++seed) {
      CAPTURE(seed);
      file_world w(seed);
      CHECK(counted(w.rt, ds) == right);
    }
    for (unsigned workers : {1u, 2u}) {
      runtime rt({.workers = workers});
      CHECK(counted(rt, ds) == right);
    }
  }
}

}  // namespace

TEST_CASE("a stage's errors_max ends the run at the same element for any work ahead, and counts each stage alone") {
  file_world w;
  outcome got = run(w.rt, range(60) | on_error(kSkip, map(throws), {.errors_max = 2}));
  CHECK(got.elements == without(numbers(0, 21), {7, 14}));
  CHECK(got.message() ==
        "unknown: map at element 21: seven does not please me; one more than errors_max=2 of map, which on_error=skip, "
        "errors_max=… in the plan raises");
  CHECK(got.report.errors == 2);
  REQUIRE(got.report.errors_by_stage.size() == 1);
  CHECK(got.report.errors_by_stage[0].errors_in_all == 2);
  for (error_limit limit : {error_limit(0), error_limit(1), error_limit(2), error_limit(5), error_limit()}) {
    CAPTURE(limit.value);
    auto limited = [&](int64 first, int64 second) {
      return range(100) | on_error(kSkip, map(throws, {.parallelism = first}), {.errors_max = limit}) |
             on_error(kSkip, map(not_five, {.parallelism = second}));
    };
    check_same_counts({limited(1, 1), limited(2, 1), limited(8, 3), limited(1, 2) | prefetch(50)});
  }
}

TEST_CASE("the errors_max of an ignore_errors, or of a stage with inner plans, is one for all that it decides for") {
  auto both = [](int64 parallelism, std::int64_t limit) {
    return range(100) | map(throws, {.parallelism = parallelism}) | map(not_five) |
           ignore_errors({.errors_max = limit});
  };
  for (std::int64_t limit : {0, 1, 3, 8})
    check_same_counts({both(1, limit), both(4, limit), both(2, limit) | prefetch(9)});
  file_world w;
  outcome got = run(w.rt, both(1, 3));  // 5, 7, 14, 16
  CHECK(got.message() ==
        "unknown: map at element 14: five is out; one more than errors_max=3 of ignore_errors, which "
        "ignore_errors(errors_max=…) in the plan raises");
  auto inner = [](int64 parallelism, std::int64_t limit) {
    return range(6) | on_error(kSkip, interleave(ten_good, {.cycle_length = 1, .parallelism = parallelism}),
                               {.errors_max = limit});
  };
  for (std::int64_t limit : {0, 2, 7, 8})
    check_same_counts({inner(1, limit), inner(3, limit), inner(1, limit) | prefetch(3)});
  CHECK_THAT(run(w.rt, inner(1, 2)).message(),
             Contains("unknown: map at element 1: seven does not please me; one more than errors_max=2 of interleave"));
}

TEST_CASE("endless bad elements stop at their stage's errors_max behind any channel") {
  auto never = [](int64) -> result<int64> { return invalid_argument_error("never"); };
  const int64 many = int64{1} << 50;
  const std::vector<dataset<int64>> ways = {
      range(many) | on_error(kSkip, map(never), {.errors_max = 2000}),
      range(many) | on_error(kSkip, map(never), {.errors_max = 2000}) | prefetch(2),
      range(many) | on_error(kSkip, map(never, {.parallelism = 3}), {.errors_max = 2000}) | prefetch(2),
      range(many) | map(never) | ignore_errors({.errors_max = 2000}) | prefetch(2),
      range(1) | on_error(kSkip,
                          interleave(
                              [](int64) {
                                return range(int64{1} << 50) |
                                       map([](int64) -> result<int64> { return invalid_argument_error("never"); });
                              },
                              {.cycle_length = 2, .parallelism = 2}),
                          {.errors_max = 2000}),
  };
  for (const auto& ds : ways) {
    CAPTURE(plan_text(*ds.plan()));
    runtime rt({.workers = 2});
    outcome got = run(rt, ds);
    CHECK(got.elements.empty());
    CHECK(got.why.code() == status_code::invalid_argument);
    CHECK(got.report.errors == 2000);
  }
}

TEST_CASE("of more bad elements in a row than are kept apart, each still counts for its stage") {
  auto even = [](int64 x) -> result<int64> {
    if (x % 2 == 0 && x != 5000) return invalid_argument_error("even");
    return x;
  };
  auto odd = [](int64 x) -> result<int64> {
    if (x % 2 == 1) return invalid_argument_error("odd");
    return x;
  };
  auto ds = range(5001) | on_error(kSkip, map(fn("even", 1, even))) | on_error(kSkip, map(fn("odd", 1, odd)));
  for (const auto& each : {ds, ds | prefetch(2)}) {
    CAPTURE(plan_text(*each.plan()));
    runtime rt({.workers = 2});
    outcome got = run(rt, each);
    CHECK(got.elements == texts{"5000"});
    CHECK(got.report.errors == 5000);
    CHECK_THAT(by_stage(got.report), Contains("map(even) 2500") && Contains("map(odd) 2500"));
  }
}

TEST_CASE("a checkpoint fits the plan with its policies; a limit may differ, and a policy of the run, too") {
  auto limited = [](std::int64_t limit) { return range(60) | on_error(kSkip, map(throws), {.errors_max = limit}); };
  file_world w;
  outcome stopped = run(w.rt, limited(2));
  CHECK_FALSE(stopped.why.ok());
  outcome rest = run(w.rt, limited(100), under(kStop, stopped.places.back()));
  CHECK(rest.elements == from_on(kGood, stopped.elements.size()));
  CHECK(rest.report.errors == 6);  // a resumed run counts from 0, and meets the one again that was too many
  CHECK(run(w.rt, limited(100), under(kSkip, stopped.places.back())).elements == rest.elements);
  outcome refused = run(w.rt, range(60) | map(throws), under(kSkip, stopped.places.back()));
  CHECK_THAT(refused.message(), Contains("another plan. Only these may differ: knobs") &&
                                    Contains("limits of bad elements (errors_max)") && Contains("from stop to skip"));
  refused = run(w.rt, range(60) | on_error(kStop, map(throws)), under(kSkip, stopped.places.back()));
  CHECK_THAT(refused.message(), Contains("another plan"));
}

namespace {

task<void> drain_rewritten(runtime& rt, node_ptr written, node_ptr run_as, checkpoint from, outcome& o) {
  iterate_options options;
  options.from = std::move(from);
  stream<int64> s(open_rewritten_run(rt, written, run_as, options));
  auto draining = drain_into(s, o);
  co_await draining;
  auto end = cleanup(std::move(s));
  co_await end;
}

}  // namespace

TEST_CASE("ignore_errors leaves no trace in positions: they fit the same plan without it, and the other way round") {
  auto plain = range(60) | map([](int64 x) { return x; }) | shuffle(8, {.seed = 3});
  auto with = plain | ignore_errors();
  file_world w;
  for (auto [first, second] : {std::pair(with.plan(), plain.plan()), std::pair(plain.plan(), with.plan())}) {
    outcome whole;
    sync_wait(w.rt, drain_rewritten(w.rt, with.plan(), first, {}, whole));
    REQUIRE(whole.elements.size() == 60);
    for (std::size_t i = 0; i < whole.places.size(); i += 6) {
      outcome rest;
      sync_wait(w.rt, drain_rewritten(w.rt, with.plan(), second, whole.places[i], rest));
      CHECK(rest.elements == from_on(whole.elements, i));
    }
  }
}

}  // namespace sluice::lib::stage_policies_test
