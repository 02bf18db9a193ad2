// SPDX-License-Identifier: Apache-2.0
// How a run goes on behind bad input where its policy allows it.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/failing_functions.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::error_policy_test {
namespace {

using namespace testing;
using Catch::Contains;

iterate_options skipping(std::uint64_t errors_max = ~std::uint64_t{0}) {
  iterate_options o;
  o.on_error = error_policy::skip;
  o.errors_max = errors_max;
  return o;
}

/// Every place in a run is one that the rest can be had from.
template <class T> void check_resumes(runtime& rt, const dataset<T>& ds, iterate_options o, const outcome& whole) {
  for (std::size_t i = 0; i < whole.places.size(); ++i) {
    CAPTURE(i);
    o.from = whole.places[i];
    outcome rest = run(rt, ds, o);
    CHECK(rest.why.ok());
    CHECK(rest.elements == texts(whole.elements.begin() + static_cast<std::ptrdiff_t>(i), whole.elements.end()));
  }
}

}  // namespace

TEST_CASE("under skip, damaged records are dropped, counted and reported, and every place resumes") {
  texts records = some_records(40);
  std::string bytes = framed(records);
  bytes = flipped(bytes, frame_of(records, 5) + kTfrecordHeaderBytes);       // data
  bytes = flipped(bytes, frame_of(records, 6) + kTfrecordHeaderBytes);       // its neighbour's, too
  bytes = flipped(bytes, frame_of(records, 20) + 1);                         // a length
  bytes = flipped(bytes, frame_of(records, 39) + kTfrecordHeaderBytes + 1);  // the last one
  texts sound = without(records, {5, 6, 20, 39});
  file_world w;
  w.files->put("a", bytes);
  w.files->put("list", "a\n");
  std::vector<dataset<record>> ways = {
      tfrecord("a"),
      tfrecord("a") | prefetch(3),
      tfrecord("a") | skip(0) | take(100),
      lines("list") | interleave(tfrecord, {.cycle_length = 2}),
      lines("list") | interleave(tfrecord, {.cycle_length = 3, .parallelism = 3}),
      lines("list") | interleave(tfrecord, {.cycle_length = 3, .parallelism = 3, .order = order::sloppy}),
  };
  for (const auto& ds : ways) {
    CAPTURE(plan_text(*ds.plan()));
    outcome got = run(w.rt, ds, skipping());
    CAPTURE(got.message());
    CHECK(got.why.ok());
    CHECK(got.elements == sound);
    CHECK(got.report.errors == 4);
    REQUIRE(got.report.first_errors.size() == 4);
    for (std::size_t i = 0; i != 4; ++i) {
      std::size_t damaged = std::vector<std::size_t>{5, 6, 20, 39}[i];
      CHECK(got.report.first_errors[i].where().offset_bytes == frame_of(records, damaged));
      CHECK(got.report.first_errors[i].where().record_index == damaged);
      CHECK(got.report.first_errors[i].where().file == "a");
    }
    check_resumes(w.rt, ds, skipping(), got);
  }
}

TEST_CASE("under skip, skip(n) counts the records that are given") {
  texts records = some_records(10);
  std::string bytes = flipped(framed(records), frame_of(records, 2) + kTfrecordHeaderBytes);
  file_world w;
  w.files->put("a", bytes);
  outcome got = run(w.rt, tfrecord("a") | skip(4), skipping());
  CHECK(got.elements == texts(records.begin() + 5, records.end()));
}

TEST_CASE("under skip, elements whose function fails are dropped and counted, and every place resumes") {
  texts sound = without(numbers(0, 60), {7, 14, 21, 28, 35, 42, 49, 56});
  std::vector<dataset<std::int64_t>> ways = {
      range(60) | map(throws),
      range(60) | map([](std::int64_t x) { return std::to_string(throws(x)); }) |
          map([](const std::string& s) -> std::int64_t { return std::stoll(s); }),
      range(60) | map(returns_an_error),
      range(60) | map(throws, {.parallelism = 3}),
      range(60) | map(fails_later),
      range(60) | map(fails_later, {.parallelism = 4}),
      range(60) | filter(throws_as_predicate),
      range(60) | map(throws) | prefetch(4),
      range(60) | map(throws) | filter([](std::int64_t) { return true; }) | take(1000),
      range(60) | flat_map(opens_or_throws),
      range(60) | interleave(opens_or_throws, {.cycle_length = 1, .parallelism = 2}),
      range(60) | map(throws) | batch(4) | unbatch(),
  };
  for (std::size_t i = 0; i != ways.size(); ++i) {
    file_world w(i + 1);
    CAPTURE(i, plan_text(*ways[i].plan()));
    outcome got = run(w.rt, ways[i], skipping());
    CAPTURE(got.message());
    CHECK(got.why.ok());
    CHECK(got.elements == sound);
    CHECK(got.report.errors == 8);
    check_resumes(w.rt, ways[i], skipping(), got);
  }
}

TEST_CASE("under skip, a sloppy map drops failing elements, and its places lose and repeat nothing") {
  for (std::uint64_t seed = 1; seed != 6; ++seed) {
    CAPTURE(seed);
    file_world w(seed);
    auto ds = range(60) | map(fails_later, {.parallelism = 4, .order = order::sloppy});
    outcome got = run(w.rt, ds, skipping());
    CHECK(got.why.ok());
    CHECK(got.elements.size() == 52);
    for (std::size_t i = 0; i < got.places.size(); i += 5) {
      CAPTURE(i);
      iterate_options o = skipping();
      o.from = got.places[i];
      outcome rest = run(w.rt, ds, o);
      texts left(got.elements.begin() + static_cast<std::ptrdiff_t>(i), got.elements.end());
      CHECK_THAT(rest.elements, Catch::UnorderedEquals(left));
    }
  }
}

TEST_CASE("under skip, files that cannot be opened are dropped") {
  for (std::int64_t parallelism : {1, 3}) {
    file_world w;
    texts records = some_records(4);
    w.files->put("a", framed(records));
    w.files->put("b", framed(records));
    w.files->put("c", framed(records));
    w.files->refuse("b", EACCES);
    auto ds = from_elements<std::string>({"a", "gone", "b", "c"}) |
              interleave(tfrecord, {.cycle_length = 2, .block_length = 4, .parallelism = parallelism});
    outcome got = run(w.rt, ds, skipping());
    CAPTURE(parallelism, got.message());
    CHECK(got.why.ok());
    CHECK(got.elements.size() == 8);
    CHECK(got.report.errors == 2);
    texts named;
    for (const status& s : got.report.first_errors) named.push_back(s.where().file);
    CHECK_THAT(named, Catch::UnorderedEquals(texts{"gone", "b"}));
    check_resumes(w.rt, ds, skipping(), got);
    outcome stopped = run(w.rt, ds);
    CHECK(stopped.why.code() == status_code::not_found);
    CHECK(stopped.why.where().file == "gone");
  }
}

TEST_CASE("under skip, one error more than errors_max ends the stream with that error") {
  file_world w;
  outcome got = run(w.rt, range(60) | map(throws), skipping(2));
  CAPTURE(got.message());
  CHECK(got.elements == without(numbers(0, 21), {7, 14}));
  CHECK(got.why.code() == status_code::unknown);
  CHECK(got.report.errors == 2);
  CHECK(got.report.first_errors.size() == 2);
}

}  // namespace sluice::lib::error_policy_test
