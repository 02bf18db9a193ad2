// SPDX-License-Identifier: Apache-2.0
// sluice/pipeline/write.hpp
#include "sluice/pipeline/write.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "base/files/locked_target.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::write_test {
namespace {

using testing::temporary_folder;
using int64s = std::vector<std::int64_t>;

struct row {
  std::string text;
  std::int64_t number = 0;
  std::optional<float> part;
};

row row_of(std::int64_t i) {
  row r{"text " + std::to_string(i) + (i % 3 == 0 ? ", \"quoted\"\n" : ""), i, {}};
  if (i % 2 == 0) r.part = static_cast<float>(i) / 4;
  return r;
}
auto rows(std::int64_t n) { return range(n) | map(row_of); }

std::string bytes_of(const std::string& path) { return read_small_file(path).value(); }
std::vector<std::string> names_in(const temporary_folder& folder) {
  std::vector<std::string> names;
  for (auto& entry : std::filesystem::directory_iterator(folder.path(""))) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

template <class T> task<std::vector<T>> elements_of(stream<T> s) {
  std::vector<T> out;
  while (auto x = co_await s.next()) out.push_back(std::move(*x));
  co_return out;
}
template <class T> std::vector<T> elements_in(runtime& rt, const dataset<T>& ds) {
  return sync_wait(rt, elements_of(ds.iterate(rt)));
}
int64s numbers_in(runtime& rt, const std::string& path) {
  return elements_in(
      rt, lines(path) | map([](const line& l) -> std::int64_t { return std::stoll(std::string(l.view())); }));
}
int64s numbers_up_to(std::int64_t n) {
  int64s out;
  for (std::int64_t i = 0; i != n; ++i) out.push_back(i);
  return out;
}

task<write_report> copy(runtime& rt, std::string to) {
  const write_options o{.shards = 2};
  write_report done = co_await write(rt, range(10), to, o);
  co_return done;
}

}  // namespace

TEST_CASE("write: the name determines format and compression") {
  temporary_folder here;
  runtime rt({.workers = 2});
  auto to = [&](const char* name) { return here.path(name); };
  write_report done = sync_wait(rt, write(rt, range(1000), to("a.jsonl")));
  CHECK(done.elements == 1000);
  CHECK(done.files == 1);
  CHECK(done.bytes == 3890);
  CHECK(done.errors == 0);
  CHECK(numbers_in(rt, to("a.jsonl")) == numbers_up_to(1000));
  sync_wait(rt, write(rt, range(1000), to("a.jsonl.gz")));
  CHECK(numbers_in(rt, to("a.jsonl.gz")) == numbers_up_to(1000));
  sync_wait(rt, write(rt, range(1000), to("a.jsonl.zst")));
  CHECK(numbers_in(rt, to("a.jsonl.zst")) == numbers_up_to(1000));
  CHECK(bytes_of(to("a.jsonl.zst")).starts_with("\x28\xb5\x2f\xfd"));
  CHECK(std::filesystem::file_size(to("a.jsonl.gz")) < 2500);
  sync_wait(rt, write(rt, rows(3), to("a.csv")));
  CHECK(bytes_of(to("a.csv")) == "text,number,part\n\"text 0, \"\"quoted\"\"\n\",0,0.0\ntext 1,1,\ntext 2,2,0.5\n");
  CHECK(names_in(here) == std::vector<std::string>{"a.csv", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst"});
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, range(3), to("a.xyz"))), Catch::Contains("does not determine a format"));
}

TEST_CASE("write: structures are read back from TFRecords, Arrow and npy") {
  temporary_folder here;
  runtime rt({.workers = 2});
  struct example {
    std::string text;
    std::int64_t number = 0;
    std::optional<float> part;
  };
  for (const char* name : {"a.tfrecord", "b.tfrecord.gz"}) {
    write_report done = sync_wait(rt, write(rt, rows(500), here.path(name)));
    CHECK(done.elements == 500);
    auto back = elements_in(rt, tfrecord(here.path(name)) | parse_example<example>());
    REQUIRE(back.size() == 500);
    for (std::int64_t i = 0; i != 500; ++i) {
      const row expected = row_of(i);
      const example& x = back[static_cast<std::size_t>(i)];
      CHECK((x.text == expected.text && x.number == i && x.part == expected.part));
    }
  }
  sync_wait(rt, write(rt, rows(3000) | map([](const row& r) { return r.number; }), here.path("a.arrow")));
  auto arrow = elements_in(rt, from_arrow<std::int64_t>(here.path("a.arrow")) | unbatch());
  CHECK(arrow == numbers_up_to(3000));
  // Large rows: record batches of 16 MiB.
  sync_wait(
      rt,
      write(rt, range(40) | map([](std::int64_t x) { return std::string(1 << 20, static_cast<char>('a' + x % 26)); }),
            here.path("large.arrow")));
  auto large =
      elements_in(rt, from_arrow<std::string>(here.path("large.arrow")) |
                          map([](const batched<std::string>& b) { return static_cast<std::int64_t>(b.size()); }));
  CHECK(large == std::vector<std::int64_t>{16, 16, 8});
}

TEST_CASE("write: the buffers of Arrow are compressed by lz4 and zstd, and the file as a whole by gzip") {
  temporary_folder here;
  runtime rt({.workers = 2});
  auto size_of = [&](const char* name) { return std::filesystem::file_size(here.path(name)); };
  sync_wait(rt, write(rt, range(3000), here.path("plain.arrow")));
  sync_wait(rt, write(rt, range(3000), here.path("lz4.arrow"), {.compression = compression::lz4}));
  sync_wait(rt, write(rt, range(3000), here.path("zstd.arrow"), {.compression = compression::zstd}));
  sync_wait(rt, write(rt, range(3000), here.path("both.arrow.gz"), {.compression = compression::zstd}));
  for (const char* name : {"lz4.arrow", "zstd.arrow", "both.arrow.gz"}) {
    CHECK(elements_in(rt, from_arrow<std::int64_t>(here.path(name)) | unbatch()) == numbers_up_to(3000));
    CHECK(size_of(name) < size_of("plain.arrow") * 2 / 3);
  }
  CHECK(bytes_of(here.path("both.arrow.gz")).starts_with("\x1f\x8b"));
}

TEST_CASE("write: records are written unchanged, and texts as lines or one after the other") {
  temporary_folder here;
  runtime rt({.workers = 1});
  auto texts = range(100) | map([](std::int64_t i) { return std::string(static_cast<std::size_t>(i), 'x'); });
  sync_wait(rt, write(rt, texts, here.path("a.tfrecord")));
  sync_wait(rt, write(rt, tfrecord(here.path("a.tfrecord")), here.path("b.tfrecord")));
  CHECK(bytes_of(here.path("a.tfrecord")) == bytes_of(here.path("b.tfrecord")));
  sync_wait(rt, write(rt, texts, here.path("a.txt")));
  std::string lines;
  for (std::size_t i = 0; i != 100; ++i) lines += std::string(i, 'x') + "\n";
  CHECK(bytes_of(here.path("a.txt")) == lines);
  sync_wait(rt, write(rt, texts, here.path("a.raw"), {.format = output_format::raw}));
  CHECK(bytes_of(here.path("a.raw")) == std::string(99 * 100 / 2, 'x'));
}

TEST_CASE("write: an npy file has a header with the number of rows") {
  temporary_folder here;
  runtime rt({.workers = 1});
  auto tensors = range(7) | map([](std::int64_t i) {
                   return tensor::of(std::vector<float>{static_cast<float>(i), 1, 2, 3, 4, 5}, {2, 3});
                 });
  sync_wait(rt, write(rt, tensors, here.path("a.npy")));
  std::string bytes = bytes_of(here.path("a.npy"));
  CHECK_THAT(bytes, Catch::Contains("'descr': '<f4'") && Catch::Contains("'shape': (7, 2, 3), }"));
  CHECK(bytes.size() == 128 + 7 * 24);
  sync_wait(rt, write(rt, range(10) | batch(4), here.path("b.npy")));
  bytes = bytes_of(here.path("b.npy"));
  CHECK_THAT(bytes, Catch::Contains("'descr': '<i8'") && Catch::Contains("'shape': (10,), }"));
  CHECK(bytes.size() == 128 + 80);
  auto mixed = range(7) | map([](std::int64_t i) { return tensor::make(dtype::uint8, {i < 5 ? 2 : 3}); });
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, mixed, here.path("c.npy"))),
                    Catch::Contains("row 5 is uint8[3], and those before it are uint8[2]"));
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, rows(1), here.path("c.npy"))), Catch::Contains("choose a member"));
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, range(1), here.path("c.npy.gz"))), Catch::Contains("is not compressed"));
  auto none = range(0) | map([](std::int64_t) { return tensor(); });
  sync_wait(rt, write(rt, none, here.path("d.npy")));
  CHECK_THAT(bytes_of(here.path("d.npy")), Catch::Contains("'shape': (0,), }"));
}

TEST_CASE("write: shards receive elements alternately, for any sizes of blocks") {
  temporary_folder here;
  for (unsigned workers : {1u, 3u}) {
    runtime rt({.workers = workers});
    write_report done = sync_wait(rt, write(rt, range(1000) | prefetch(4), here.path("a.jsonl"), {.shards = 3}));
    CHECK(done.files == 3);
    CHECK(names_in(here) ==
          std::vector<std::string>{"a-00000-of-00003.jsonl", "a-00001-of-00003.jsonl", "a-00002-of-00003.jsonl"});
    for (std::int64_t k = 0; k != 3; ++k) {
      int64s expected;
      for (std::int64_t i = k; i < 1000; i += 3) expected.push_back(i);
      CHECK(numbers_in(rt, here.path("a-0000" + std::to_string(k) + "-of-00003.jsonl")) == expected);
    }
  }
}

TEST_CASE("write: shards by size end with the element that fills them, and replace those of a longer output") {
  temporary_folder here;
  runtime rt({.workers = 2});
  sync_wait(rt, write(rt, range(1000), here.path("a.jsonl"), {.shard_bytes = 100}));
  CHECK(names_in(here).size() == 39);
  write_report done = sync_wait(rt, write(rt, range(1000), here.path("a.jsonl"), {.shard_bytes = 1000}));
  CHECK(done.files == 4);
  CHECK(names_in(here) == std::vector<std::string>{"a-00000.jsonl", "a-00001.jsonl", "a-00002.jsonl", "a-00003.jsonl"});
  int64s all;
  for (const std::string& name : names_in(here)) {
    int64s some = numbers_in(rt, here.path(name));
    all.insert(all.end(), some.begin(), some.end());
    const auto size = std::filesystem::file_size(here.path(name));
    CHECK((name == "a-00003.jsonl" || (size >= 1000 && size < 1004)));
  }
  CHECK(all == numbers_up_to(1000));
  // Just full: no empty shard behind it.
  done = sync_wait(rt, write(rt, range(10), here.path("b.jsonl"), {.shard_bytes = 20}));
  CHECK(done.files == 1);
  done = sync_wait(rt, write(rt, range(0), here.path("c.csv"), {.shard_bytes = 20}));
  CHECK(done.files == 1);
  CHECK(bytes_of(here.path("c-00000.csv")) == "value\n");
}

TEST_CASE("write: outputs that cannot be written are refused before anything is read, and leave no file") {
  temporary_folder here;
  runtime rt({.workers = 1});
  auto fails = [&](auto ds, const char* name, write_options o, const char* words) {
    CHECK_THROWS_WITH(sync_wait(rt, write(rt, ds, here.path(name), o)), Catch::Contains(words));
    CHECK(names_in(here).empty());
  };
  fails(range(3), "a.tfrecord", {.format = output_format::tfrecords}, "takes records, lines or strings");
  fails(rows(3), "a.tfrecord", {.format = output_format::tfrecords}, "the format example");
  fails(range(3) | window(2), "a.csv", {}, "a field of CSV");
  fails(range(3), "a.jsonl", {.compression = compression::zlib}, "by gzip or zstd, not by zlib");
  fails(range(3), "a.jsonl", {.compression = compression::lz4}, "not by lz4; lz4 compresses the buffers of Arrow");
  fails(range(3), "a.jsonl", {.shards = 2, .shard_bytes = 5}, "set one of them");
  fails(range(3), "a{shard}-{shards}.jsonl", {.shard_bytes = 5}, "needs their number");
  fails(range(3), "no/folder/a.jsonl", {}, "does not exist");
  CHECK_THROWS(write(rt, node_ptr(), here.path("a.jsonl")));
}

TEST_CASE("write: an error of the plan leaves the existing file, and nothing new") {
  temporary_folder here;
  runtime rt({.workers = 2});
  here.write("a.jsonl", "old\n");
  auto failing = range(5000) | map([](std::int64_t i) -> std::int64_t {
                   if (i == 4000) throw std::runtime_error("no such number");
                   return i;
                 });
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, failing, here.path("a.jsonl"))), Catch::Contains("no such number"));
  CHECK_THROWS(sync_wait(rt, write(rt, failing, here.path("b.jsonl"), {.shards = 3})));
  CHECK(names_in(here) == std::vector<std::string>{"a.jsonl"});
  CHECK(bytes_of(here.path("a.jsonl")) == "old\n");
  iterate_options skipping;
  skipping.on_error = error_policy::skip;
  write_report done = sync_wait(rt, write(rt, failing, here.path("a.jsonl"), {}, skipping));
  CHECK(done.errors == 1);
  CHECK(done.elements == 4999);
}

TEST_CASE("write: a checkpoint continues after an earlier call, for every format") {
  static std::atomic<std::int64_t> fails_at = -1;
  auto plan = range(5000) | shuffle(100, {.seed = 3}) | map([](std::int64_t i) -> row {
                if (i == fails_at) throw std::runtime_error("killed");
                return row_of(i);
              });
  struct use {
    const char* name;
    write_options o;
  };
  for (const use& u :
       {use{"a.csv", {}}, use{"b.csv.gz", {}}, use{"c.tfrecord", {.shards = 3}}, use{"d.jsonl.gz", {.shards = 2}},
        use{"h.jsonl.zst", {}}, use{"i.tfrecord", {.compression = compression::zstd, .shards = 2}},
        use{"e.jsonl", {.shard_bytes = 7000}}, use{"f.csv.gz", {.shard_bytes = 5000}}, use{"g.arrow", {}}}) {
    temporary_folder whole, parts;
    runtime rt({.workers = 2});
    fails_at = -1;
    write_report done = sync_wait(rt, write(rt, plan, whole.path(u.name), u.o));
    write_options o = u.o;
    const std::string at = parts.path("at");
    o.checkpoint = at;
    o.checkpoint_elements = 300;
    for (std::int64_t life : {17, 1700, 4990}) {
      fails_at = life;
      CHECK_THROWS(sync_wait(rt, write(rt, plan, parts.path(u.name), o)));
    }
    for (int again = 0; again != 2; ++again) {
      fails_at = -1;
      write_report rest = sync_wait(rt, write(rt, plan, parts.path(u.name), o));
      CHECK(rest.elements == 5000);
      CHECK(rest.files == done.files);
      std::vector<std::string> names = names_in(parts);
      std::erase(names, "at");
      CHECK(names == names_in(whole));
      for (const std::string& name : names) {
        INFO(name);
        if (name.ends_with(".arrow")) {  // as many batches more as there were checkpoints
          auto text_in = [&](const temporary_folder& f) {
            return elements_in(rt,
                               from_arrow<row>(f.path(name)) | unbatch() | map([](const row& r) { return r.text; }));
          };
          CHECK(text_in(whole) == text_in(parts));
        } else if (u.o.compression == compression::zstd || name.ends_with("z") || name.ends_with("zst")) {
          // as many members more
          auto lines_in = [&](const temporary_folder& f) {
            return elements_in(rt, lines(f.path(name)) | map([](const line& l) { return std::string(l.view()); }));
          };
          CHECK(lines_in(whole) == lines_in(parts));
        } else {
          CHECK(bytes_of(whole.path(name)) == bytes_of(parts.path(name)));
        }
      }
    }
  }
}

TEST_CASE("write: npy continues, too, with the number of rows in front") {
  static std::atomic<std::int64_t> fails_at = -1;
  auto plan = range(2000) | map([](std::int64_t i) {
                if (i == fails_at) throw std::runtime_error("killed");
                return tensor::of(std::vector<std::int64_t>{i, -i});
              });
  temporary_folder here;
  runtime rt({.workers = 1});
  fails_at = -1;
  sync_wait(rt, write(rt, plan, here.path("whole.npy")));
  const std::string at = here.path("at");
  for (std::int64_t life : {0, 700, 1999}) {
    fails_at = life;
    CHECK_THROWS(sync_wait(rt, write(rt, plan, here.path("a.npy"), {.checkpoint = at, .checkpoint_elements = 100})));
  }
  fails_at = -1;
  sync_wait(rt, write(rt, plan, here.path("a.npy"), {.checkpoint = at}));
  CHECK(bytes_of(here.path("a.npy")) == bytes_of(here.path("whole.npy")));
}

TEST_CASE("write: a checkpoint of another output, or of files that were altered, is refused") {
  temporary_folder here;
  runtime rt({.workers = 1});
  const std::string at = here.path("at"), out = here.path("a.jsonl");
  sync_wait(rt, write(rt, range(100), out, {.checkpoint = at}));
  auto refused = [&](const std::string& path, write_options o, const char* words) {
    o.checkpoint = at;
    CHECK_THROWS_WITH(sync_wait(rt, write(rt, range(100), path, o)), Catch::Contains(words));
  };
  refused(out, {.format = output_format::csv}, "the checkpoint's output is jsonl, not csv");
  refused(out, {.compression = compression::gzip}, "not jsonl with gzip");
  refused(out, {.shards = 2}, "not jsonl in 2 shards");
  refused(out, {.shard_bytes = 1024}, "not jsonl in shards of 1KiB");
  std::string bytes = bytes_of(out);
  bytes[5] = '!';
  std::ofstream(out, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  refused(out, {}, "some of these were altered");
  CHECK(bytes_of(out) == bytes);
}

TEST_CASE("write: an output of another process is refused, and the process named") {
  temporary_folder here;
  runtime rt({.workers = 2});
  locked_target other;
  REQUIRE(other.take(here.path("a.jsonl")).ok());
  CHECK_THROWS_WITH(sync_wait(rt, write(rt, range(3), here.path("a.jsonl"))),
                    Catch::Contains("is being written by process " + std::to_string(::getpid())));
  other.release();
  CHECK(names_in(here).empty());
  sync_wait(rt, write(rt, range(3), here.path("a.jsonl")));
}

TEST_CASE("write: within a coroutine, and in a simulation") {
  temporary_folder here;
  simulation world(7);
  runtime rt(world);
  CHECK(sync_wait(rt, copy(rt, here.path("{shard}.jsonl"))).elements == 10);
  CHECK(bytes_of(here.path("00001.jsonl")) == "1\n3\n5\n7\n9\n");
}

}  // namespace sluice::lib::write_test
