// SPDX-License-Identifier: Apache-2.0
// sluice/io/copy_file.hpp
#include "sluice/io/copy_file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include "io/temporary_folder.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/io/simulated_file_system.hpp"

namespace sluice::lib::copy_file_test {
using namespace sluice::lib::testing;

namespace {

std::string some_bytes(std::size_t n) {
  std::string bytes(n, '\0');
  std::uint64_t x = 1;
  for (char& c : bytes) c = static_cast<char>((x = x * 6364136223846793005u + 1442695040888963407u) >> 56);
  return bytes;
}

struct world_of_files {
  explicit world_of_files(std::uint64_t seed) : world(seed), rt(world) {
    auto slow = std::make_unique<simulated_file_system>(world);
    files = slow.get();
    add_files(rt, "slow", std::move(slow));
  }
  simulation world;
  runtime rt;
  simulated_file_system* files = nullptr;
};

}  // namespace

TEST_CASE("a copy equals its source, for any size, between any two file systems") {
  temporary_folder folder;
  runtime rt({.workers = 2});
  memory_files memory = add_memory_files(rt);
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4} << 20, (std::size_t{41} << 20) + 7}) {
    CAPTURE(size);
    const std::string bytes = some_bytes(size);
    memory.put("mem://a", bytes);
    std::uint64_t told = 0;
    copy_options o{.overwrites = true, .verifies = true};
    o.on_bytes = [&told](std::uint64_t n) { return told += n, true; };
    copied_file done = sync_wait(rt, copy_file(rt, "mem://a", folder.path("b"), o));
    CHECK(done.bytes == size);
    CHECK(told == size);
    CHECK(done.info.size_bytes == size);
    sync_wait(rt, copy_file(rt, folder.path("b"), "mem://c", o));
    CHECK(memory.get("mem://c") == bytes);
    CHECK(told == 2 * size);
  }
}

TEST_CASE("several ranges are read at once, and ranges that come late or short change nothing") {
  for (std::uint64_t seed = 1; seed != 4; ++seed) {
    world_of_files w(seed);
    const std::string bytes = some_bytes((std::size_t{33} << 20) + 5);
    w.files->put("slow://a", bytes);
    sync_wait(w.rt, copy_file(w.rt, "slow://a", "slow://b", {.verifies = true, .ranges = 3}));
    CHECK(w.files->contents("slow://b") == bytes);
    CHECK(w.files->reads_at_once() == 3);
    w.files->hide_size("slow://a");
    sync_wait(w.rt, copy_file(w.rt, "slow://a", "slow://c"));
    CHECK(w.files->contents("slow://c") == bytes);
    w.files->put_stream("slow://pipe", bytes);
    sync_wait(w.rt, copy_file(w.rt, "slow://pipe", "slow://d"));
    CHECK(w.files->contents("slow://d") == bytes);
    CHECK(w.files->files_open() == 0);
  }
}

TEST_CASE("an existing file is not replaced unless allowed") {
  runtime rt;
  memory_files memory = add_memory_files(rt);
  memory.put("mem://a", "new");
  memory.put("mem://b", "old");
  CHECK_THROWS_WITH(sync_wait(rt, copy_file(rt, "mem://a", "mem://b")), "failed_precondition: mem://b: exists already");
  CHECK(memory.get("mem://b") == "old");
  sync_wait(rt, copy_file(rt, "mem://a", "mem://b", {.overwrites = true}));
  CHECK(memory.get("mem://b") == "new");
}

TEST_CASE("a failed copy leaves nothing, and the existing file stays") {
  world_of_files w(9);
  w.files->put("slow://a", some_bytes(20 << 20));
  w.files->put("slow://old", "old");
  w.files->damage("slow://a", 17 << 20);
  CHECK_THROWS_WITH(sync_wait(w.rt, copy_file(w.rt, "slow://a", "slow://old", {.overwrites = true})),
                    Catch::Contains("data_loss: slow://a at byte"));
  CHECK(w.files->contents("slow://old") == "old");
  CHECK_THROWS_WITH(sync_wait(w.rt, copy_file(w.rt, "slow://nothing", "slow://b")), Catch::Contains("not_found"));
  CHECK_FALSE(w.files->contents("slow://b"));
  CHECK_THROWS_WITH(sync_wait(w.rt, copy_file(w.rt, "slow://old", "s7://b")),
                    Catch::Contains("no file system answers"));
  copy_options stops;
  stops.on_bytes = [](std::uint64_t) { return false; };
  CHECK_THROWS_WITH(sync_wait(w.rt, copy_file(w.rt, "slow://old", "slow://b", stops)), Catch::Contains("cancelled"));
  CHECK_FALSE(w.files->contents("slow://b"));
  CHECK(w.files->files_open() == 0);
}

TEST_CASE("a source that changes during the copy is reported") {
  for (bool grows : {true, false}) {
    world_of_files w(4);
    w.files->put("slow://a", some_bytes(30 << 20));
    copy_options o;
    o.on_bytes = [&](std::uint64_t) {
      if (grows) w.files->append("slow://a", "more");
      else w.files->cut("slow://a", 1 << 20);
      return true;
    };
    auto copying = sync_wait_result(w.world.env(), copy_file(w.rt, "slow://a", "slow://b", o));
    REQUIRE_FALSE(copying.ok());
    CHECK(copying.why().code() == (grows ? status_code::failed_precondition : status_code::data_loss));
    CHECK_FALSE(w.files->contents("slow://b"));
  }
}

namespace {

/// Files of mem:// under flip://, whose last byte comes out as another one when it is written.
class flipping_files final : public file_system {
 public:
  explicit flipping_files(runtime& rt) : rt_(rt) {}
  static std::string inside(const std::string& path) { return "mem" + path.substr(4); }
  task<std::unique_ptr<file>> open(std::string path, open_options o) override {
    return files_of(rt_).open(inside(path), std::move(o));
  }
  task<file_info> stat(std::string path, time_point deadline) override {
    return files_of(rt_).stat(inside(path), deadline);
  }
  std::unique_ptr<listing> list(std::string pattern, list_options o) override {
    return files_of(rt_).list(inside(pattern), o);
  }
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override;
  std::string description() const override { return {}; }

 private:
  runtime& rt_;
};

class flipping_writer final : public file_writer {
 public:
  explicit flipping_writer(std::unique_ptr<file_writer> to) : to_(std::move(to)) {}
  task<> write(buffer_ref from, std::size_t at, std::size_t n, time_point deadline) override {
    from->data()[at + n - 1] = static_cast<char>(from->data()[at + n - 1] ^ 1);
    return to_->write(std::move(from), at, n, deadline);
  }
  task<file_info> commit(time_point deadline) override { return to_->commit(deadline); }

 private:
  std::unique_ptr<file_writer> to_;
};

task<std::unique_ptr<file_writer>> flipping_files::create(std::string path, time_point deadline) {
  auto creating = files_of(rt_).create(inside(path), deadline);
  std::unique_ptr<file_writer> to = co_await creating;
  std::unique_ptr<file_writer> flips = std::make_unique<flipping_writer>(std::move(to));
  co_return std::move(flips);
}

}  // namespace

TEST_CASE("a copy that differs when read back is reported, if it is compared") {
  runtime rt;
  memory_files memory = add_memory_files(rt);
  add_files(rt, "flip", std::make_unique<flipping_files>(rt));
  memory.put("mem://a", some_bytes(9 << 20));
  sync_wait(rt, copy_file(rt, "mem://a", "flip://b"));
  CHECK_THROWS_WITH(sync_wait(rt, copy_file(rt, "mem://a", "flip://b", {.overwrites = true, .verifies = true})),
                    "data_loss: flip://b: the bytes read back differ from those written");
}

}  // namespace sluice::lib::copy_file_test
