// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sluice/io/files.hpp"
#include "sluice/io/simulated_file_system.hpp"

namespace sluice::lib::simulated_file_system_test {

namespace {

std::string bytes_of(std::size_t n) {
  std::string s(n, '\0');
  for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<char>(i * 131 >> 3);
  return s;
}

/// Reads as a reader does: what is there at once, else by waiting.
task<std::string> read_all(file_system& files, std::string path, std::size_t piece) {
  auto f = co_await files.open(std::move(path));
  std::string bytes;
  buffer_ref to(buffer::make(piece));
  for (;;) {
    ready_read now = f->try_read_at(bytes.size(), to->data(), piece);
    if (!now.why.ok()) co_await fail(std::move(now.why));
    if (now.must_wait) {
      buffer_ref share = to;
      now.bytes = co_await f->read_at(bytes.size(), std::move(share), 0, piece);
    }
    if (now.bytes == 0) break;
    bytes.append(to->data(), now.bytes);
  }
  co_return std::move(bytes);
}

std::string failure(simulation& world, task<std::string> work) {
  try {
    sync_wait(world, std::move(work));
  } catch (const error& e) { return e.why().to_string(); }
  return "ok";
}

}  // namespace

TEST_CASE("simulated files are read whole, however short and late their pieces come, and alike for one seed") {
  std::string bytes = bytes_of(100'000);
  std::uint64_t traces[2][2];
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t seed : {1u, 2u}) {
      simulation world(seed);
      simulated_file_system files(world);
      files.put("a", bytes);
      REQUIRE(sync_wait(world, read_all(files, "a", 4096)) == bytes);
      CHECK(world.elapsed() > duration(0));
      CHECK(files.reads() > 25);
      CHECK(files.files_open() == 0);
      traces[round][seed - 1] = world.trace() ^ static_cast<std::uint64_t>(world.elapsed().count());
    }
  CHECK(traces[0][0] == traces[1][0]);
  CHECK(traces[0][1] == traces[1][1]);
  CHECK(traces[0][0] != traces[0][1]);
}

TEST_CASE("simulated faults have the real ones' words") {
  simulation world(3);
  simulated_file_system files(world, {.page_cache_hits = 0});
  files.put("d/a", bytes_of(10'000));
  files.put("d/b", "");
  CHECK(failure(world, read_all(files, "d/c", 100)) == "not_found: d/c: cannot open: No such file or directory");
  files.refuse("d/b", EACCES);
  CHECK(failure(world, read_all(files, "d/b", 100)) == "permission_denied: d/b: cannot open: Permission denied");
  files.damage("d/a", 5'000);
  CHECK(failure(world, read_all(files, "d/a", 4'096)) ==
        "data_loss: d/a at byte 4096: cannot read: Input/output error");
  CHECK(files.files_open() == 0);
}

TEST_CASE("a simulated glob matches, sorts and complains as the real one") {
  simulation world(4);
  simulated_file_system files(world);
  for (auto name : {"d/b", "d/a", "d/e/c", "x"}) files.put(name, "");
  CHECK(sync_wait(world, glob(files, "d/*")) == std::vector<std::string>{"d/a", "d/b"});
  CHECK(sync_wait(world, glob(files, "x")) == std::vector<std::string>{"x"});
  try {
    sync_wait(world, glob(files, "y*"));
    FAIL("it matched");
  } catch (const error& e) { CHECK(e.why().to_string() == "not_found: no file matches the pattern \"y*\""); }
}

TEST_CASE("a runtime opens its files at their first use, according to its options") {
  runtime threads({.io = "threads"});
  CHECK(files_of(threads).description() == "threads");
  CHECK(&files_of(threads) == &files_of(threads));
  runtime wrong({.io = "aio"});
  CHECK_THROWS_WITH(files_of(wrong).description(),
                    "invalid_argument: \"aio\" is no I/O back end; there are uring, threads and auto");
  simulation world(5);
  runtime simulated(world);
  CHECK(files_of(simulated).description() == "simulated");
}

}  // namespace sluice::lib::simulated_file_system_test
