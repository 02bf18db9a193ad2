// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

using namespace sluice;

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

void write_whole(const std::string& path, std::string_view text, bool go_on = false) {
  whole_file f;
  REQUIRE(f.begin(path, go_on).ok());
  REQUIRE(f.write(text).ok());
  REQUIRE(f.finish().ok());
}

}  // namespace

TEST_CASE("a file takes its name when it is whole, and what had it stays until then") {
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

TEST_CASE("what is given up leaves nothing behind, also where it went on with a file") {
  scratch here;
  write_whole(here.path("a"), "old");
  for (bool go_on : {false, true}) {
    whole_file f;
    REQUIRE(f.begin(here.path("a"), go_on).ok());
    REQUIRE(f.write("new").ok());
  }
  CHECK(text_of(here.path("a")) == "old");
  CHECK(here.files() == 1);
  write_whole(here.path("a"), "new", true);
  CHECK(text_of(here.path("a")) == "oldnew");
  write_whole(here.path("b"), "first", true);
  CHECK(text_of(here.path("b")) == "first");
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
  CHECK(f.begin(here.path("no/a")).to_string() ==
        "not_found: " + here.path("no/a") + ": cannot create: No such file or directory");
  REQUIRE(full.begin("/dev/full").ok());
  REQUIRE(full.write("a").ok());
  CHECK(full.finish().to_string() == "resource_exhausted: /dev/full: cannot write: No space left on device");
}
