// SPDX-License-Identifier: Apache-2.0
// pipeline/replay.hpp: each element that a run has dropped is made again, from its entry alone.
#include <atomic>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/quarantine/quarantine_file.hpp"
#include "io/temporary_folder.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/pipeline/replay.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::replay_test {
namespace {

using namespace testing;
using Catch::Contains;

/// Files in a folder, and plans that read them: $F in a plan's text is the folder.
struct replay_world {
  temporary_folder folder;
  runtime rt{{.workers = 2}};

  replay_world() {
    std::string lines, csv = "id,n\n", jsonl;
    for (int i = 0; i != 60; ++i) {
      const std::string n = i % 7 == 3 ? "bad" + std::to_string(i) : std::to_string(i);
      lines += n + "\n";
      csv += std::to_string(i) + "," + n + "\n";
      jsonl += i % 7 == 3 ? "{\"id\":" + n + "}\n" : "{\"id\":" + n + "}\n";
    }
    folder.write("a.txt", lines);
    folder.write("b.txt", lines);
    folder.write("a.csv", csv);
    folder.write("a.jsonl", jsonl);
    const texts records = some_records(40, 40);
    std::string bytes = framed(records);
    for (std::size_t i : {2u, 16u, 17u, 39u}) bytes = flipped(std::move(bytes), frame_of(records, i) + 12 + 5);
    folder.write("a.tfrecord", bytes);
  }
  node_ptr plan(std::string text) const {
    for (std::size_t at; (at = text.find("$F")) != text.npos;) text.replace(at, 2, folder.path(""));
    return parse_plan(text);
  }
};

task<void> pull_up_to(any_stream& s, std::uint64_t elements) {
  for (; elements != 0; --elements) {
    demand d;
    d.elements = 1;
    auto got = co_await s.try_next_block(d);
    if (!got.why.ok()) throw_status(got.why);
    if (!got.view) break;
  }
}

/// Runs the plan up to an element, from `from`; returns the checkpoint there.
checkpoint run_some(runtime& rt, const node_ptr& plan, const std::string& into,
                    std::uint64_t elements = ~std::uint64_t{0}, checkpoint from = {}) {
  iterate_options o;
  o.on_error = error_policy::skip;
  o.quarantine = quarantine(into);
  o.from = std::move(from);
  any_stream s = open_run(rt, plan, o);
  sync_wait(rt, pull_up_to(s, elements));
  checkpoint at = s.position();
  sync_wait(rt, cleanup(std::move(s)));
  return at;
}

std::size_t entries_in(const std::string& path) {
  std::size_t n = 0;
  while (read_quarantined(path, n).ok()) ++n;
  return n;
}

/// Replays each entry of the file, by the text of its plan. Returns the number of entries.
std::size_t replay_all(runtime& rt, const std::string& path) {
  const std::size_t entries = entries_in(path);
  for (std::size_t k = 0; k != entries; ++k) {
    const stored_failure bad = read_failure(path, k);
    CAPTURE(k, bad.plan, bad.why.to_string(), bad.delivered);
    const replay_report seen = replay(rt, bad);
    CAPTURE(seen.why.to_string());
    CHECK(seen.has_failed);
    CHECK(seen.is_same_error);
    REQUIRE(!seen.steps.empty());
    const replay_step& last = seen.steps.back();
    CHECK(last.stage == bad.why.where().stage);
    CHECK_THAT(std::string(bad.why.message()), Contains(last.error));
    CHECK(!last.error.empty());
    CHECK(last.left_as == replay_step::kNone);
    const std::uint64_t element = bad.why.where().element;
    if (element != provenance::kUnknown) CHECK(last.entered_as == element);
    // What leaves a stage enters the next one.
    for (std::size_t i = 0; i + 1 < seen.steps.size(); ++i)
      CHECK((seen.steps[i].left_as != replay_step::kNone && !seen.steps[i].left.empty()));
    if (seen.steps.size() > 1) CHECK(seen.steps[seen.steps.size() - 2].left == last.entered);
  }
  return entries;
}

struct failing_plan {
  const char* text;
  std::size_t entries;
};
// The number of elements that fail, by plain counting.
const failing_plan kPlans[] = {
    {"range(20) | map(1 / (it - 7))", 1},
    {"range(40) | map(1 / (it % 5))", 8},
    {"range(40) | map(it + 1) | map(it * 2) | map(1 / (it % 5))", 8},
    {"range(40) | map(1 / (it % 5), parallelism=4) | prefetch(4)", 8},
    {"range(40) | filter(1 / (it % 5) > 0)", 8},
    {"range(40) | filter(it != 3) | map(1 / (it % 5)) | filter(it >= 0) | batch(3)", 8},
    {"range(40) | shuffle(10) | map(1 / (it % 5)) | batch(3) | prefetch(2)", 8},
    {"range(40) | batch(4) | map(1 / (it[0] % 8))", 5},
    {"range(40) | skip(3) | take(20) | map(1 / (it % 5))", 4},
    {"range(20) | map(1 / (it % 5)) | repeat(3)", 4},  // the entries of later epochs are the same
    {"range(20) | shuffle(5) | repeat(2) | map(1 / (it % 5), parallelism=2)", 8},
    {"zip(range(20), range(100)) | map(1 / (first % 5))", 4},
    {"concatenate(range(10) | map(1 / (it % 5)), range(20))", 2},
    {"range(4) | flat_map([it, 0, it]) | map(1 / it)", 6},
    {"lines(\"$F/a.txt\") | map(to_number(it))", 9},
    {"lines(\"$F/a.txt\") | shuffle(20) | map(to_number(it)) | batch(8)", 9},
    {"lines(\"$F/*.txt\") | map(to_number(it), parallelism=3) | prefetch(10)", 18},
    {"list_files(\"$F/*.txt\") | interleave(lines, cycle_length=2) | map(to_number(it)) | prefetch(4)", 18},
    {"csv(\"$F/a.csv\", \"id: int64, n: int64\", header=true)", 9},
    {"csv(\"$F/a.csv\", \"id: int64, n: int64\", header=true) | shuffle(7) | batch(4) | prefetch(2)", 9},
    {"jsonl(\"$F/a.jsonl\", \"id: int64\")", 9},
    {"tfrecord(\"$F/a.tfrecord\")", 4},
    {"tfrecord(\"$F/a.tfrecord\") | shuffle(10) | map(length(it)) | prefetch(2)", 4},
    {"tfrecord(\"$F/a.tfrecord\") | parse_example(\"x: int64\")", 40},
};

std::int64_t fails_at_odd_ones(std::int64_t x) {
  if (x % 2) throw std::runtime_error("odd: " + std::to_string(x));
  return x;
}

std::atomic<int> entered{0};
std::atomic<std::uint64_t> entered_as{0};
void note_entering(const replay_step& step) {
  ++entered;
  entered_as = step.entered_as;
}

}  // namespace

TEST_CASE("each dropped element fails again from its entry alone, whatever is around its stage") {
  replay_world w;
  for (const failing_plan& p : kPlans) {
    CAPTURE(p.text);
    for (const char* name : {"bad.jsonl", "bad.tfrecord"}) {
      const std::string path = w.folder.path(std::to_string(&p - kPlans) + name);
      run_some(w.rt, w.plan(p.text), path);
      CHECK(replay_all(w.rt, path) == p.entries);
    }
  }
}

TEST_CASE("entries of resumed runs are replayed, also far from the start") {
  replay_world w;
  for (const char* text : {"range(40000) | shuffle(100) | map(1 / (it % 8000)) | batch(10) | prefetch(2)",
                           "lines(\"$F/*.txt\") | repeat(100) | map(to_number(it), parallelism=2) | prefetch(30)"}) {
    CAPTURE(text);
    const node_ptr plan = w.plan(text);
    const std::string path = w.folder.path("resumed.jsonl");
    const checkpoint at = run_some(w.rt, plan, path, 1500);
    run_some(w.rt, plan, path, 1500, at);
    CHECK(replay_all(w.rt, path) >= 3);
    CHECK(std::remove(path.c_str()) == 0);
  }
}

TEST_CASE("the steps name what entered and left each stage, from the source to the failing one") {
  replay_world w;
  const std::string path = w.folder.path("bad.jsonl");
  run_some(w.rt,
           w.plan("range(5) | map(it * 10) | filter(it != 10) | shuffle(3, seed=2) | map(1 / (it - 30)) | batch(2)"),
           path);
  const replay_report seen = replay(w.rt, read_failure(path, 0));
  REQUIRE(seen.steps.size() == 5);
  const std::vector<std::string> stages = {"range", "map(it * 10)", "filter(it != 10)", "shuffle",
                                           "map(1 / (it - 30))"};
  for (std::size_t i = 0; i != 5; ++i) CHECK(seen.steps[i].stage == stages[i]);
  CHECK(seen.steps[1].left == "30");
  CHECK(seen.steps[2].left == "30");
  CHECK((seen.steps[2].entered_as == 3 && seen.steps[2].left_as == 2));  // element 1 was left out
  CHECK((seen.steps[3].left == "30" && seen.steps[3].is_same));
  CHECK((seen.steps[4].entered == "30" && seen.steps[4].entered_as == seen.steps[3].left_as));
  CHECK_THAT(seen.steps[4].error, Contains("division by zero"));
}

TEST_CASE("a plan of C++ functions is replayed by its dataset, which stops before the failing call") {
  replay_world w;
  auto ds = range(10) | shuffle(4) | map(fails_at_odd_ones) | prefetch(2);
  const std::string path = w.folder.path("bad.jsonl");
  run_some(w.rt, ds.plan(), path);
  REQUIRE(entries_in(path) == 5);
  for (std::size_t k = 0; k != 5; ++k) {
    const stored_failure bad = read_failure(path, k);
    entered = 0;
    const replay_report seen = replay(w.rt, bad, {.plan = ds.plan(), .before = note_entering});
    CHECK((seen.has_failed && seen.is_same_error));
    CHECK(entered == 1);
    CHECK(entered_as == bad.why.where().element);
    CHECK("odd: " + seen.steps.back().entered == std::string(bad.why.message()));
  }
  const stored_failure bad = read_failure(path, 0);
  CHECK_THROWS_WITH(replay(w.rt, bad), Contains("cannot be read"));
  CHECK_THROWS_WITH(replay(w.rt, bad, {.plan = range(10).plan()}), Contains("another plan"));
}

TEST_CASE(
    "an element that was mended does not fail, one that fails otherwise is reported, and a changed file is refused") {
  replay_world w;
  const std::string path = w.folder.path("bad.jsonl");
  run_some(w.rt, w.plan("lines(\"$F/a.txt\") | map(to_number(it))"), path);
  const stored_failure bad = read_failure(path, 1);
  // Other bytes at the same places, because the entry's position is one in the file.
  const auto with_line_10 = [](const char* text) {
    std::string lines;
    for (int i = 0; i != 60; ++i)
      lines += (i == 10 ? text : i % 7 == 3 ? "bad" + std::to_string(i) : std::to_string(i)) + "\n";
    return lines;
  };
  w.folder.write("a.txt", with_line_10("worse"));
  CHECK_THROWS_WITH(replay(w.rt, bad), Contains("changed"));
  replay_report seen = replay(w.rt, bad, {.on_changed_inputs = changed_inputs::ignore});
  CHECK((seen.has_failed && !seen.is_same_error));
  w.folder.write("a.txt", with_line_10("00010"));
  seen = replay(w.rt, bad, {.on_changed_inputs = changed_inputs::ignore});
  CHECK(!seen.has_failed);
}

TEST_CASE("a file that is no quarantine, a missing entry and an entry without a place are refused") {
  replay_world w;
  const std::string other = w.folder.write("other.jsonl", "{\"x\":1}\n"), path = w.folder.path("bad.jsonl");
  CHECK_THROWS_WITH(read_failure(other, 0), Contains("no file of bad elements"));
  CHECK_THROWS_WITH(read_failure(w.folder.path("none"), 0), Contains("none"));
  CHECK_THROWS_WITH(read_failure(w.folder.path("a.tfrecord"), 0), Contains("no file of bad elements"));
  run_some(w.rt, w.plan("range(3) | map(1 / it)"), path);
  CHECK_THROWS_WITH(read_failure(path, 1), Contains("one entry, with number 0"));
  const std::string old =
      w.folder.write("old.jsonl", "{\"error\":\"bad\",\"code\":\"data_loss\",\"stage\":\"map\",\"element\":3}\n");
  const stored_failure bad = read_failure(old, 0);
  CHECK(bad.why.code() == status_code::data_loss);
  CHECK_THROWS_WITH(replay(w.rt, bad), Contains("no position"));
}

}  // namespace sluice::lib::replay_test
