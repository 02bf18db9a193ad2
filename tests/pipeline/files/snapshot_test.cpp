// SPDX-License-Identifier: Apache-2.0
// sluice/op/snapshot.hpp
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files/locked_target.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::snapshot_test {
namespace {

using testing::temporary_folder;
using int64s = std::vector<std::int64_t>;

task<int64s> pulled(stream<std::int64_t>* s, std::size_t most) {
  int64s out;
  while (out.size() < most) {
    auto x = co_await s->next();
    if (!x) break;
    out.push_back(*x);
  }
  co_return out;
}
int64s elements_of(runtime& rt, const dataset<std::int64_t>& ds, const iterate_options& o = {},
                   std::size_t most = SIZE_MAX) {
  auto s = ds.iterate(rt, o);
  return sync_wait(rt, pulled(&s, most));
}
std::string message_of(runtime& rt, const dataset<std::int64_t>& ds, const iterate_options& o = {}) {
  try {
    elements_of(rt, ds, o);
  } catch (const error& e) { return e.why().to_string(); }
  return {};
}

/// Squares, and how often one was made.
struct counted_squares {
  std::shared_ptr<std::atomic<int>> made = std::make_shared<std::atomic<int>>(0);
  dataset<std::int64_t> of(std::int64_t n, int version = 1) const {
    return range(n) | map(fn("square", version, [made = made](std::int64_t x) {
             made->fetch_add(1);
             return x * x;
           }));
  }
};
int64s squares(std::int64_t n) {
  int64s out;
  for (std::int64_t i = 0; i != n; ++i) out.push_back(i * i);
  return out;
}

TEST_CASE("the first run writes a snapshot, and later epochs and runs read it") {
  for (std::int64_t shards : {1, 3}) {
    temporary_folder folder;
    counted_squares of;
    const auto with = [&] { return of.of(3000) | snapshot(folder.path("s"), {.shards = shards}); };
    {
      runtime rt({.workers = 2});
      int64s twice = elements_of(rt, with() | repeat(2));
      int64s all = squares(3000);
      const int64s once = all;
      all.insert(all.end(), once.begin(), once.end());
      CHECK(twice == all);
      CHECK(*of.made == 3000);
    }
    runtime rt({.workers = 1});
    CHECK(elements_of(rt, with()) == squares(3000));
    CHECK(*of.made == 3000);
    CHECK(elements_of(rt, load<std::int64_t>(folder.path("s"))) == squares(3000));
  }
}

TEST_CASE("a first run that ends early leaves nothing that a later run reads") {
  temporary_folder folder;
  counted_squares of;
  runtime rt({.workers = 1});
  const auto ds = of.of(100) | snapshot(folder.path("s"));
  CHECK(elements_of(rt, ds, {}, 50).size() == 50);
  CHECK(elements_of(rt, ds | take(7)).size() == 7);
  const int before = *of.made;
  CHECK(elements_of(rt, ds | skip(95)) == int64s{95 * 95, 96 * 96, 97 * 97, 98 * 98, 99 * 99});
  CHECK(*of.made == before + 100);  // a skip makes all elements, to write them
  CHECK(elements_of(rt, ds) == squares(100));
  CHECK(*of.made == before + 100);
}

TEST_CASE("a snapshot of another plan, seed or function is an error that names both, or is written again") {
  temporary_folder folder;
  counted_squares of;
  runtime rt({.workers = 1});
  const std::string to = folder.path("s");
  elements_of(rt, of.of(10) | snapshot(to));
  CHECK_THAT(message_of(rt, of.of(11) | snapshot(to)), Catch::Contains("the snapshot does not fit") &&
                                                           Catch::Contains("range(10)") &&
                                                           Catch::Contains("range(11)"));
  CHECK_THAT(message_of(rt, of.of(10, 2) | snapshot(to)), Catch::Contains("version 1") && Catch::Contains("2"));
  CHECK(elements_of(rt, of.of(11) | snapshot(to, {.on_mismatch = snapshot_mismatch::rebuild})) == squares(11));
  CHECK(elements_of(rt, of.of(11) | snapshot(to)) == squares(11));
  const auto drawn = range(20) | shuffle(20) | snapshot(folder.path("t"));
  const int64s first = elements_of(rt, drawn, {.seed = 1});
  CHECK(elements_of(rt, drawn, {.seed = 1}) == first);
  CHECK_THAT(message_of(rt, drawn, {.seed = 2}), Catch::Contains("seed 1"));
}

TEST_CASE("an input file that has changed is noticed") {
  temporary_folder folder;
  std::ofstream(folder.path("a.jsonl")) << "1\n2\n";
  runtime rt({.workers = 1});
  const auto ds = jsonl<std::int64_t>(folder.path("a.jsonl")) | snapshot(folder.path("s"));
  CHECK(elements_of(rt, ds) == int64s{1, 2});
  std::ofstream(folder.path("a.jsonl")) << "1\n2\n3\n";
  CHECK_THAT(message_of(rt, ds), Catch::Contains("had 4 bytes, and has 6"));
}

TEST_CASE("shard_func names the file of an element, and reader_func how the files are read") {
  temporary_folder folder;
  runtime rt({.workers = 1});
  const auto by_last_digit = [](const std::int64_t& x) { return x % 4; };
  const auto ds = [&](const std::string& reader) {
    return range(40) | snapshot(folder.path("s"), by_last_digit, {.shards = 4, .reader_func = reader});
  };
  int64s all;
  for (std::int64_t i = 0; i != 40; ++i) all.push_back(i);
  CHECK(elements_of(rt, ds("")) == all);  // the first run has the order of the input
  int64s one_file_after_another;
  for (std::int64_t r = 0; r != 4; ++r)
    for (std::int64_t i = r; i < 40; i += 4) one_file_after_another.push_back(i);
  CHECK(elements_of(rt, ds("")) == one_file_after_another);
  CHECK(elements_of(rt, ds("interleave(read, cycle_length=4)")) == all);
  int64s mixed = elements_of(rt, ds("shuffle(4, seed=3) | flat_map(read)"));
  CHECK(mixed != one_file_after_another);
  std::sort(mixed.begin(), mixed.end());
  CHECK(mixed == all);
  const auto by_expression =
      parse_plan("range(40) | snapshot(\"" + folder.path("t") + "\", shard_func=it % 3, shards=2)");
  CHECK_THAT(message_of(rt, dataset<std::int64_t>(by_expression)),
             Catch::Contains("shard_func returns 2, and there are 2 files"));
}

TEST_CASE("a run resumes at any element, while it computes a snapshot and while it reads one") {
  temporary_folder folder;
  runtime rt({.workers = 1});
  const auto ds = range(300) | snapshot(folder.path("s"), {.shards = 2}) | map([](std::int64_t x) { return x + 1; });
  const int64s all = elements_of(rt, range(300) | map([](std::int64_t x) { return x + 1; }));
  checkpoint computing;
  for (bool reads : {false, true})
    for (std::size_t n : {0, 1, 150, 299, 300}) {
      auto s = ds.iterate(rt);
      int64s got = sync_wait(rt, pulled(&s, n));
      const checkpoint here = s.position();
      if (n == 150 && !reads) computing = here;
      { auto dropped = std::move(s); }
      const int64s rest = elements_of(rt, ds, {.from = here});
      got.insert(got.end(), rest.begin(), rest.end());
      CAPTURE(reads, n);
      CHECK(got == all);
      if (!reads && n == 300) CHECK(elements_of(rt, load<std::int64_t>(folder.path("s"))).size() == 300);
    }
  CHECK(elements_of(rt, ds, {.from = computing}).size() == 150);
  auto s = ds.iterate(rt);
  sync_wait(rt, pulled(&s, 10));
  const checkpoint reading = s.position();
  std::filesystem::remove_all(folder.path("s"));
  CHECK_THAT(message_of(rt, ds, {.from = reading}), Catch::Contains("has been written again or removed since"));
}

TEST_CASE("while another process writes a snapshot, a run computes, waits or fails") {
  temporary_folder folder;
  runtime rt({.workers = 1});
  const std::string to = folder.path("s");
  std::filesystem::create_directories(to);
  locked_target other;
  REQUIRE(other.take(to + "/snapshot").ok());
  CHECK(elements_of(rt, range(5) | snapshot(to)).size() == 5);
  CHECK(!std::filesystem::exists(to + "/sluice.manifest"));
  CHECK_THAT(message_of(rt, range(5) | snapshot(to, {.other_writer = other_writer::fail})),
             Catch::Contains("unavailable"));
  auto s = (range(5) | snapshot(to, {.other_writer = other_writer::wait})).iterate(rt);
  std::thread ends([&] { other.release(); });
  CHECK(sync_wait(rt, pulled(&s, 10)).size() == 5);
  ends.join();
  CHECK(std::filesystem::exists(to + "/sluice.manifest"));
}

TEST_CASE("a damaged snapshot is never served") {
  temporary_folder folder;
  runtime rt({.workers = 1});
  const auto ds = range(30) | snapshot(folder.path("s"));
  elements_of(rt, ds);
  const std::string part = folder.path("s/part.arrow"), manifest = folder.path("s/sluice.manifest");
  std::filesystem::resize_file(part, std::filesystem::file_size(part) - 1);
  CHECK_THAT(message_of(rt, ds), Catch::Contains("data_loss") && Catch::Contains("part.arrow"));
  std::filesystem::resize_file(manifest, std::filesystem::file_size(manifest) - 1);
  CHECK_THAT(message_of(rt, ds), Catch::Contains("manifest of the data folder is damaged"));
  CHECK(elements_of(rt, range(30) | snapshot(folder.path("s"), {.on_mismatch = snapshot_mismatch::rebuild})).size() ==
        30);
  CHECK(elements_of(rt, ds).size() == 30);
}

}  // namespace
}  // namespace sluice::lib::snapshot_test
