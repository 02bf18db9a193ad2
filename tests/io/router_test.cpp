// SPDX-License-Identifier: Apache-2.0
// Which file system answers for which path.
#include <catch2/catch.hpp>

#include "io/paths/file_router.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/read_file.hpp"
#include "sluice/io/simulated_file_system.hpp"

namespace sluice::lib::router_test {
using detail::scheme_of;

namespace {

std::unique_ptr<simulated_file_system> files_with(simulation& world, std::string path, std::string bytes) {
  auto files = std::make_unique<simulated_file_system>(world);
  files->put(std::move(path), std::move(bytes));
  return files;
}

}  // namespace

TEST_CASE("a path's scheme is the text before ://, in lower case") {
  CHECK(scheme_of("s3://bucket/key") == "s3");
  CHECK(scheme_of("S3+HTTPS://bucket") == "s3+https");
  for (const char* none : {"", "a", "/a/b", "://a", "3s://a", "./s3://a", "a b://c", "a:/b"})
    CHECK(scheme_of(none).empty());
}

TEST_CASE("each path goes to the file system of its scheme, whole; file:// and paths without a scheme are local") {
  simulation world(1);
  runtime rt(world);
  set_files(rt, files_with(world, "/d/local", "local"));
  add_files(rt, "mem", files_with(world, "mem://one/a", "in memory"));
  add_files(rt, "Other", files_with(world, "OTHER://a", "other"));
  CHECK(sync_wait(rt, read_file(rt, "/d/local")) == "local");
  CHECK(sync_wait(rt, read_file(rt, "file:///d/local")) == "local");
  CHECK(sync_wait(rt, read_file(rt, "mem://one/a")) == "in memory");
  CHECK(sync_wait(rt, read_file(rt, "OTHER://a")) == "other");
  CHECK(sync_wait(rt, glob(files_of(rt), "mem://one/*")) == std::vector<std::string>{"mem://one/a"});
  CHECK(sync_wait(rt, files_of(rt).stat("mem://one/a")).size_bytes == 9);
  CHECK(files_of(rt).description() == "simulated; mem://: simulated; other://: simulated");
  auto out = sync_wait(rt, files_of(rt).create("mem://one/b"));
  CHECK(sync_wait(rt, out->commit()).size_bytes == 0);
}

TEST_CASE("an unknown scheme is refused with the known ones") {
  simulation world(1);
  runtime rt(world);
  add_files(rt, "mem", files_with(world, "mem://a", ""));
  const char* why =
      "unimplemented: s4://b/k: no file system answers for s4://; there are file, mem; write such a local path as "
      "./s4://…";
  CHECK_THROWS_WITH(sync_wait(rt, files_of(rt).open("s4://b/k")), why);
  CHECK_THROWS_WITH(sync_wait(rt, files_of(rt).stat("s4://b/k")), why);
  CHECK_THROWS_WITH(sync_wait(rt, files_of(rt).create("s4://b/k")), why);
  CHECK_THROWS_WITH(sync_wait(rt, glob(files_of(rt), "s4://b/k")), why);
  CHECK_THROWS_WITH(add_files(rt, "mem", files_with(world, "x", "")),
                    "invalid_argument: a file system for mem:// was added before");
  CHECK_THROWS_WITH(add_files(rt, "File", files_with(world, "x", "")),
                    "invalid_argument: a file system for file:// was added before");
  CHECK_THROWS_WITH(add_files(rt, "a b", files_with(world, "x", "")),
                    "invalid_argument: \"a b\" is no scheme of paths");
}

}  // namespace sluice::lib::router_test
