// SPDX-License-Identifier: Apache-2.0
// Files that cannot be read and bytes that cannot be right: what is told, and what is given before.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "format/compressed.hpp"
#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bad_files_test {
namespace {

using namespace testing;
using Catch::Contains;

/// The three sources over one path, each as a run that has ended.
struct told {
  std::string source;
  outcome got;
};
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

}  // namespace

// --- Files ----------------------------------------------------------------------------------------------------------

TEST_CASE("a file that does not exist is named, with the stage that wanted it") {
  temporary_folder folder;
  runtime rt({.workers = 1});
  check_refused(rt, folder.path("nowhere.tfrecord"), status_code::not_found, "No such file");
}

TEST_CASE("a folder and a device are refused at once") {
  temporary_folder folder;
  runtime rt({.workers = 1});
  check_refused(rt, "/dev/null", status_code::invalid_argument, "a character device");
  folder.write("folder/file", "x");
  check_refused(rt, folder.path("folder"), status_code::invalid_argument, "a directory");
}

TEST_CASE("a file that may not be read is named") {
  temporary_folder folder;
  std::string path = folder.write("secret.tfrecord", framed(some_records(3)));
  REQUIRE(::chmod(path.c_str(), 0) == 0);
  REQUIRE(::chmod(folder.path("").c_str(), 0755) == 0);
  bool root = ::geteuid() == 0;  // for whom nothing is forbidden
  if (root) REQUIRE(::seteuid(65534) == 0);
  {
    runtime rt({.workers = 1});
    check_refused(rt, path, status_code::permission_denied, "Permission denied");
  }
  if (root) REQUIRE(::seteuid(0) == 0);
}

TEST_CASE("errors of a file system, and a read that fails half way, have file and offset") {
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

/// One damaged file, read in every way: the records before the damage come, then data_loss with file, offset and
/// record.
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
  w.files->put("trailer.gz", gzip.substr(0, gzip.size() - 1));
  for (std::string name : {"short.gz", "garbage.gz", "trailer.gz"}) {
    outcome got = run(w.rt, tfrecord(name));
    CAPTURE(name, got.message());
    CHECK(got.why.code() == status_code::data_loss);
    CHECK(got.why.where().file == name);
    CHECK(got.why.where().stage == "tfrecord");
    CHECK(got.why.where().offset_bytes != provenance::kUnknown);
    CHECK(got.elements == first_of(records, std::min(got.elements.size(), records.size())));
    if (name == "short.gz") CHECK(got.elements.size() < records.size());
    else CHECK(got.elements.size() == records.size());  // all of them had been inflated
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

}  // namespace sluice::lib::bad_files_test
