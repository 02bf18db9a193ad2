// SPDX-License-Identifier: Apache-2.0
// Files that cannot be read, bytes that cannot be right, functions that fail: what is told, what is given before, and
// how a run goes on that is allowed to.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "format/compressed.hpp"
#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/coro/sleep.hpp"
#include "sluice/format/tfrecord.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice {
namespace {

using namespace testing;
using Catch::Contains;
using texts = std::vector<std::string>;

iterate_options skipping(std::uint64_t errors_max = ~std::uint64_t{0}) {
  iterate_options o;
  o.on_error = error_policy::skip;
  o.errors_max = errors_max;
  return o;
}

/// "r0", "r1" … of `each` bytes at least.
texts some_records(std::size_t n, std::size_t each = 0) {
  texts all;
  for (std::size_t i = 0; i != n; ++i) {
    all.push_back("r" + std::to_string(i));
    if (all.back().size() < each) all.back().resize(each, '.');
  }
  return all;
}
std::string framed(const texts& records) {
  std::string bytes;
  for (const std::string& r : records) append_tfrecord(bytes, r);
  return bytes;
}
/// Where record i's frame begins.
std::size_t frame_of(const texts& records, std::size_t i) { return framed(texts(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(i))).size(); }

texts without(texts all, std::vector<std::size_t> dropped) {
  for (auto i = dropped.rbegin(); i != dropped.rend(); ++i) all.erase(all.begin() + static_cast<std::ptrdiff_t>(*i));
  return all;
}
texts first_of(texts all, std::size_t n) { all.resize(n); return all; }
texts numbers(std::int64_t from, std::int64_t to) {
  texts all;
  for (std::int64_t i = from; i != to; ++i) all.push_back(std::to_string(i));
  return all;
}

/// The three sources over one path, each as a run that has ended.
struct told { std::string source; outcome got; };
std::vector<told> read_by_all(runtime& rt, const std::string& path, const iterate_options& o = {}) {
  std::vector<told> all;
  all.push_back({"tfrecord", run(rt, tfrecord(path), o)});
  all.push_back({"lines", run(rt, lines(path), o)});
  all.push_back({"fixed_length", run(rt, fixed_length(path, {.record_bytes = 4}), o)});
  return all;
}
void check_refused(runtime& rt, const std::string& path, status_code code, const std::string& words) {
  for (const told& t : read_by_all(rt, path)) {
    CAPTURE(t.source, t.got.message());
    CHECK(t.got.elements.empty());
    CHECK(t.got.why.code() == code);
    CHECK(t.got.why.where().file == path);
    CHECK(t.got.why.where().stage == t.source);
    CHECK_THAT(t.got.message(), Contains(words));
  }
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

// --- Functions that fail at 7 (and, to be passed over, at every multiple of 7) -------------------------------------

bool is_bad(std::int64_t x) { return x % 7 == 0 && x != 0; }
std::int64_t throws(std::int64_t x) {
  if (is_bad(x)) throw std::runtime_error("seven does not please me");
  return x;
}
std::int64_t throws_a_number(std::int64_t x) {
  if (is_bad(x)) throw 42;
  return x;
}
result<std::int64_t> returns_an_error(std::int64_t x) {
  if (is_bad(x)) return out_of_range_error("seven is out of range");
  return x;
}
task<std::int64_t> fails_later(std::int64_t x) {
  co_await sleep_for(std::chrono::microseconds(10));
  if (is_bad(x)) throw std::runtime_error("seven does not please me");
  co_return x;
}
bool throws_as_predicate(const std::int64_t& x) {
  if (is_bad(x)) throw std::runtime_error("seven does not please me");
  return true;
}
stream<std::int64_t> throws_as_stage(stream<std::int64_t> in) {
  while (auto x = co_await in.next()) {
    std::int64_t y = throws(*x);
    co_yield y;
  }
}
stream<std::int64_t> throws_as_source() {
  for (std::int64_t i = 0;; ++i) {
    std::int64_t y = throws(i);
    co_yield y;
  }
}
stream<std::int64_t> passes_on(stream<std::int64_t> in) {
  while (auto x = co_await in.next()) co_yield *x;
}
dataset<std::int64_t> opens_or_throws(std::int64_t x) { return range(throws(x) + 1, {.start = x}); }
dataset<std::int64_t> one(std::int64_t x) { return range(x + 1, {.start = x}); }

dataset<std::int64_t> failing_numbers() { return range(20) | map(throws); }

template <class T> void check_seven_elements(const dataset<T>& ds, const std::string& stage, const std::string& words) {
  file_world w;
  outcome got = run(w.rt, ds);
  CAPTURE(stage, got.message());
  CHECK(got.elements == numbers(0, 7));
  CHECK(got.why.code() == status_code::unknown);
  CHECK(got.why.where().stage == stage);
  CHECK_THAT(got.message(), Contains(words));
}

}  // namespace

// --- Files ----------------------------------------------------------------------------------------------------------

TEST_CASE("a file that does not exist is named, with the stage that wanted it") {
  temporary_folder folder;
  runtime rt({.workers = 1});
  check_refused(rt, folder.path("nowhere.tfrecord"), status_code::not_found, "No such file");
}

TEST_CASE("a folder and a FIFO are refused at once, and nothing hangs") {
  temporary_folder folder;
  runtime rt({.workers = 1});
  std::string fifo = folder.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  check_refused(rt, fifo, status_code::invalid_argument, "a FIFO");
  folder.write("folder/file", "x");
  check_refused(rt, folder.path("folder"), status_code::invalid_argument, "a directory");
}

TEST_CASE("a file that may not be read is named") {
  temporary_folder folder;
  std::string path = folder.write("secret.tfrecord", framed(some_records(3)));
  REQUIRE(::chmod(path.c_str(), 0) == 0);
  REQUIRE(::chmod(folder.path("").c_str(), 0755) == 0);
  bool root = ::geteuid() == 0;   // for whom nothing is forbidden
  if (root) REQUIRE(::seteuid(65534) == 0);
  {
    runtime rt({.workers = 1});
    check_refused(rt, path, status_code::permission_denied, "Permission denied");
  }
  if (root) REQUIRE(::seteuid(0) == 0);
}

TEST_CASE("what a file system refuses, and a read that fails half way, are told with file and offset") {
  file_world w;
  w.files->put("a", framed(some_records(3)));
  w.files->refuse("a", EACCES);
  check_refused(w.rt, "a", status_code::permission_denied, "Permission denied");

  texts records = some_records(3000, 1000);
  w.files->put("b", framed(records));
  w.files->damage("b", frame_of(records, 2000) + 5);
  outcome got = run(w.rt, tfrecord("b"));
  CAPTURE(got.message());
  CHECK(got.why.code() == status_code::data_loss);
  CHECK(got.why.where().file == "b");
  CHECK(got.why.where().stage == "tfrecord");
  CHECK(got.why.where().offset_bytes <= frame_of(records, 2000) + 5);
  CHECK(got.elements.size() <= 2000);
  CHECK(got.elements == first_of(records, got.elements.size()));
  CHECK_THAT(got.message(), Contains("Input/output error"));
}

TEST_CASE("an empty file has no elements and no error") {
  file_world w;
  w.files->put("a", "");
  for (const told& t : read_by_all(w.rt, "a")) {
    CAPTURE(t.source, t.got.message());
    CHECK(t.got.why.ok());
    CHECK(t.got.elements.empty());
  }
}

TEST_CASE("no file for a pattern is an error that names the pattern") {
  file_world w;
  outcome got = run(w.rt, list_files("data/*.tfrecord") | flat_map(tfrecord));
  CAPTURE(got.message());
  CHECK(got.why.code() == status_code::not_found);
  CHECK(got.why.where().stage == "list_files");
  CHECK_THAT(got.message(), Contains("data/*.tfrecord"));
}

// --- Bytes ----------------------------------------------------------------------------------------------------------

namespace {

/// One damaged file, read in every way: the records before the damage come, then data_loss with file, offset and record.
void check_damage(const std::string& bytes, const texts& records, std::size_t damaged, const std::string& words) {
  file_world w;
  w.files->put("a", bytes);
  w.files->put("list", "a\n");
  std::vector<dataset<record>> ways = {
      tfrecord("a"),
      tfrecord("a", {.read_bytes = 4096}) | prefetch(2),
      lines("list") | interleave(tfrecord, {.cycle_length = 4, .parallelism = 4}),
      lines("list") | interleave(tfrecord, {.cycle_length = 4, .parallelism = 4, .order = order::sloppy}),
  };
  for (const auto& ds : ways) {
    outcome got = run(w.rt, ds);
    CAPTURE(plan_text(*ds.plan()), got.message(), damaged);
    CHECK(got.elements == first_of(records, damaged));
    CHECK(got.why.code() == status_code::data_loss);
    CHECK(got.why.where().file == "a");
    CHECK(got.why.where().offset_bytes == frame_of(records, damaged));
    CHECK(got.why.where().record_index == damaged);
    CHECK(got.why.where().stage == "tfrecord");
    CHECK_THAT(got.message(), Contains(words));
    CHECK(w.rt.ledger().report().peak_bytes < (8u << 20));
  }
}

std::string flipped(std::string bytes, std::size_t at, int bit = 0) {
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
  return bytes;
}

}  // namespace

TEST_CASE("a truncated header or body names file, byte and record") {
  texts records = some_records(5);
  std::string bytes = framed(records);
  for (std::size_t damaged : {0, 1, 4}) {
    std::size_t at = frame_of(records, damaged);
    check_damage(bytes.substr(0, at + 5), records, damaged, "truncated");
    check_damage(bytes.substr(0, at + kTfrecordHeaderBytes + 1), records, damaged, "truncated");
  }
}

TEST_CASE("a flipped bit in a length or in the data names file, byte and record") {
  texts records = some_records(5);
  std::string bytes = framed(records);
  for (std::size_t damaged : {0, 2, 4}) {
    std::size_t at = frame_of(records, damaged);
    for (int bit : {0, 5}) {
      check_damage(flipped(bytes, at, bit), records, damaged, "length");
      check_damage(flipped(bytes, at + 7, bit), records, damaged, "length");
      check_damage(flipped(bytes, at + kTfrecordHeaderBytes, bit), records, damaged, "data");
    }
  }
}

TEST_CASE("a length of 2^63 is an error, and nothing is allocated for it") {
  texts records = some_records(5);
  std::string bytes = framed(records);
  auto header = tfrecord_header(std::uint64_t{1} << 63);
  bytes.replace(frame_of(records, 3), header.size(), header.data(), header.size());
  check_damage(bytes, records, 3, "9223372036854775808");
}

TEST_CASE("gzip that is cut short, or followed by something else, is an error after the records before it") {
  texts records = some_records(4000, 100);
  std::string gzip = gzipped(framed(records));
  file_world w;
  w.files->put("short.gz", gzip.substr(0, gzip.size() / 2));
  w.files->put("garbage.gz", gzip + "this is no gzip");
  for (std::string name : {"short.gz", "garbage.gz"}) {
    outcome got = run(w.rt, tfrecord(name));
    CAPTURE(name, got.message());
    CHECK(got.why.code() == status_code::data_loss);
    CHECK(got.why.where().file == name);
    CHECK(got.why.where().stage == "tfrecord");
    CHECK(got.why.where().offset_bytes != provenance::kUnknown);
    CHECK(got.elements == first_of(records, std::min(got.elements.size(), records.size())));
    if (name == "short.gz") CHECK(got.elements.size() < records.size());
  }
}

TEST_CASE("a file that is no whole number of records is refused before its first record") {
  file_world w;
  w.files->put("a", "aaaabbbbcc");
  outcome got = run(w.rt, fixed_length("a", {.record_bytes = 4}));
  CAPTURE(got.message());
  CHECK(got.elements.empty());
  CHECK(got.why.code() == status_code::invalid_argument);
  CHECK(got.why.where().file == "a");
  CHECK(got.why.where().stage == "fixed_length");
}

TEST_CASE("a line of many megabytes comes whole, and so does the one after it") {
  file_world w;
  std::string longest(5'000'000, 'x');
  w.files->put("a", "first\n" + longest + "\nlast");
  outcome got = run(w.rt, lines("a"));
  CAPTURE(got.message());
  CHECK(got.why.ok());
  REQUIRE(got.elements.size() == 3);
  CHECK((got.elements[1] == longest));
  CHECK(got.elements[2] == "last");
}

// --- Plans ----------------------------------------------------------------------------------------------------------

TEST_CASE("text that is no plan is refused with its column") {
  struct wrong { const char* text; std::size_t column; const char* words; };
  std::vector<wrong> all = {
      {"range(5) | shufle(3)", 12, "did you mean shuffle"},
      {"range(5) | shuffle(buffers=3)", 20, "buffers"},
      {"range(5) | interleave(tfrecord)", 12, "int64"},
      {"range(\"five\")", 7, ""},
      {"range(5) |", 11, ""},
  };
  for (const wrong& w : all) {
    CAPTURE(w.text);
    try {
      (void)parse_plan(w.text);
      FAIL("no error");
    } catch (const plan_error& e) {
      CHECK(e.column() == w.column);
      CHECK(e.code() == status_code::invalid_argument);
      CHECK_THAT(e.what(), Contains(w.words));
    }
  }
}

// --- Functions ------------------------------------------------------------------------------------------------------

TEST_CASE("a function that throws ends the stream after the elements before, and is told by stage and words") {
  const std::string words = "seven does not please me";
  check_seven_elements(range(20) | map(throws), "map", words);
  check_seven_elements(range(20) | map(throws, {.parallelism = 4}), "map", words);
  check_seven_elements(range(20) | map(fails_later), "map", words);
  check_seven_elements(range(20) | map(fails_later, {.parallelism = 4}), "map", words);
  check_seven_elements(range(20) | filter(throws_as_predicate), "filter", words);
  check_seven_elements(range(20) | transform(throws_as_stage), "transform", words);
  check_seven_elements(generate(throws_as_source), "generate", words);
  check_seven_elements(range(20) | flat_map(opens_or_throws), "flat_map", words);
  check_seven_elements(range(20) | interleave(opens_or_throws, {.cycle_length = 1}), "interleave", words);
  check_seven_elements(range(20) | interleave(opens_or_throws, {.cycle_length = 1, .parallelism = 2}), "interleave", words);
}

TEST_CASE("what a function throws without being an exception is told as unknown") {
  check_seven_elements(range(20) | map(throws_a_number), "map", "");
  check_seven_elements(range(20) | map(throws_a_number, {.parallelism = 3}), "map", "");
}

TEST_CASE("an error that a function returns keeps its code and words") {
  for (std::int64_t parallelism : {1, 4}) {
    file_world w;
    outcome got = run(w.rt, range(20) | map(returns_an_error, {.parallelism = parallelism}));
    CAPTURE(got.message());
    CHECK(got.elements == numbers(0, 7));
    CHECK(got.why.code() == status_code::out_of_range);
    CHECK(got.why.where().stage == "map");
    CHECK_THAT(got.message(), Contains("seven is out of range"));
  }
}

TEST_CASE("an exception of the user's own reaches next() with its cause") {
  file_world w;
  outcome got = run(w.rt, failing_numbers());
  REQUIRE(got.why.cause());
  CHECK_THROWS_AS(std::rethrow_exception(got.why.cause()), std::runtime_error);
}

TEST_CASE("an error comes through every stage after the elements before it") {
  check_seven_elements(failing_numbers() | map([](std::int64_t x) { return x; }), "map", "seven");
  check_seven_elements(failing_numbers() | map([](std::int64_t x) { return x; }, {.parallelism = 3}), "map", "seven");
  check_seven_elements(failing_numbers() | map([](std::int64_t x) { return std::to_string(x); }), "map", "seven");
  check_seven_elements(failing_numbers() | filter([](std::int64_t) { return true; }), "map", "seven");
  check_seven_elements(failing_numbers() | take(100), "map", "seven");
  check_seven_elements(failing_numbers() | skip(0), "map", "seven");
  check_seven_elements(failing_numbers() | repeat(2), "map", "seven");
  check_seven_elements(failing_numbers() | prefetch(1), "map", "seven");
  check_seven_elements(failing_numbers() | prefetch(50), "map", "seven");
  check_seven_elements(failing_numbers() | transform(passes_on), "map", "seven");
  check_seven_elements(failing_numbers() | flat_map(one), "map", "seven");
  check_seven_elements(failing_numbers() | interleave(one, {.cycle_length = 1}), "map", "seven");
  check_seven_elements(failing_numbers() | interleave(one, {.cycle_length = 1, .parallelism = 2}), "map", "seven");
  check_seven_elements(range(1) | flat_map([](std::int64_t) { return failing_numbers(); }), "map", "seven");
  check_seven_elements(range(1) | interleave([](std::int64_t) { return failing_numbers(); }, {.parallelism = 2}), "map", "seven");
  check_seven_elements(failing_numbers() | batch(1) | unbatch(), "map", "seven");
}

TEST_CASE("an error comes after the batches that were full, and after what a shuffle gave for the elements before") {
  file_world w;
  outcome batches = run(w.rt, failing_numbers() | batch(3));
  CHECK(batches.elements == texts{"[0 1 2]", "[3 4 5]"});
  CHECK(batches.why.code() == status_code::unknown);
  outcome shuffled = run(w.rt, failing_numbers() | shuffle(3, {.seed = 1}));
  CHECK(shuffled.elements.size() == 4);   // 3 of the 7 are in the buffer
  CHECK(shuffled.why.code() == status_code::unknown);
}

TEST_CASE("a stream that failed stays failed") {
  file_world w;
  auto twice = [](runtime& rt, status& first, status& second) -> task<void> {
    auto s = failing_numbers().iterate(rt);
    for (;;) {
      auto x = co_await s.try_next();
      first = x.why;
      if (!x) break;
    }
    auto again = co_await s.try_next();
    second = again.why;
    auto end = cleanup(std::move(s));
    co_await end;
  };
  status first, second;
  sync_wait(w.rt, twice(w.rt, first, second));
  CHECK(first.code() == status_code::unknown);
  CHECK(second.to_string() == first.to_string());
}

// --- Going on -------------------------------------------------------------------------------------------------------

TEST_CASE("under skip, damaged records are passed over, counted and told, and every place resumes") {
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
      range(60) | map([](std::int64_t x) { return std::to_string(throws(x)); }) | map([](const std::string& s) -> std::int64_t { return std::stoll(s); }),
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

TEST_CASE("under skip, a sloppy map drops what fails and its places lose and repeat nothing") {
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

TEST_CASE("under skip, files that cannot be opened are passed over") {
  for (std::int64_t parallelism : {1, 3}) {
    file_world w;
    texts records = some_records(4);
    w.files->put("a", framed(records));
    w.files->put("b", framed(records));
    w.files->put("c", framed(records));
    w.files->refuse("b", EACCES);
    auto ds = from_elements<std::string>({"a", "gone", "b", "c"}) | interleave(tfrecord, {.cycle_length = 2, .block_length = 4, .parallelism = parallelism});
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
  CHECK(got.report.errors == 3);
}

}  // namespace sluice
