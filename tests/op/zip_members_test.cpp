// SPDX-License-Identifier: Apache-2.0
// sluice/op/zip_members.hpp
#include <string>

#include <catch2/catch.hpp>

#include "format/archive/zip_archive.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/io/simulated_file_system.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"
#include "support/zip_bytes.hpp"

namespace sluice::lib::zip_members_test {
namespace {

using namespace test;
using testing::temporary_folder;

task<std::string> told_of(stream<zip_member> s) {
  std::string out;
  try {
    while (auto m = co_await s.next())
      out += m->name + "=" + std::string(m->bytes.view()) + "@" + std::to_string(m->offset) + " ";
  } catch (const error& e) { out += "! " + std::string(e.what()); }
  co_return out;
}
/// "name=bytes@offset " for each file, and what went wrong.
std::string read(const std::string& bytes, const iterate_options& o = {}, const zip_members_options& how = {}) {
  runtime rt({.workers = 1});
  memory_files files = add_memory_files(rt);
  files.put("mem://a.zip", bytes);
  std::string told = sync_wait(rt, told_of(zip_members("mem://a.zip", how).iterate(rt, o)));
  CHECK(rt.ledger().report().used_bytes == 0);
  return told;
}
std::string read_skipping(const std::string& bytes) {
  iterate_options o;
  o.on_error = error_policy::skip;
  return read(bytes, o);
}

zip_file deflated(const char* name, std::string bytes) {
  return {.name = name, .bytes = std::move(bytes), .is_deflated = true};
}

}  // namespace

TEST_CASE("zip_members prints as text, and is read again") {
  round_trips(*zip_members("a.zip").plan(), "zip_members(\"a.zip\")");
  round_trips(*(list_files("*.zip") | interleave(zip_members)).plan(),
              "list_files(\"*.zip\") | interleave(zip_members)");
  round_trips(*zip_members("a.zip", {.inflated_bytes_max = 1 << 20, .inflate_ratio_max = 50}).plan(),
              "zip_members(\"a.zip\", inflated_bytes_max=1MiB, inflate_ratio_max=50)");
}

TEST_CASE("zip_members gives files of every form, and where they are") {
  zip_writer a;
  a.add({.name = "a", .bytes = "1"}).add({.name = "d/"}).add(deflated("d/b", "22")).add({.name = "none"});
  CHECK(read(a.bytes()) == "a=1@0 d/b=22@74 none=@116 ");
  CHECK(read(a.bytes("a comment")) == "a=1@0 d/b=22@74 none=@116 ");
  CHECK(read(a.bytes("", true)) == "a=1@0 d/b=22@74 none=@116 ");
  CHECK(read(zip_writer("12345").add({.name = "a", .bytes = "1"}).bytes("", true)) == "a=1@5 ");
  CHECK(read(zip_writer().add({.name = "a", .bytes = "1", .is_64 = true, .sizes_behind = true}).bytes()) == "a=1@0 ");
  CHECK(read(zip_writer().add(deflated("empty", "")).bytes()) == "empty=@0 ");
  CHECK(read(zip_writer().bytes()).empty());
  // An end record within a comment is none: its own comment's length does not fit.
  CHECK(read(a.bytes("PK\x05\x06" + std::string(18, '\1'))) == "a=1@0 d/b=22@74 none=@116 ");
}

TEST_CASE("zip_members reads long files in small pieces, and many files") {
  std::string long_text;
  for (int i = 0; i != 400'000; ++i) long_text += std::to_string(std::int64_t{i} * i);
  zip_writer a;
  a.add(deflated("long", long_text)).add({.name = "stored", .bytes = long_text});
  for (int i = 0; i != 3000; ++i) a.add({.name = "n" + std::to_string(i), .bytes = std::to_string(i)});
  const std::string told = read(a.bytes(), {}, {.read_bytes = 4096});
  CHECK(told.starts_with("long=" + long_text + "@0 stored=" + long_text + "@"));
  CHECK(told.find(" n2999=2999@") != told.npos);
}

TEST_CASE("zip_members tells what is wrong with a member, where, and goes on behind it") {
  const std::string good = std::string(5000, 'g');
  auto broken = [&](const zip_file& bad, const std::string& words) {
    CAPTURE(words);
    zip_writer a;
    a.add({.name = "a", .bytes = "1"}).add(bad).add({.name = "c", .bytes = "3"});
    const std::string told = read(a.bytes());
    CHECK_THAT(told, Catch::StartsWith("a=1@0 ! ") && Catch::Contains(words) &&
                         Catch::Contains("mem://a.zip at byte 37, record 1: member \"" + bad.name + "\""));
    CHECK_THAT(read_skipping(a.bytes()), Catch::StartsWith("a=1@0 c=3@"));
  };
  broken({.name = "b", .bytes = good, .crc_damage = 1}, "its checksum is wrong");
  broken({.name = "b", .bytes = good, .is_deflated = true, .crc_damage = 1}, "its checksum is wrong");
  broken({.name = "b", .bytes = good, .is_deflated = true, .size_damage = 7}, "has 5000 bytes instead of 5007");
  broken({.name = "b", .bytes = good, .is_deflated = true, .size_damage = ~std::uint64_t{0}},
         "has more than its 4999 bytes");
  broken({.name = "b", .bytes = good, .is_deflated = true, .packed_damage = -3}, "its deflated bytes end too early");
  broken({.name = "b", .bytes = good, .size_damage = 7}, "is stored, and has two sizes");
  broken({.name = "b", .bytes = good, .flags = 1}, "is encrypted");
  broken({.name = "b", .bytes = good, .method = 12}, "is packed by method 12");
  broken({.name = "b", .bytes = good, .method = 8}, "its deflated bytes are damaged");
  broken({.name = "b", .bytes = good, .name_in_front = "x"}, "another member, \"x\", is at the directory's offset");
  broken({.name = "b", .bytes = "", .is_deflated = true, .size_damage = 1 << 30}, "cannot have 1073741824 bytes");
  // What is too large is no error of the element, for skip as for stop.
  const std::string huge =
      zip_writer()
          .add({.name = "b", .bytes = good, .is_deflated = true, .is_64 = true, .size_damage = std::uint64_t{1} << 40})
          .bytes();
  CHECK_THAT(read(huge), Catch::Contains("resource_exhausted") && Catch::Contains("a member may have 2147483648"));
  CHECK_THAT(read_skipping(huge), Catch::Contains("resource_exhausted"));
}

TEST_CASE("zip_members refuses what is no archive, and archives that make much of little") {
  CHECK_THAT(read(""), Catch::Contains("mem://a.zip: is no zip archive") && Catch::Contains("does not end"));
  CHECK_THAT(read(std::string(100'000, 'x')), Catch::Contains("is no zip archive"));
  const std::string whole = zip_writer().add({.name = "a", .bytes = "1"}).bytes();
  for (std::size_t n = 0; n != whole.size(); ++n)
    CHECK_THAT(read(whole.substr(0, n)), Catch::StartsWith("! data_loss"));
  CHECK(read_skipping(whole.substr(0, 50)).empty());
  // Two entries for the same bytes.
  const std::string directory = whole.substr(37, whole.size() - 37 - 22);
  const std::string twice = whole.substr(0, 37) + directory + directory + "PK\x05\x06" + little(0, 4) + little(2, 2) +
                            little(2, 2) + little(2 * directory.size(), 4) + little(37, 4) + little(0, 2);
  CHECK(read(twice).starts_with("a=1@0 a=1@0 "));  // one byte twice is less than the archive has
  std::string big = zip_writer().add({.name = "a", .bytes = std::string(1000, 'x')}).bytes();
  const std::size_t at = 36 + 1000;
  const std::string entry = big.substr(at, big.size() - at - 22);
  const std::string bomb = big.substr(0, at) + entry + entry + "PK\x05\x06" + little(0, 4) + little(2, 2) +
                           little(2, 2) + little(2 * entry.size(), 4) + little(at, 4) + little(0, 2);
  CHECK_THAT(read(bomb), Catch::Contains("its members overlap"));
}

TEST_CASE("zip_members has limits of size and ratio for deflated files") {
  const std::string zeros(3 << 20, '\0');
  const std::string archive = zip_writer().add(deflated("z", zeros)).add({.name = "c", .bytes = "3"}).bytes();
  CHECK(read(archive).size() > zeros.size());
  CHECK_THAT(read(archive, {}, {.inflated_bytes_max = (3 << 20) - 1}),
             Catch::Contains("resource_exhausted") && Catch::Contains("inflated_bytes_max"));
  CHECK(read(archive, {}, {.inflated_bytes_max = 3 << 20}).size() > zeros.size());
  CHECK_THAT(read(archive, {}, {.inflate_ratio_max = 10}), Catch::Contains("inflate_ratio_max"));
}

TEST_CASE("zip_members needs an end: a stream is refused by name") {
  simulation world(2);
  runtime rt(world);
  auto files = std::make_unique<simulated_file_system>(world);
  files->put_stream("pipe", zip_writer().add({.name = "a", .bytes = "1"}).bytes());
  set_files(rt, std::move(files));
  CHECK_THAT(sync_wait(rt, told_of(zip_members("pipe").iterate(rt))),
             Catch::Contains("invalid_argument") && Catch::Contains("cannot be read from a stream"));
}

}  // namespace sluice::lib::zip_members_test
