// SPDX-License-Identifier: Apache-2.0
// sluice/op/webdataset.hpp
#include <string>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"
#include "support/tar_bytes.hpp"

namespace sluice::lib::webdataset_test {
namespace {

using namespace test;
using testing::temporary_folder;

task<std::string> told_of(stream<webdataset_sample> s) {
  std::string out;
  try {
    while (auto sample = co_await s.next()) {
      out += sample->key + ":";
      for (auto& p : sample->parts) out += p.extension + "=" + std::string(p.bytes.view()) + ",";
      out += " ";
    }
  } catch (const error& e) { out += "! " + std::string(e.what()); }
  co_return out;
}
std::string read(const std::string& bytes, error_policy policy = error_policy::stop) {
  temporary_folder here;
  runtime rt({.workers = 1});
  iterate_options o;
  o.on_error = policy;
  return sync_wait(rt, told_of(webdataset(here.write("a.tar", bytes)).iterate(rt, o)));
}

}  // namespace

TEST_CASE("webdataset prints as text, and is read again") {
  round_trips(*webdataset("a.tar").plan(), "webdataset(\"a.tar\")");
}

TEST_CASE("webdataset groups consecutive files by the text before the first dot of their names") {
  auto file = [](const char* name, const char* bytes) { return tar_file_bytes(name, bytes); };
  CHECK(read(file("a.jpg", "1") + file("a.cls", "2") + file("b.cls", "3") + tar_end()) == "a:jpg=1,cls=2, b:cls=3, ");
  CHECK(read(file("d.x/a.seg.PNG", "1") + file("d.x/a.txt", "2")) == "d.x/a:seg.png=1,txt=2, ");
  CHECK(read(file("d/a.x", "1") + file("e/a.x", "2") + file("d/a.y", "3")) == "d/a:x=1, e/a:x=2, d/a:y=3, ");
  CHECK(read(file("a.x", "1") + file("plain", "p") + file("d/.hidden", "h") + file("a.y", "2")) == "a:x=1,y=2, ");
  CHECK(read(file("plain", "p") + tar_end()).empty());
  CHECK(read("").empty());
}

TEST_CASE("webdataset reports duplicate parts and damage, and reads on after them") {
  auto file = [](const char* name, const char* bytes) { return tar_file_bytes(name, bytes); };
  std::string twice = file("a.x", "1") + file("a.X", "2") + file("b.x", "3");
  CHECK_THAT(read(twice), Catch::StartsWith("! ") && Catch::Contains("the sample a has two parts called x") &&
                              Catch::Contains("a.tar at byte 0"));
  CHECK(read(twice, error_policy::skip) == "b:x=3, ");
  std::string wrong = file("b.y", "2");
  wrong[0] = 'x';
  std::string damaged = file("a.x", "0") + file("b.x", "1") + wrong + file("b.z", "3") + file("c.x", "4");
  CHECK_THAT(read(damaged), Catch::StartsWith("a:x=0, ! ") && Catch::Contains("a.tar at byte 1024"));
  CHECK(read(damaged, error_policy::skip) == "a:x=0, b:z=3, c:x=4, ");
  std::string cut = file("a.x", "0") + file("b.x", "1") + tar_header_bytes({.name = "b.y", .size = 9999});
  CHECK_THAT(read(cut), Catch::StartsWith("a:x=0, ! ") && Catch::Contains("ends inside of the member b.y"));
  CHECK(read(cut, error_policy::skip) == "a:x=0, ");
}

TEST_CASE("a sample of webdataset lists its parts") {
  webdataset_sample s{"k", {{"jpg", record(slice::copy_of("1"))}, {"cls", record(slice::copy_of("2"))}}};
  CHECK(s.find("cls")->view() == "2");
  CHECK(s.find("png") == nullptr);
  CHECK(s.at("jpg").view() == "1");
  CHECK_THROWS_WITH(s.at("png"), Catch::Contains("the sample k has no part png, but jpg, cls"));
}

}  // namespace sluice::lib::webdataset_test
