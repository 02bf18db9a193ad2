// SPDX-License-Identifier: Apache-2.0
// Several reads of one file at once: the same elements, sooner, in bounded memory; and files whose size nobody tells.
#include <catch2/catch.hpp>

#include <bit>

#include "pipeline/file_world.hpp"
#include "pipeline/input_files.hpp"

namespace sluice::lib::reads_in_flight_test {
using namespace sluice::lib::testing;
namespace lib = sluice::lib;

namespace {

constexpr std::size_t kElements = 4'000;  // 800,000 bytes: about two hundred reads of 4 KiB
constexpr lib::duration kDelay = std::chrono::milliseconds(1);

/// Files whose every read takes a millisecond.
struct slow_world {
  explicit slow_world(std::size_t memory_budget_bytes = 0,
                      lib::simulated_io how = {.delay_min = kDelay, .delay_max = kDelay, .page_cache_hits = 0})
      : world(1), rt(world, {.workers = 2, .memory_budget_bytes = memory_budget_bytes}) {
    auto made = std::make_unique<simulated_file_system>(world, how);
    files = made.get();
    set_files(rt, std::move(made));
  }
  lib::simulation world;
  runtime rt;
  simulated_file_system* files;
};

/// The elements of the file "f", as text, with so many reads in flight.
dataset<std::string> text_of(file_format f, std::int64_t reads) {
  auto text = [](const auto& x) { return std::string(x.view()); };
  lib::byte_size at_once = 4096;
  if (f == file_format::lines) return lines("f", {.read_bytes = at_once, .reads_in_flight = reads}) | map(text);
  if (f == file_format::tfrecord) return tfrecord("f", {.read_bytes = at_once, .reads_in_flight = reads}) | map(text);
  lib::fixed_length_options o{.record_bytes = kElementBytes};
  o.read_bytes = at_once;
  o.reads_in_flight = reads;
  return fixed_length("f", o) | map(text);
}

task<> drain(stream<std::string>& s, std::vector<std::string>& to) {
  while (auto x = co_await s.next()) to.push_back(*x);
}

struct timed {
  std::vector<std::string> elements;
  lib::duration took{0};
};

task<> drain_run(runtime& rt, const dataset<std::string>& ds, timed& t) {
  stream<std::string> s = ds.iterate(rt);
  auto draining = drain(s, t.elements);
  co_await draining;
  auto end = cleanup(std::move(s));
  co_await end;
}

timed drain_all(slow_world& w, const dataset<std::string>& ds) {
  timed t;
  lib::duration before = w.world.elapsed();
  sync_wait(w.rt, drain_run(w.rt, ds, t));
  t.took = w.world.elapsed() - before;
  return t;
}

}  // namespace

TEST_CASE("reads in flight divide the time of a file that has to be waited for, and change no element") {
  const texts elements = some_elements(kElements);
  for (file_format f : kFormats)
    for (lib::compression c : {lib::compression::none, lib::compression::gzip}) {
      CAPTURE(name_of(f), static_cast<int>(c));
      lib::duration one{0};
      for (std::int64_t reads : {1, 2, 4, 16}) {
        slow_world w;
        w.files->put("f", file_bytes(f, c, elements));
        timed t = drain_all(w, text_of(f, reads));
        CHECK(t.elements == elements);
        CHECK(w.files->reads_at_once() <= static_cast<std::size_t>(reads));
        CHECK(w.rt.ledger().used_bytes() == 0);
        if (reads == 1) one = t.took;
        CAPTURE(reads, one.count(), t.took.count());
        // The ideal, and a millisecond for each doubling on the way there, for the open and for the last one.
        lib::duration ideal = one / reads + kDelay * (std::bit_width(static_cast<unsigned>(reads)) + 1);
        CHECK(t.took <= ideal);
        // The compressed file has only a dozen.
        if (c == lib::compression::none) CHECK(w.files->reads_at_once() == static_cast<std::size_t>(reads));
      }
    }
}

TEST_CASE("reads ahead use at most half of the budget, and a tight one continues with one read at a time") {
  const texts elements = some_elements(kElements);
  for (file_format f : kFormats) {
    CAPTURE(name_of(f));
    slow_world w(256 << 10);
    w.files->put("f", file_bytes(f, lib::compression::none, elements));
    timed t = drain_all(w, text_of(f, 1024));
    CHECK(t.elements == elements);
    CHECK(w.files->reads_at_once() > 4);
    CHECK(w.files->reads_at_once() <= 40);  // buffers of 4 KiB and their own, in 128 KiB
    CHECK(w.rt.ledger().report().peak_bytes <= (256u << 10));
    CHECK(w.rt.ledger().used_bytes() == 0);
  }
}

TEST_CASE("a run over reads in flight resumes at every element, skips any number, and ends with a damaged read") {
  const texts elements = some_elements(300);
  for (file_format f : kFormats)
    for (lib::compression c : kCompressions) {
      CAPTURE(name_of(f), static_cast<int>(c));
      // Half of the reads are in memory, and many come short.
      slow_world w(0, {.delay_max = kDelay, .page_cache_hits = 0.5, .short_reads = 0.5});
      w.files->put("f", file_bytes(f, c, elements));
      dataset<std::string> ds = text_of(f, 4);
      outcome whole = run(w.rt, ds);
      REQUIRE(whole.message() == "ok");
      REQUIRE(whole.elements == elements);
      for (std::size_t at = 0; at <= elements.size(); at += 7) {
        outcome rest = run(w.rt, ds, {.from = whole.places[at]});
        CHECK(rest.message() == "ok");
        CHECK(rest.elements == texts(elements.begin() + static_cast<std::ptrdiff_t>(at), elements.end()));
        outcome behind = run(w.rt, ds | skip(static_cast<std::int64_t>(at)));
        CHECK(behind.elements == rest.elements);
      }
      if (c != lib::compression::none) continue;
      w.files->damage("f", 30'000);
      outcome damaged = run(w.rt, ds);
      CHECK(damaged.why.code() == status_code::data_loss);
      CHECK(damaged.why.where().file == "f");
      CHECK(damaged.elements.size() > 30'000 / 240 - 25);
      CHECK(std::equal(damaged.elements.begin(), damaged.elements.end(), elements.begin()));
      CHECK(w.rt.ledger().used_bytes() == 0);
    }
}

TEST_CASE("a file that is truncated after its read-ahead ends at the cut") {
  const texts elements = some_elements(300);
  for (file_format f : kFormats) {
    CAPTURE(name_of(f));
    slow_world w;
    w.files->put("f", file_bytes(f, lib::compression::none, elements));
    outcome cut = run_changing(w.rt, text_of(f, 4), 50, [&] { w.files->cut("f", 40'000); });
    CHECK(cut.why.code() == status_code::data_loss);
    CHECK(cut.message().find("was cut short while it was read") != std::string::npos);
    CHECK(cut.elements.size() < elements.size());
    CHECK(std::equal(cut.elements.begin(), cut.elements.end(), elements.begin()));
  }
}

TEST_CASE("more reads in flight than a run would start are refused where the plan is made, in C++ and in text") {
  const char* said = "reads_in_flight must be at most 1024, and is 1025";
  CHECK_NOTHROW(lines("f", {.reads_in_flight = 1'024}));
  CHECK_THROWS_WITH(lines("f", {.reads_in_flight = 1'025}), Catch::Contains(said));
  for (const char* plan : {"lines(\"f\", reads_in_flight=1025)", "tfrecord(\"f\", reads_in_flight=1025)",
                           "fixed_length(\"f\", 8, reads_in_flight=1025)"})
    CHECK_THROWS_WITH(lib::parse_plan(plan), Catch::Contains(said));
}

TEST_CASE("a file of unknown size is read whole, resumes at every element and refuses a place after its end") {
  const texts elements = some_elements(200);
  for (file_format f : kFormats)
    for (lib::compression c : kCompressions)
      for (std::int64_t reads : {1, 4}) {
        CAPTURE(name_of(f), static_cast<int>(c), reads);
        slow_world w(0, {.delay_max = kDelay, .page_cache_hits = 0.5, .short_reads = 0.5});
        w.files->put("f", file_bytes(f, c, elements));
        w.files->hide_size("f");
        dataset<std::string> ds = text_of(f, reads);
        outcome whole = run(w.rt, ds);
        CHECK(whole.message() == "ok");
        REQUIRE(whole.elements == elements);
        for (std::size_t at = 0; at <= elements.size(); at += 11) {
          outcome rest = run(w.rt, ds, {.from = whole.places[at]});
          CHECK(rest.message() == "ok");
          CHECK(rest.elements == texts(elements.begin() + static_cast<std::ptrdiff_t>(at), elements.end()));
        }
        w.files->put("f", file_bytes(f, c, texts(elements.begin(), elements.begin() + 20)));
        w.files->hide_size("f");
        outcome shorter = run(w.rt, ds, {.from = whole.places[190], .on_changed_inputs = changed_inputs::ignore});
        CHECK(shorter.why.code() == status_code::data_loss);
        CHECK(shorter.message().find("shorter than the checkpoint records") != std::string::npos);
      }
}

}  // namespace sluice::lib::reads_in_flight_test
