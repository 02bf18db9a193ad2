// SPDX-License-Identifier: Apache-2.0
// Files that are opened before their readers ask for them: the same elements, sooner, and never many files too many.
#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/input_files.hpp"

namespace sluice::lib::early_open_test {
using namespace sluice::lib::testing;
namespace lib = sluice::lib;

namespace {

constexpr lib::duration kDelay = std::chrono::milliseconds(1);
constexpr int kFiles = 200;
constexpr std::size_t kEach = 3;

struct slow_disk {
  explicit slow_disk(lib::simulated_io how = {.delay_min = kDelay, .delay_max = kDelay, .page_cache_hits = 0},
                     std::size_t memory_budget_bytes = 0)
      : world(3), rt(world, {.workers = 2, .memory_budget_bytes = memory_budget_bytes}) {
    auto made = std::make_unique<simulated_file_system>(world, how);
    files = made.get();
    set_files(rt, std::move(made));
  }
  lib::simulation world;
  runtime rt;
  simulated_file_system* files;
};

std::string name_of_file(int i) { return "d/" + std::to_string(1000 + i); }

texts put_files(slow_disk& d, file_format f, lib::compression c = lib::compression::none) {
  texts all;
  for (int i = 0; i != kFiles; ++i) {
    const texts some = some_elements(kEach, static_cast<std::uint64_t>(i + 1));
    d.files->put(name_of_file(i), file_bytes(f, c, some));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

dataset<std::string> text_of(file_format f, std::int64_t reads, std::int64_t cycle) {
  auto text = [](const auto& x) { return std::string(x.view()); };
  auto names = list_files("d/*");
  interleave_options turns{.cycle_length = cycle, .block_length = 2};
  if (f == file_format::lines) return names | interleave(lines({.reads_in_flight = reads}), turns) | map(text);
  if (f == file_format::tfrecord) return names | interleave(tfrecord({.reads_in_flight = reads}), turns) | map(text);
  lib::fixed_length_options o{.record_bytes = kElementBytes};
  o.reads_in_flight = reads;
  return names | interleave(fixed_length(o), turns) | map(text);
}

struct timed {
  texts elements;
  lib::duration took{0};
};

task<> drain_run(runtime& rt, const dataset<std::string>& ds, timed& t) {
  stream<std::string> s = ds.iterate(rt);
  while (auto x = co_await s.next()) t.elements.push_back(*x);
  auto end = cleanup(std::move(s));
  co_await end;
}

/// Of a run, less what its listing takes.
timed drain_all(slow_disk& d, const dataset<std::string>& ds) {
  timed t;
  timed names;
  const lib::duration before = d.world.elapsed();
  sync_wait(d.rt, drain_run(d.rt, ds, t));
  t.took = d.world.elapsed() - before;
  sync_wait(d.rt, drain_run(d.rt, list_files("d/*"), names));
  t.took -= d.world.elapsed() - before - t.took;
  return t;
}

}  // namespace

TEST_CASE("a plan without parallelism waits for a tenth of its cold files, and gives the same elements") {
  for (file_format f : kFormats)
    for (std::int64_t cycle : {1, 16}) {
      CAPTURE(name_of(f), cycle);
      slow_disk one, more;
      put_files(one, f);
      put_files(more, f);
      const timed slow = drain_all(one, text_of(f, 1, cycle));
      const timed fast = drain_all(more, text_of(f, 4, cycle));
      CHECK(fast.elements == slow.elements);
      CHECK(fast.elements.size() == kFiles * kEach);
      // Pages of listings have random lengths: some ten answers more or less.
      CHECK(slow.took >= kDelay * kFiles * 9 / 10);
      CHECK(fast.took <= kDelay * kFiles / 5);  // sixteen at once, and the way there
      CHECK(one.files->opens() == kFiles);
      CHECK(more.files->opens() == kFiles);
      CHECK(more.files->reads_at_once() <= 17);
      CHECK(more.files->files_open() == 0);
      CHECK(more.rt.ledger().used_bytes() == 0);
    }
}

TEST_CASE("who wants few elements has few files opened too many") {
  slow_disk d;
  put_files(d, file_format::lines);
  outcome got = run(d.rt, text_of(file_format::lines, 4, 1) | take(static_cast<std::int64_t>(kEach)));
  CHECK(got.message() == "ok");
  CHECK(got.elements.size() == kEach);
  CHECK(d.files->opens() <= 3);
  CHECK(d.files->files_open() == 0);
  got = run(d.rt, text_of(file_format::lines, 4, 1) | take(static_cast<std::int64_t>(kEach * 20)));
  CHECK(d.files->opens() <= 3 + 20 + 16);
  CHECK(d.rt.ledger().used_bytes() == 0);
}

TEST_CASE("runs whose files are opened early resume at every element") {
  for (file_format f : kFormats)
    for (lib::compression c : kCompressions)
      for (std::int64_t cycle : {1, 4}) {
        CAPTURE(name_of(f), static_cast<int>(c), cycle);
        slow_disk d({.delay_max = kDelay, .page_cache_hits = 0.3, .short_reads = 0.5});
        put_files(d, f, c);
        dataset<std::string> ds = text_of(f, 4, cycle) | take(120);
        outcome whole = run(d.rt, ds);
        REQUIRE(whole.message() == "ok");
        REQUIRE(whole.elements.size() == 120);
        for (std::size_t at = 0; at <= whole.elements.size(); at += 7) {
          outcome rest = run(d.rt, ds, {.from = whole.places[at]});
          CHECK(rest.message() == "ok");
          CHECK(rest.elements == texts(whole.elements.begin() + static_cast<std::ptrdiff_t>(at), whole.elements.end()));
        }
        CHECK(d.rt.ledger().used_bytes() == 0);
      }
}

TEST_CASE("a file that cannot be opened or read early is an error of its own reader, at its place") {
  for (bool skips : {false, true}) {
    CAPTURE(skips);
    slow_disk d;
    const texts all = put_files(d, file_format::lines);
    d.files->refuse(name_of_file(7), EACCES);
    d.files->damage(name_of_file(9), 5);
    iterate_options how;
    if (skips) how.on_error = error_policy::skip;
    outcome got = run(d.rt, text_of(file_format::lines, 4, 1), how);
    if (skips) {
      CHECK(got.message() == "ok");
      CHECK(got.elements.size() == (kFiles - 2) * kEach);
      CHECK(got.report.errors == 2);
    } else {
      CHECK(got.elements == texts(all.begin(), all.begin() + 7 * static_cast<std::ptrdiff_t>(kEach)));
      CHECK(got.why.code() == lib::status_code::permission_denied);
      CHECK(got.why.where().file == name_of_file(7));
    }
    CHECK(d.rt.ledger().used_bytes() == 0);
  }
}

TEST_CASE("where memory is short, files are opened early without their beginnings, and the budget holds") {
  slow_disk d({.delay_min = kDelay, .delay_max = kDelay, .page_cache_hits = 0}, 16 << 10);
  const texts all = put_files(d, file_format::lines);
  timed t = drain_all(d, text_of(file_format::lines, 4, 1));
  CHECK(t.elements == all);
  CHECK(d.rt.ledger().report().peak_bytes <= (16u << 10) + (4u << 10));
  CHECK(d.rt.ledger().used_bytes() == 0);
}

}  // namespace sluice::lib::early_open_test
