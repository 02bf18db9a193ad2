// SPDX-License-Identifier: Apache-2.0
// sluice/op/zip_members.hpp
#include <string>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/io/simulated_file_system.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/bytes/zip_bytes.hpp"

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
