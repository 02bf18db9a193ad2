// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/checkpoint_file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

#include "io/temporary_folder.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::checkpoint_file_test {
using sluice::lib::testing::temporary_folder;

namespace {

auto numbers() { return range(100) | shuffle(10, {.seed = 3}); }

task<checkpoint> pass_over(stream<std::int64_t> s, int count) {
  for (int i = 0; i != count; ++i) co_await s.next();
  co_return s.position();
}

task<std::vector<std::int64_t>> rest_of(stream<std::int64_t> s) {
  std::vector<std::int64_t> out;
  while (auto x = co_await s.next()) out.push_back(*x);
  co_return out;
}

}  // namespace

TEST_CASE("a saved checkpoint is loaded unchanged, with its attachment") {
  temporary_folder here;
  std::string path = here.write("c", "") + ".ckpt";
  runtime rt({.workers = 1});
  checkpoint at = sync_wait(rt, pass_over(numbers().iterate(rt), 40));
  auto expected = sync_wait(rt, rest_of(numbers().iterate(rt, {.from = at})));
  CHECK(expected.size() == 60);
  for (const std::string& attached : {std::string(), std::string("step 40"), std::string("\0\1", 2)}) {
    REQUIRE(save_checkpoint(path, at, attached).ok());
    std::string found = "stale";
    checkpoint loaded = load_checkpoint(path, &found).value();
    CHECK(loaded.bytes == at.bytes);
    CHECK(found == attached);
    CHECK(load_checkpoint(path).value().bytes == at.bytes);
    CHECK(sync_wait(rt, rest_of(numbers().iterate(rt, {.from = loaded}))) == expected);
  }
}

TEST_CASE("a checkpoint's file that is damaged anywhere is refused") {
  temporary_folder here;
  std::string path = here.write("c", "");
  runtime rt({.workers = 1});
  checkpoint at = sync_wait(rt, pass_over(numbers().iterate(rt), 40));
  for (const char* attached : {"", "step 40"}) {
    REQUIRE(save_checkpoint(path, at, attached).ok());
    const std::string whole = read_small_file(path).value();
    auto is_refused = [&](const std::string& bytes) {
      here.write("c", bytes);
      auto loaded = load_checkpoint(path);
      if (!loaded.ok()) return loaded.why().code() == status_code::data_loss && loaded.why().where().file == path;
      try {
        (void)numbers().iterate(rt, {.from = *loaded});
      } catch (const error& e) { return true; }
      return false;
    };
    CHECK_FALSE(is_refused(whole));
    for (std::size_t i = 0; i != whole.size(); ++i) {
      std::string flipped = whole;
      flipped[i] ^= 0x20;
      CHECK(is_refused(flipped));
      CHECK(is_refused(whole.substr(0, i)));
    }
  }
}

TEST_CASE("a checkpoint that cannot be saved or loaded is named") {
  temporary_folder here;
  std::string none = here.write("a", "x") + "/none";
  CHECK(save_checkpoint(none, {"x"}).where().file == none);
  CHECK(load_checkpoint(none).why().where().file == none);
  CHECK(load_checkpoint("/").why().to_string() == "invalid_argument: /: cannot read the checkpoint: Is a directory");
}

}  // namespace sluice::lib::checkpoint_file_test
