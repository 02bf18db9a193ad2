// SPDX-License-Identifier: Apache-2.0
// sluice/op/tar.hpp
#include <string>

#include <catch2/catch.hpp>

#include "format/archive/tar_archive.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"
#include "support/tar_bytes.hpp"

namespace sluice::lib::tar_test {
namespace {

using namespace test;
using testing::temporary_folder;

task<std::string> told_of(stream<tar_member> s) {
  std::string out;
  try {
    while (auto m = co_await s.next())
      out += m->name + "=" + std::string(m->bytes.view()) + "@" + std::to_string(m->offset) + " ";
  } catch (const error& e) { out += "! " + std::string(e.what()); }
  co_return out;
}
/// "name=bytes@offset " for each file, and what went wrong.
std::string read(const std::string& bytes, const iterate_options& o = {}) {
  temporary_folder here;
  runtime rt({.workers = 1});
  return sync_wait(rt, told_of(tar(here.write("a.tar", bytes)).iterate(rt, o)));
}
std::string read_skipping(const std::string& bytes) {
  iterate_options o;
  o.on_error = error_policy::skip;
  return read(bytes, o);
}

}  // namespace

TEST_CASE("tar prints as text, and is read again") {
  round_trips(*tar("a.tar").plan(), "tar(\"a.tar\")");
  round_trips(*(list_files("*.tar") | interleave(tar)).plan(), "list_files(\"*.tar\") | interleave(tar)");
}

TEST_CASE("tar gives files with their names in every form, and where their bytes are") {
  const std::string long_name(250, 'x');
  CHECK(read(tar_file_bytes("a", "1") + tar_file_bytes("b", "") + tar_end()) == "a=1@512 b=@1536 ");
  CHECK(read(tar_entry_bytes({.name = "n", .prefix = "p/q"}, "1")) == "p/q/n=1@512 ");
  CHECK(read(tar_entry_bytes({.name = "n", .prefix = "p/q", .is_gnu = true}, "1")) == "n=1@512 ");
  CHECK(read(tar_file_bytes(long_name, "1", 1)) == long_name + "=1@1536 ");
  CHECK(read(tar_file_bytes(long_name, "1", 2)) == long_name + "=1@1536 ");
  CHECK(read(tar_entry_bytes({.name = std::string(100, 'y')}, "1")) == std::string(100, 'y') + "=1@512 ");
  CHECK(read(tar_entry_bytes({.name = "d", .type = '5'}, "") + tar_file_bytes("a", "1") + tar_end(20) + "rest") ==
        "a=1@1024 ");
  CHECK(read(tar_entry_bytes({.name = "old", .type = '\0'}, "1") +
             tar_entry_bytes({.name = "whole", .type = '7'}, "2")) == "old=1@512 whole=2@1536 ");
  CHECK(read("").empty());
  CHECK(read(tar_end()).empty());
  CHECK(read(tar_end(1)).empty());
  // Without the padding of the last one.
  CHECK(read(tar_file_bytes("a", "123").substr(0, 515)) == "a=123@512 ");
  std::string size_in_pax = tar_entry_bytes({.name = "x", .type = 'x'}, pax_record("size", "3"));
  CHECK(read(size_in_pax + tar_header_bytes({.name = "a"}) + tar_padded("123") + tar_file_bytes("b", "4")) ==
        "a=123@1536 b=4@2560 ");
}

TEST_CASE("tar reports the fault of an archive, and its place") {
  const std::string good = tar_file_bytes("a", "1"), other = tar_file_bytes("c", "3");
  auto broken = [&](const std::string& bytes, const char* words, const std::string& skipped) {
    const std::string told = read(good + bytes);
    CHECK_THAT(told,
               Catch::StartsWith("a=1@512 ! ") && Catch::Contains(words) && Catch::Contains("a.tar at byte 1024"));
    CHECK(read_skipping(good + bytes) == "a=1@512 " + skipped);
  };
  std::string wrong = tar_file_bytes("b", "2");
  wrong[0] = 'x';
  broken(wrong + other + tar_end(), "checksum", "c=3@2560 ");
  broken("no tar at all" + std::string(2000, 'x'), "checksum", "");
  broken(tar_header_bytes({.name = "b", .size = 100'000}) + "short", "ends inside of the member b", "");
  broken(std::string(100, 'h'), "ends inside of a header", "");
  broken(tar_entry_bytes({.name = "s", .type = 'S', .is_gnu = true}, "12") + other, "sparse", "c=3@2560 ");
  broken(tar_end(1) + other, "a lone block of zeros", "c=3@2048 ");
  broken(tar_entry_bytes({.name = "x", .type = 'x'}, "7 a=b\n") + other, "pax", "c=3@2560 ");
  broken(tar_entry_bytes({.name = "x", .type = 'x'}, pax_record("GNU.sparse.major", "1")) + other, "sparse", "");
  broken(tar_entry_bytes({.name = "x", .type = 'g'}, pax_record("path", "all")) + other, "global", "c=3@2560 ");
  broken(tar_entry_bytes({.name = "x", .type = 'x'}, pax_record("a", "b")) + tar_end(), "without a header after it",
         "");
  std::string no_number = tar_header_bytes({.name = "b"});
  no_number.replace(124, 3, "9x9");
  unsigned sum = 8u * ' ';
  for (std::size_t i = 0; i != 512; ++i) sum += i >= 148 && i < 156 ? 0 : static_cast<unsigned char>(no_number[i]);
  std::snprintf(no_number.data() + 148, 8, "%06o", sum);
  broken(no_number + other, "is no number", "c=3@2048 ");
}

TEST_CASE("tar: sizes that cannot be are refused before anything is allocated for them") {
  temporary_folder here;
  for (std::uint64_t size :
       {std::uint64_t{3} << 30, std::uint64_t{1} << 50, ~std::uint64_t{0} >> 1, ~std::uint64_t{0}}) {
    for (char type : {'0', 'x', 'L', 'g'}) {
      const std::string told =
          read(tar_header_bytes({.name = "b", .size = size, .type = type, .is_gnu = true}) + std::string(5000, '\0'));
      CHECK_THAT(told, Catch::StartsWith("! "));
    }
  }
}

TEST_CASE("tar: extended headers that are too long, or without end, are refused") {
  CHECK_THAT(
      read(tar_entry_bytes({.name = "x", .type = 'x'}, std::string((1 << 20) + 1, 'n')) + tar_file_bytes("a", "1")),
      Catch::StartsWith("! ") && Catch::Contains("an extended header of 1048577 bytes"));
  std::string bytes;
  for (int i = 0; i != 6; ++i)
    bytes += tar_entry_bytes({.name = "x", .type = 'L', .is_gnu = true}, std::string(1 << 20, 'n'));
  CHECK_THAT(read(bytes + tar_file_bytes("a", "1")), Catch::StartsWith("! ") && Catch::Contains("before one member"));
}

TEST_CASE("tar: headers of any bytes end in an error or in files, never elsewhere") {
  std::uint64_t draw = 88172645463325252ull;
  auto next = [&] {
    draw ^= draw << 13;
    draw ^= draw >> 7;
    return draw ^= draw << 17;
  };
  const std::string sound = tar_file_bytes(std::string(200, 'n'), std::string(700, 'd'), 1) +
                            tar_file_bytes(std::string(120, 'p'), "p", 2) + tar_file_bytes("s", "s") + tar_end();
  for (int trial = 0; trial != 4000; ++trial) {
    std::string bytes = sound;
    for (auto n = 1 + next() % 3; n != 0; --n) {
      const std::size_t at = next() % bytes.size();
      bytes[at] = static_cast<char>(next());
      // With a checksum that is right again, in half of the trials.
      const std::size_t header = at / 512 * 512;
      if (next() % 2 == 0) continue;
      std::memset(bytes.data() + header + 148, ' ', 8);
      unsigned sum = 0;
      for (std::size_t i = 0; i != 512; ++i) sum += static_cast<unsigned char>(bytes[header + i]);
      std::snprintf(bytes.data() + header + 148, 8, "%06o", sum);
    }
    bytes.resize(next() % 4 ? bytes.size() : next() % bytes.size());
    const tar_window w{.bytes = bytes, .end = bytes.size(), .offset = 0, .last = true};
    std::size_t at = 0;
    while (at <= bytes.size()) {
      tar_step whole = read_tar_entry(w, at, true), header = read_tar_entry(w, at, false);
      REQUIRE(whole.is != tar_step::kind::incomplete);
      CHECK(whole.is == header.is);
      CHECK(whole.size_bytes == header.size_bytes);
      // The same of a part of the window, as soon as it has what is wanted.
      tar_window part{.bytes = std::string_view(bytes).substr(0, at), .end = bytes.size(), .offset = 0, .last = false};
      for (tar_step s = read_tar_entry(part, at, true); s.is == tar_step::kind::incomplete;
           s = read_tar_entry(part, at, true)) {
        REQUIRE(at + s.needed_bytes > part.bytes.size());
        REQUIRE(at + s.needed_bytes <= bytes.size());
        part.bytes = std::string_view(bytes).substr(0, at + s.needed_bytes);
      }
      CHECK(read_tar_entry(part, at, true).is == whole.is);
      if (whole.is != tar_step::kind::entry) break;
      REQUIRE(whole.size_bytes >= 512);
      if (whole.entry.is_file) REQUIRE(whole.entry.data_at + whole.entry.data_bytes <= bytes.size());
      at += static_cast<std::size_t>(whole.size_bytes);
    }
  }
}

}  // namespace sluice::lib::tar_test
