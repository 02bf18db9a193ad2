// SPDX-License-Identifier: Apache-2.0
// engine/quarantine/quarantine_file.hpp: bad elements that are dropped, and kept in a file.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/quarantine/quarantine_file.hpp"
#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/format/example.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::quarantine_test {
namespace {

using namespace testing;
using Catch::Contains;
using entry = std::map<std::string, feature_values, std::less<>>;

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The entries of a file of TFRecords. REQUIRES: it is whole.
std::vector<entry> entries_of(const std::string& path) {
  std::vector<entry> all;
  const std::string bytes = content(path);
  std::string_view rest = bytes;
  while (!rest.empty()) {
    std::string_view record;
    tfrecord_scan s = scan_tfrecords({.bytes = rest, .last = true}, &record, 1);
    REQUIRE(s.records == 1);
    all.push_back(*read_example(record));
    rest.remove_prefix(s.used_bytes);
  }
  return all;
}
std::string text_in(const entry& e, const char* name) {
  return e.contains(name) ? e.find(name)->second.bytes[0] : "none";
}
std::int64_t number_in(const entry& e, const char* name) {
  return e.contains(name) ? e.find(name)->second.int64s[0] : -1;
}

/// The entries without the place of the run, which differs from run to run, one line each.
std::string kept_in(const std::string& path) {
  std::string all;
  for (std::uint64_t k = 0;; ++k) {
    const result<stored_error> e = read_quarantined(path, k);
    if (!e.ok()) break;
    all += e->why.to_string() + "|" + e->bytes + "|" + std::to_string(e->times) + "\n";
  }
  return all;
}

/// Ten records, of which those numbered 2 and 6 have a wrong bit in their data.
const texts kRecords = some_records(10, 40);
std::string damaged_file() {
  std::string bytes = framed(kRecords);
  for (std::size_t i : {2u, 6u}) bytes = flipped(std::move(bytes), frame_of(kRecords, i) + 12 + 5);
  return bytes;
}

iterate_options skipping(const std::string& into = {}) {
  iterate_options o;
  o.on_error = error_policy::skip;
  o.quarantine = quarantine(into);
  return o;
}

result<std::int64_t> odd_ones_fail(const record& r) {
  if ((r.view()[1] - '0') % 2) return invalid_argument_error("this one is odd");
  return r.view()[1] - '0';
}
result<std::int64_t> takes_it_and_fails(record r) {  // the function owns what it is given
  const record mine = std::move(r);
  return odd_ones_fail(mine);
}

}  // namespace

TEST_CASE("damaged records are kept with their bytes, error, file, offset and number, in either form") {
  temporary_folder folder;
  file_world w;
  w.files->put("a", damaged_file());
  const std::string path = folder.path("bad.tfrecord"), lines = folder.path("bad.jsonl");
  outcome got = run(w.rt, tfrecord("a"), skipping(path));
  CHECK((got.elements == without(kRecords, {2, 6})));
  CHECK(got.report.errors == 2);
  const auto all = entries_of(path);
  REQUIRE(all.size() == 2);
  for (std::size_t k : {0u, 1u}) {
    const std::size_t i = k == 0 ? 2 : 6, at = frame_of(kRecords, i), end = frame_of(kRecords, i + 1);
    CHECK(text_in(all[k], "file") == "a");
    CHECK(text_in(all[k], "stage") == "tfrecord");
    CHECK(text_in(all[k], "code") == "data_loss");
    CHECK_THAT(text_in(all[k], "error"), Contains("crc") || Contains("CRC"));
    CHECK(number_in(all[k], "offset") == static_cast<std::int64_t>(at));
    CHECK(number_in(all[k], "record") == static_cast<std::int64_t>(i));
    CHECK((text_in(all[k], "bytes") ==
           damaged_file().substr(at, end - at)));  // with its frame: it can be looked at as it was
  }
  run(w.rt, tfrecord("a"), skipping(lines));
  const std::string text = content(lines);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  CHECK_THAT(text,
             Contains(R"("file":"a","offset":)" + std::to_string(frame_of(kRecords, 2)) + R"(,"record":2,"bytes":)"));
}

TEST_CASE("failing elements are stored as the function received them, in any plan around it, once and in order") {
  temporary_folder folder;
  file_world w;
  w.files->put("a", framed(kRecords));
  auto check = [&](const std::string& how, const auto& ds) {
    CAPTURE(how);
    const std::string path = folder.path(how);
    outcome got = run(w.rt, ds, skipping(path));
    CHECK((got.elements == texts{"0", "2", "4", "6", "8"}));
    const auto all = entries_of(path);
    REQUIRE(all.size() == 5);
    for (std::size_t k = 0; k != 5; ++k) {
      CHECK(text_in(all[k], "bytes") == kRecords[2 * k + 1]);
      CHECK(text_in(all[k], "error") == "this one is odd");
      CHECK(number_in(all[k], "element") == static_cast<std::int64_t>(2 * k + 1));
    }
  };
  check("one after the other", tfrecord("a") | map(odd_ones_fail));
  check("by value", tfrecord("a") | map(takes_it_and_fails));
  check("in parallel", tfrecord("a") | map(odd_ones_fail, {.parallelism = 4}));
  check("in parallel, by value", tfrecord("a") | map(takes_it_and_fails, {.parallelism = 4}));
  check("behind a channel", tfrecord("a") | map(odd_ones_fail) | prefetch(2));
  check("awaiting", tfrecord("a") | map([](record r) -> task<std::int64_t> {
                      auto made = odd_ones_fail(r);
                      status why = made.why();
                      if (!why.ok()) co_await fail(std::move(why));
                      co_return *made;
                    }));
  check("filtered",
        tfrecord("a") | map([](const record& r) { return std::string(r.view()); }) | filter([](const std::string& s) {
          if ((s[1] - '0') % 2) throw error(invalid_argument_error("this one is odd"));
          return true;
        }) | map([](const std::string& s) { return std::int64_t{s[1] - '0'}; }));
}

TEST_CASE("elements that are no texts are stored as their provenance, and those after a limit not at all") {
  temporary_folder folder;
  file_world w;
  auto threes_fail = [](std::int64_t x) -> result<std::int64_t> {
    if (x % 3 == 0) return invalid_argument_error("a multiple of three");
    return x;
  };
  const std::string path = folder.path("a");
  iterate_options o = skipping(path);
  o.errors_max = 2;
  outcome got = run(w.rt, range(10) | map(threes_fail), o);
  CHECK((got.elements == texts{"1", "2", "4", "5"}));
  CHECK_THAT(got.message(), Contains("errors_max=2"));
  const auto all = entries_of(path);
  REQUIRE(all.size() == 2);
  CHECK(number_in(all[1], "element") == 3);
  CHECK(text_in(all[1], "bytes") == "none");
}

TEST_CASE(
    "a plan names its files stage by stage, in C++, text and JSON alike, and they are no part of its fingerprint") {
  temporary_folder folder;
  file_world w;
  w.files->put("a", damaged_file());
  const std::string path = folder.path("bad");
  auto ds = on_error(quarantine(path), tfrecord("a"), {.errors_max = 5}) |
            map([](const record& r) { return std::string(r.view()); });
  CHECK(run(w.rt, ds).elements.size() == 8);
  CHECK(entries_of(path).size() == 2);
  auto plain = on_error(quarantine("q"), tfrecord("a"));
  const std::string text = plan_text(*plain.plan());
  CHECK(text == R"(tfrecord("a", on_error=skip, quarantine="q"))");
  CHECK(same_plan(*parse_plan(text), *plain.plan()));
  CHECK(same_plan(*parse_plan_json(plan_json(*plain.plan())), *plain.plan()));
  CHECK(fingerprint(*plain.plan()) == fingerprint(*on_error(error_policy::skip, tfrecord("a")).plan()));
  CHECK_THROWS_WITH(parse_plan(R"(tfrecord("a", quarantine="q"))"), Contains("quarantine needs on_error=skip"));
  CHECK_THROWS_WITH(parse_plan(R"(tfrecord("a", on_error=skip, quarantine=7))"), Contains("the path of a file"));
}

TEST_CASE("a run that is resumed anywhere, or started again, doubles nothing and leaves nothing out") {
  temporary_folder folder;
  file_world w;
  w.files->put("a", damaged_file());
  auto ds = tfrecord("a") | map([](const record& r) -> result<std::string> {
              if (r.view()[1] == '4') return invalid_argument_error("four");
              return std::string(r.view());
            }) |
            prefetch(2);
  const std::string once = folder.path("once");
  const outcome whole = run(w.rt, ds, skipping(once));
  REQUIRE(entries_of(once).size() == 3);
  for (std::size_t k = 0; k != whole.places.size(); ++k) {
    const std::string path = folder.path("resumed" + std::to_string(k));
    auto until = [&](std::size_t n) {
      auto s = ds.iterate(w.rt, skipping(path));
      sync_wait(w.rt, [](stream<std::string>& from, std::size_t left) -> task<void> {
        for (; left != 0; --left) {
          auto x = co_await from.next();
          if (!x) break;
        }
      }(s, n));
    };
    until(k);
    iterate_options o = skipping(path);
    o.from = whole.places[k];
    outcome rest = run(w.rt, ds, o);
    CAPTURE(k, rest.message());
    CHECK(rest.why.ok());
    CHECK(rest.elements.size() == whole.elements.size() - k);
    CHECK((kept_in(path) == kept_in(once)));
    run(w.rt, ds, skipping(path));
    CHECK((kept_in(path) == kept_in(once)));
  }
}

TEST_CASE("an entry that a crash left incomplete is removed, and a foreign file is left alone") {
  temporary_folder folder;
  file_world w;
  w.files->put("a", damaged_file());
  for (const char* name : {"bad.tfrecord", "bad.jsonl"}) {
    const std::string path = folder.path(name);
    run(w.rt, tfrecord("a"), skipping(path));
    const std::string good = content(path), entries = kept_in(path);
    for (std::size_t cut = 4; cut < good.size(); cut += 1 + cut % 7) {
      folder.write(name, good.substr(0, cut));
      outcome again = run(w.rt, tfrecord("a"), skipping(path));
      CAPTURE(name, cut, again.message());
      CHECK(again.why.ok());
      CHECK((kept_in(path) == entries));
    }
    for (const std::string& other : {std::string("{\"e"), std::string("a text of somebody\n"), framed(some_records(3)),
                                     std::string("{\"x\":1}\n"), framed({std::string()}), std::string(200, '\0')}) {
      folder.write(name, other);
      outcome refused = run(w.rt, tfrecord("a"), skipping(path));
      CAPTURE(name, refused.message());
      CHECK(refused.why.code() == status_code::failed_precondition);
      CHECK_THAT(refused.message(), Contains("left unchanged") && Contains(name));
      CHECK((content(path) == other));
    }
  }
}

TEST_CASE("a file of an older version, whose entries have no place, gets no entry twice") {
  temporary_folder folder;
  file_world w;
  w.files->put("a", damaged_file());
  for (const char* name : {"bad.tfrecord", "bad.jsonl"}) {
    const std::string path = folder.path(name);
    run(w.rt, tfrecord("a"), skipping(path));
    const std::string entries = kept_in(path);
    auto older = open_quarantine_file(folder.path(std::string("old-") + name));
    for (std::uint64_t k : {0u, 1u}) {
      const stored_error e = *read_quarantined(path, k);
      dropped_error again;
      again.why = e.why;
      again.bytes = std::make_shared<const std::string>(e.bytes);
      CHECK(older->keep(again).ok());
    }
    older.reset();
    const std::string before = content(folder.path(std::string("old-") + name));
    CHECK_THAT(before, !Contains("seed"));
    CHECK_THAT(content(path), Contains("seed") && Contains("plan") && Contains("position"));
    run(w.rt, tfrecord("a"), skipping(folder.path(std::string("old-") + name)));
    CHECK((content(folder.path(std::string("old-") + name)) == before));
    CHECK((kept_in(folder.path(std::string("old-") + name)) == entries));
  }
}

TEST_CASE("a file of another run, or one that cannot be written, ends the run with the reason") {
  temporary_folder folder;
  file_world w;
  w.files->put("a", damaged_file());
  const std::string path = folder.write("bad", "");
  const int other = ::open(path.c_str(), O_RDWR);
  REQUIRE(::flock(other, LOCK_EX) == 0);
  outcome locked = run(w.rt, tfrecord("a"), skipping(path));
  CHECK(locked.why.code() == status_code::unavailable);
  CHECK_THAT(locked.message(), Contains(path));
  ::close(other);
  CHECK(run(w.rt, tfrecord("a"), skipping(path)).why.ok());
  outcome nowhere = run(w.rt, tfrecord("a"), skipping(folder.path("no/such/folder")));
  CHECK(nowhere.why.code() == status_code::not_found);
  CHECK(nowhere.elements.size() == 2);
}

TEST_CASE("a full file states it in its last entry, once, and accepts no more") {
  temporary_folder folder;
  for (const char* name : {"bad", "bad.jsonl"}) {
    const std::string path = folder.path(name);
    std::string first;
    for (int round = 0; round != 2; ++round) {
      auto sink = open_quarantine_file(path, 5);
      for (int i = 0; i != 20; ++i) {
        dropped_error e;
        e.why = data_loss_error("number " + std::to_string(i));
        CHECK(sink->keep(e).ok());
      }
      sink.reset();
      if (round == 0) first = content(path);
    }
    CHECK((content(path) == first));
    CHECK_THAT(first, Contains("number 3") && !Contains("number 4") && Contains("this file is full"));
  }
  auto small = open_quarantine_file(folder.path("small"), 1000, 500);
  for (int i = 0; i != 50; ++i) {
    dropped_error e;
    e.why = data_loss_error("number " + std::to_string(i));
    CHECK(small->keep(e).ok());
  }
  small.reset();
  CHECK(content(folder.path("small")).size() < 800);
}

TEST_CASE(
    "a damaged length loses the reported bytes, up to the next valid header, or with end_file the rest of the file") {
  temporary_folder folder;
  file_world w;
  const std::size_t at = frame_of(kRecords, 3), next = frame_of(kRecords, 4);
  const std::string bytes = flipped(framed(kRecords), at + 1);  // of the length
  w.files->put("a", bytes);
  outcome searched = run(w.rt, tfrecord("a"), skipping(folder.path("searched")));
  CHECK((searched.elements == without(kRecords, {3})));
  auto all = entries_of(folder.path("searched"));
  REQUIRE(all.size() == 1);
  CHECK((text_in(all[0], "bytes") == bytes.substr(at, next - at)));
  CHECK_THAT(text_in(all[0], "error"), Contains("; with it " + std::to_string(next - at) +
                                                " bytes are lost, up to the next element that was found"));
  outcome ended = run(w.rt, tfrecord("a", {.after_damage = after_damage::end_file}), skipping(folder.path("ended")));
  CHECK((ended.elements == first_of(kRecords, 3)));
  CHECK(ended.report.errors == 1);
  all = entries_of(folder.path("ended"));
  REQUIRE(all.size() == 1);
  CHECK((text_in(all[0], "bytes") == bytes.substr(at)));
  CHECK_THAT(text_in(all[0], "error"),
             Contains(std::to_string(bytes.size() - at) + " bytes are lost, up to the end of the file"));
  // Data alone are damaged: the frame says where the next record is.
  w.files->put("b", damaged_file());
  CHECK(run(w.rt, tfrecord("b", {.after_damage = after_damage::end_file}), skipping()).elements.size() == 8);
  CHECK(plan_text(*tfrecord("b", {.after_damage = after_damage::end_file}).plan()) ==
        R"(tfrecord("b", after_damage=end_file))");
}

TEST_CASE("kept bytes are charged while they are on their way, and no longer") {
  temporary_folder folder;
  file_world w;
  const texts large = some_records(8, 300'000);
  w.files->put("a", framed(large));
  auto ds = tfrecord("a") |
            map([](const record&) -> result<std::int64_t> { return invalid_argument_error("none is good"); }) |
            prefetch(4);
  outcome got = run(w.rt, ds, skipping(folder.path("bad")));
  CHECK(got.report.errors == 8);
  CHECK(entries_of(folder.path("bad")).size() == 8);
  for (const ledger_line_report& l : w.rt.ledger().report().lines) CHECK((l.stage != "map" || l.used_bytes == 0));
}

}  // namespace sluice::lib::quarantine_test
