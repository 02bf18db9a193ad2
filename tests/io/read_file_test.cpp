// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/read_file.hpp"

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "sluice/coro/sync_wait.hpp"

namespace sluice::lib::read_file_test {
using namespace sluice::lib::testing;

namespace {

std::string some_bytes(std::size_t n) {
  std::string bytes(n, '\0');
  for (std::size_t i = 0; i != n; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  return bytes;
}

status why_not(runtime& rt, std::string path, std::size_t bytes_max) {
  try {
    sync_wait(rt, read_file(rt, std::move(path), bytes_max));
  } catch (const error& e) { return e.why(); }
  return {};
}

}  // namespace

TEST_CASE("a file is read whole, in one piece or in many, from disk and in a simulation") {
  temporary_folder here;
  for (std::size_t size : {0, 1, 4096, 262'143, 262'144, 262'145, 1'000'000}) {
    const std::string bytes = some_bytes(size);
    std::string path = here.write("a", bytes);
    for (const char* io : {"auto", "threads"}) {
      runtime rt({.workers = 1, .io = io});
      CHECK((sync_wait(rt, read_file(rt, path)) == bytes));
    }
    file_world w(size + 1);
    w.files->put("a", bytes);
    CHECK((sync_wait(w.rt, read_file(w.rt, "a", size)) == bytes));
  }
}

TEST_CASE("a file that is too long or not there is named") {
  file_world w;
  w.files->put("a", some_bytes(300'000));
  CHECK(why_not(w.rt, "a", 299'999).to_string() == "out_of_range: a: is longer than 299999 bytes");
  CHECK(why_not(w.rt, "a", 300'000).ok());
  CHECK(why_not(w.rt, "none", 1).code() == status_code::not_found);
}

TEST_CASE("a file that does not answer is given up at the runtime's I/O timeout") {
  simulation world(3);
  runtime rt(world, {.io_timeout = std::chrono::seconds(5)});
  auto made = std::make_unique<simulated_file_system>(world, simulated_io{.page_cache_hits = 0});
  made->put("a", "bytes");
  made->hang("a");
  set_files(rt, std::move(made));
  CHECK(why_not(rt, "a", 100).to_string() == "deadline_exceeded: a at byte 0: no answer until the deadline");
  CHECK(world.elapsed() >= std::chrono::seconds(5));
  CHECK(world.elapsed() < std::chrono::seconds(6));
}

}  // namespace sluice::lib::read_file_test
