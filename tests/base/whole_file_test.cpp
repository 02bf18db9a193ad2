// SPDX-License-Identifier: Apache-2.0
#include "base/files/whole_file.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/files/locked_target.hpp"

namespace sluice::lib::whole_file_test {

namespace {

/// A folder of its own, taken away again.
struct scratch {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("sluice-whole-file-" + std::to_string(std::random_device()()));
  scratch() { std::filesystem::create_directory(folder); }
  ~scratch() { std::filesystem::remove_all(folder); }
  std::string path(const char* name) const { return folder / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }
};

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_whole(const std::string& path, std::string_view text) {
  whole_file f;
  REQUIRE(f.begin(path).ok());
  REQUIRE(f.write(text).ok());
  REQUIRE(f.finish().ok());
}

}  // namespace

TEST_CASE("a file is renamed when it is complete, and the old file stays until then") {
  scratch here;
  write_whole(here.path("a"), "old");
  whole_file f;
  REQUIRE(f.begin(here.path("a")).ok());
  REQUIRE(f.write("new").ok());
  CHECK(text_of(here.path("a")) == "old");
  REQUIRE(f.finish().ok());
  CHECK(text_of(here.path("a")) == "new");
  CHECK(here.files() == 1);
}

TEST_CASE("an abandoned file leaves nothing behind") {
  scratch here;
  write_whole(here.path("a"), "old");
  {
    whole_file f;
    REQUIRE(f.begin(here.path("a")).ok());
    REQUIRE(f.write("new").ok());
    CHECK(here.files() == 3);  // the old one, the new one and its lock
  }
  CHECK(text_of(here.path("a")) == "old");
  CHECK(here.files() == 1);
}

TEST_CASE("a second writer is refused with the process id of the first") {
  scratch here;
  whole_file first;
  REQUIRE(first.begin(here.path("a")).ok());
  REQUIRE(first.write("first").ok());
  whole_file second;
  replaced_file third;
  std::string told = "unavailable: " + here.path("a") + ": is being written by process " + std::to_string(::getpid()) +
                     ": wait until it has ended, or name another path";
  CHECK(second.begin(here.path("a")).to_string() == told);
  CHECK(third.open(here.path("a")).to_string() == told);
  REQUIRE(first.finish().ok());
  CHECK(text_of(here.path("a")) == "first");
  REQUIRE(third.open(here.path("a")).ok());
  for (const char* text : {"second", "third"}) {
    REQUIRE(third.replace(text).ok());
    CHECK(text_of(here.path("a")) == text);
    CHECK_FALSE(second.begin(here.path("a")).ok());
  }
}

TEST_CASE("the files of a killed writer are removed by the next one") {
  scratch here;
  std::ofstream(here.path("a.partial")) << "half";
  std::ofstream(here.path(".a.lock")) << "4711\n";
  write_whole(here.path("a"), "new");
  CHECK(text_of(here.path("a")) == "new");
  CHECK(here.files() == 1);
}

TEST_CASE("the mode of a file that is replaced stays, and is not wider meanwhile") {
  namespace fs = std::filesystem;
  scratch here;
  for (auto mode : {fs::perms(0600), fs::perms(0644), fs::perms(0755)}) {
    write_whole(here.path("a"), "old");
    fs::permissions(here.path("a"), mode);
    whole_file f;
    REQUIRE(f.begin(here.path("a")).ok());
    CHECK(fs::status(here.path("a.partial")).permissions() == mode);
    REQUIRE(f.finish().ok());
    CHECK(fs::status(here.path("a")).permissions() == mode);
  }
}

TEST_CASE("planted links beside a file are not followed") {
  scratch here;
  write_whole(here.path("victim"), "mine");
  std::filesystem::create_symlink(here.path("victim"), here.path("a.partial"));
  write_whole(here.path("a"), "new");
  CHECK(text_of(here.path("a")) == "new");
  CHECK_FALSE(std::filesystem::is_symlink(here.path("a")));
  std::filesystem::create_symlink(here.path("victim"), here.path(".b.lock"));
  std::filesystem::create_hard_link(here.path("victim"), here.path(".c.lock"));
  for (const char* name : {"b", "c"}) {
    whole_file f;
    CHECK_FALSE(f.begin(here.path(name)).ok());
  }
  CHECK(text_of(here.path("victim")) == "mine");
}

TEST_CASE("a link stays a link, and a device a device") {
  scratch here;
  write_whole(here.path("a"), "old");
  std::filesystem::create_symlink(here.path("a"), here.path("link"));
  write_whole(here.path("link"), "new");
  CHECK(std::filesystem::is_symlink(here.path("link")));
  CHECK(text_of(here.path("a")) == "new");
  write_whole("/dev/null", "gone");
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a file that cannot be made or filled is named") {
  scratch here;
  whole_file f, full;
  CHECK(f.begin(here.path("no/a")).to_string() == "not_found: " + here.path("no/a") + ": cannot create: the folder " +
                                                      here.path("no") + " does not exist; create it: mkdir -p " +
                                                      here.path("no"));
  REQUIRE(full.begin("/dev/full").ok());
  CHECK(full.write("a").to_string() == "resource_exhausted: /dev/full: cannot write: No space left on device");
}

TEST_CASE("a link is followed to the file it names, also where that is yet to be made") {
  scratch here;
  std::filesystem::create_directory(here.folder / "data");
  std::filesystem::create_symlink("data/new", here.folder / "link");
  std::filesystem::create_symlink("link", here.folder / "link to the link");
  write_whole(here.path("link to the link"), "here");
  CHECK(std::filesystem::is_symlink(here.folder / "link"));
  CHECK(text_of(here.path("data/new")) == "here");

  std::filesystem::create_symlink("round", here.folder / "and round");
  std::filesystem::create_symlink("and round", here.folder / "round");
  whole_file f;
  CHECK(f.begin(here.path("round")).to_string().find("round") != std::string::npos);
}

TEST_CASE("the lock's name is removed only while it is the lock's") {
  scratch here;
  locked_target target;
  REQUIRE(target.take(here.path("a")).ok());
  std::filesystem::remove(lock_beside(here.path("a")));
  std::ofstream(lock_beside(here.path("a"))) << "somebody's";
  target.release();
  CHECK(text_of(lock_beside(here.path("a"))) == "somebody's");
}

}  // namespace sluice::lib::whole_file_test
