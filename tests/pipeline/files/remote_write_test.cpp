// SPDX-License-Identifier: Apache-2.0
// Outputs under paths with a scheme: write() through the seam of files.
#include <catch2/catch.hpp>

#include <fstream>

#include "io/temporary_folder.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/io/read_file.hpp"
#include "sluice/io/simulated_file_system.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::remote_write_test {
namespace {

using testing::temporary_folder;

std::string lines_up_to(int n) {
  std::string text;
  for (int i = 0; i != n; ++i) text += std::to_string(i) + "\n";
  return text;
}

/// Reads as files, and writes as an object store that fails: when it is created, or at the n-th write.
class failing_files final : public file_system {
 public:
  explicit failing_files(int writes) : writes_(writes) {}
  task<std::unique_ptr<file>> open(std::string path, open_options) override {
    status why = not_found_error("there is no such file").in_file(path);
    co_await fail(std::move(why));
    co_return {};
  }
  task<file_info> stat(std::string path, time_point) override {
    status why = not_found_error("there is no such file").in_file(path);
    co_await fail(std::move(why));
    co_return {};
  }
  std::unique_ptr<listing> list(std::string, list_options) override { return nullptr; }
  task<std::unique_ptr<file_writer>> create(std::string path, time_point) override;
  std::string description() const override { return {}; }
  int alive = 0, commits = 0;

 private:
  int writes_;
};

class failing_writer final : public file_writer {
 public:
  failing_writer(failing_files& home, int writes) : home_(home), left_(writes) { ++home_.alive; }
  ~failing_writer() override { --home_.alive; }
  task<> write(buffer_ref, std::size_t, std::size_t, time_point) override {
    status why = left_-- == 0 ? unavailable_error("the store is away") : status();
    if (!why.ok()) co_await fail(std::move(why));
  }
  task<file_info> commit(time_point) override {
    file_info info;
    ++home_.commits;
    co_return std::move(info);
  }

 private:
  failing_files& home_;
  int left_;
};

task<std::unique_ptr<file_writer>> failing_files::create(std::string path, time_point) {
  status why = writes_ < 0 ? unimplemented_error("nothing can be written here").in_file(path) : status();
  if (!why.ok()) co_await fail(std::move(why));
  std::unique_ptr<file_writer> out = std::make_unique<failing_writer>(*this, writes_);
  co_return std::move(out);
}

failing_files& add_failing(runtime& rt, int writes) {
  auto files = std::make_unique<failing_files>(writes);
  failing_files& there = *files;
  add_files(rt, "bad", std::move(files));
  return there;
}

/// Checks that the lines are the numbers from `next` on.
task<> check_numbers(runtime& rt, dataset<line> rows, std::int64_t& next) {
  auto s = rows.iterate(rt);
  while (auto l = co_await s.next()) CHECK(std::string(l->view()) == std::to_string(next++));
}

}  // namespace

TEST_CASE("write() makes files of a scheme, whole, in every format that is written from front to back") {
  runtime rt({.workers = 2});
  memory_files files = add_memory_files(rt);
  write_report done = sync_wait(rt, write(rt, range(1000), "mem://out/a.jsonl"));
  CHECK(files.get("mem://out/a.jsonl") == lines_up_to(1000));
  CHECK(done.elements == 1000);
  CHECK(done.bytes == static_cast<std::int64_t>(lines_up_to(1000).size()));
  temporary_folder folder;
  for (const char* name : {"b.csv.gz", "b.tfrecord", "b.arrow"}) {
    CAPTURE(name);
    auto rows = range(500) | map([](std::int64_t x) { return std::pair(x, std::to_string(x)); });
    sync_wait(rt, write(rt, rows, std::string("mem://out/") + name));
    sync_wait(rt, write(rt, rows, folder.path(name)));
    CHECK(files.get(std::string("mem://out/") + name) == read_small_file(folder.path(name)).value());
  }
  sync_wait(rt, write(rt, range(0), "mem://out/none.jsonl"));
  CHECK(files.get("mem://out/none.jsonl") == "");
}

TEST_CASE("remote outputs of many pieces and shards equal local files") {
  runtime rt({.workers = 2});
  memory_files files = add_memory_files(rt);
  auto texts = range(4000) | map([](std::int64_t x) { return std::string(2000, static_cast<char>('a' + x % 26)); });
  temporary_folder folder;
  for (write_options o : {write_options{}, write_options{.shards = 3}, write_options{.shard_bytes = 1 << 20}}) {
    sync_wait(rt, write(rt, texts, "mem://s/x.txt", o));
    sync_wait(rt, write(rt, texts, folder.path("x.txt"), o));
  }
  std::vector<std::string> names = sync_wait(rt, glob(files_of(rt), "mem://s/*"));
  CHECK(names.size() == 1 + 3 + 8);
  for (const std::string& name : names) CHECK(files.get(name) == read_small_file(folder.path(name.substr(8))).value());
}

TEST_CASE("the same output in a simulation, over slow files") {
  simulation world(5);
  runtime rt(world);
  auto slow = std::make_unique<simulated_file_system>(world);
  simulated_file_system& files = *slow;
  add_files(rt, "slow", std::move(slow));
  write_report done = sync_wait(rt, write(rt, range(300), "slow://out/a.jsonl", {.shards = 2}));
  CHECK(done.files == 2);
  CHECK(files.contents("slow://out/a-00000-of-00002.jsonl").value().starts_with("0\n2\n4\n"));
  CHECK(files.contents("slow://out/a-00001-of-00002.jsonl").value().ends_with("297\n299\n"));
  CHECK(rt.ledger().report().used_bytes == 0);
}

TEST_CASE("after an error of the run no file is written, and the existing one stays") {
  runtime rt;
  memory_files files = add_memory_files(rt);
  files.put("mem://a.jsonl", "before");
  auto fails_late = range(300'000) | map([](std::int64_t x) {
                      if (x == 290'000) throw std::runtime_error("bad");
                      return x;
                    });
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, fails_late, "mem://a.jsonl")), Catch::Contains("bad"));
  CHECK(files.get("mem://a.jsonl") == "before");
  CHECK(files.size() == 1);
  CHECK(sync_wait(rt, write(rt, range(2), "mem://a.jsonl")).elements == 2);  // nobody writes to it any more
}

TEST_CASE("where nothing can be written, no element is made; a store that fails ends the run") {
  runtime rt;
  failing_files& never = add_failing(rt, -1);
  int made = 0;
  auto counted = range(400'000) | map([&made](std::int64_t x) { return ++made, std::to_string(x); });
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, counted, "bad://a.jsonl")),
                    "unimplemented: bad://a.jsonl: nothing can be written here");
  CHECK(made == 0);
  CHECK(never.alive == 0);
  runtime other;
  failing_files& later = add_failing(other, 1);
  CHECK_THROWS_WITH(sync_wait(other, write(other, counted, "bad://a.jsonl")), Catch::Contains("the store is away"));
  CHECK(made > 0);
  CHECK(made < 400'000);
  CHECK(later.alive == 0);
  CHECK(later.commits == 0);
}

TEST_CASE(
    "a remote output cannot be continued, nor can its first bytes change: both are reported before anything is read") {
  runtime rt;
  add_memory_files(rt);
  temporary_folder folder;
  int made = 0;
  auto counted = range(10) | map([&made](std::int64_t x) { return ++made, x; });
  const std::string checkpoint = folder.path("c");
  write_options continues{.checkpoint = checkpoint};
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, counted, "mem://a.jsonl", continues)),
                    Catch::StartsWith("invalid_argument: mem://a.jsonl: a remote object cannot be added to"));
  write_options elsewhere{.checkpoint = "mem://c"};
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, counted, folder.path("a.jsonl"), elsewhere)),
                    "invalid_argument: mem://c: a checkpoint is a local file");
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, counted, "mem://a.npy")),
                    Catch::StartsWith("unimplemented: mem://a.npy: an npy file's first bytes"));
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, counted, "s9://a.jsonl")),
                    Catch::Contains("no file system answers for s9://"));
  CHECK(made == 0);
}

TEST_CASE("a remote output of several objects continues after the last object of a checkpoint") {
  for (const char* path : {"mem://o/a.jsonl", "mem://o/b.csv.gz", "mem://o/c.jsonl.zst"}) {
    CAPTURE(path);
    temporary_folder folder;
    const std::string checkpoint = folder.path("c");
    runtime rt;
    memory_files files = add_memory_files(rt);
    write_options o{.shard_bytes = 500, .checkpoint = checkpoint, .checkpoint_elements = 300};
    int left = 1000;
    auto fails_once = range(2000) | map([&left](std::int64_t x) {
                        if (--left == 0) throw std::runtime_error("bad");
                        return x;
                      });
    CHECK_THROWS_WITH(sync_wait(rt, write(rt, fails_once, path, o)), Catch::Contains("bad"));
    const std::size_t before = files.size();
    CHECK(before > 3);
    const write_report done = sync_wait(rt, write(rt, fails_once, path, o));
    CHECK(done.elements == 2000);
    CHECK(left > -1100);  // elements before the checkpoint are not made again
    std::int64_t next = 0;
    for (const std::string& name : sync_wait(rt, glob(files_of(rt), std::string(path).substr(0, 8) + "*"))) {
      const bool is_csv = name.find(".csv") != name.npos;
      temporary_folder one;
      const std::string copy = one.path(name.substr(8));
      std::ofstream(copy, std::ios::binary) << files.get(name).value();
      auto rows = is_csv ? lines(copy) | skip(1) : lines(copy) | skip(0);
      sync_wait(rt, check_numbers(rt, rows, next));
    }
    CHECK(next == 2000);
    CHECK(static_cast<std::int64_t>(files.size()) == done.files);
  }
}

TEST_CASE("leftover shards of an earlier, longer output are reported") {
  runtime rt;
  memory_files files = add_memory_files(rt);
  files.put("mem://a-00002.jsonl", "of yesterday");
  write_options o{.shard_bytes = 100};
  CHECK_THROWS_WITH(
      sync_wait(rt, write(rt, range(60), "mem://a.jsonl", o)),
      Catch::StartsWith("failed_precondition: mem://a-00002.jsonl: is a shard of an earlier, longer output"));
  CHECK(files.get("mem://a-00000.jsonl").value() + files.get("mem://a-00001.jsonl").value() == lines_up_to(60));
}

TEST_CASE("file:// is a local output") {
  runtime rt;
  temporary_folder folder;
  sync_wait(rt, write(rt, range(3), "file://" + folder.path("a.jsonl"), {.checkpoint = ""}));
  CHECK(read_small_file(folder.path("a.jsonl")).value() == lines_up_to(3));
}

}  // namespace sluice::lib::remote_write_test
