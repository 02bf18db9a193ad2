// SPDX-License-Identifier: Apache-2.0
// sluice/op/load.hpp, and the folders that write() makes for it.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <set>

#include "io/temporary_folder.hpp"
#include "output/data_folder.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/pipeline/index_file.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::load_test {
namespace {

using testing::temporary_folder;

struct place {
  double x = 0;
  std::string name;
};
struct item {
  std::string text;
  std::int64_t number = 0;
  std::optional<float> part;
  std::optional<std::string> note;
  std::vector<std::int32_t> list;
  std::array<std::uint8_t, 3> three{};
  place at;
  std::pair<bool, std::int16_t> both;
};
struct picture {
  tensor pixels;
  std::int64_t label = 0;
};

item item_of(std::int64_t i) {
  item r{"text " + std::to_string(i),
         i,
         {},
         {},
         {},
         {1, 2, static_cast<std::uint8_t>(i)},
         {0.5 * static_cast<double>(i), "p"},
         {i % 2 == 0, 7}};
  if (i % 2 == 0) r.part = static_cast<float>(i) / 4;
  if (i % 3 == 0) r.note = std::string(static_cast<std::size_t>(i % 5), 'n');
  for (std::int32_t k = 0; k != i % 4; ++k) r.list.push_back(k);
  return r;
}
picture picture_of(std::int64_t i) {
  return {tensor::of(std::vector<std::uint8_t>(6, static_cast<std::uint8_t>(i)), {2, 3}), i};
}

task<std::vector<std::string>> printed(any_stream* s, std::size_t most) {
  std::vector<std::string> out;
  while (out.size() < most) {
    block b = co_await s->next_block({0, static_cast<std::uint32_t>(std::min<std::size_t>(most - out.size(), 1000))});
    if (!b) break;
    for (std::uint32_t i = 0; i != b.size(); ++i) print(b.type(), b.at(i), out.emplace_back());
  }
  co_return out;
}
std::vector<std::string> elements_of(runtime& rt, const node_ptr& plan, const iterate_options& o = {}) {
  any_stream s = open_run(rt, plan, o);
  return sync_wait(rt, printed(&s, SIZE_MAX));
}

template <class T> task<> written(runtime& rt, dataset<T> ds, std::string to, write_options o) {
  write_report done = co_await write(rt, ds, to, o);
  (void)done;
}

/// Writes the elements in several ways, and compares what load() reads, also resumed in the middle.
template <class T> void comes_back(const dataset<T>& ds, output_format format = output_format::automatic) {
  runtime rt({.workers = 2});
  const std::vector<std::string> all = elements_of(rt, ds.plan());
  for (auto [shards, bytes] : {std::pair(1, 0), std::pair(3, 0), std::pair(1, 300)}) {
    temporary_folder folder;
    const std::string to = folder.path("out/");
    write_options o{.format = format};
    o.shards = shards;
    o.shard_bytes = bytes;
    sync_wait(rt, written(rt, ds, to, o));
    dataset<T> again = load<T>(to);
    CAPTURE(to_string(format), shards, bytes, plan_text(*again.plan()));
    CHECK(&*again.plan()->type == &type_of<T>());
    CHECK(elements_of(rt, again.plan()) == all);
    CHECK(cardinality_of(*again.plan()) == cardinality::of(static_cast<std::int64_t>(all.size())));
    const node_ptr from_text = parse_plan(plan_text(*again.plan()));
    CHECK(elements_of(rt, from_text) == all);
    any_stream half = open_run(rt, again.plan());
    std::vector<std::string> first = sync_wait(rt, printed(&half, all.size() / 2));
    std::vector<std::string> rest = elements_of(rt, again.plan(), {.from = half.position()});
    first.insert(first.end(), rest.begin(), rest.end());
    CHECK(first == all);
  }
}

TEST_CASE("load yields the elements that write wrote, with their types") {
  comes_back(range(40) | map(item_of));
  comes_back(range(40) | map(item_of) | batch(7));
  comes_back(range(40));
  comes_back(range(40) | map([](std::int64_t i) { return std::to_string(i); }));
  comes_back(range(40) | map([](std::int64_t i) { return i % 3 == 0 ? std::optional<double>() : std::optional(0.5); }));
  comes_back(range(40) | map(picture_of));
  comes_back(range(40) | map([](std::int64_t i) { return picture_of(i).pixels; }));
  comes_back(range(40) | map([](std::int64_t i) { return picture_of(i).pixels; }), output_format::numpy);
  comes_back(range(40) | map([](std::int64_t i) { return std::to_string(i); }), output_format::tfrecords);
  comes_back(range(40) | map([](std::int64_t i) { return std::to_string(i); }), output_format::text_lines);
  comes_back(range(40), output_format::jsonl);
}

TEST_CASE("a folder in a format that cannot give back its elements is refused before anything is written") {
  runtime rt;
  temporary_folder folder;
  CHECK_THROWS_WITH(sync_wait(rt, written(rt, range(3), folder.path("a/"), {.format = output_format::numpy})),
                    Catch::Contains("npy") && Catch::Contains("write the folder as arrow"));
  CHECK_THROWS_WITH(sync_wait(rt, written(rt, range(3) | map([](std::int64_t i) { return std::to_string(i); }),
                                          folder.path("b/"), {.format = output_format::raw})),
                    Catch::Contains("raw files have no boundaries"));
  CHECK(std::filesystem::is_empty(folder.path("")));
}

TEST_CASE("load of another type than that of the elements is refused") {
  runtime rt;
  temporary_folder folder;
  sync_wait(rt, written(rt, range(3), folder.path("out/"), {}));
  CHECK_THROWS_WITH(load<double>(folder.path("out")), Catch::Contains("int64") && Catch::Contains("double"));
}

TEST_CASE("every changed byte of a manifest, and every cut of it, is noticed") {
  data_folder d{.is_complete = true,
                .format = "jsonl",
                .compression = "none",
                .type = "int64",
                .elements = 3,
                .alternates = true,
                .files = {{"part-00000-of-00001.jsonl", 6}}};
  const std::string text = manifest_text(d);
  REQUIRE(read_manifest_text(text).ok());
  for (std::size_t i = 0; i != text.size(); ++i) {
    CHECK(!read_manifest_text(text.substr(0, i)).ok());
    for (int bit : {1, 32, 128}) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ bit);
      CHECK(!read_manifest_text(other).ok());
    }
  }
  d.files[0].name = "../part";
  CHECK(!read_manifest_text(manifest_text(d)).ok());
}

TEST_CASE("a run that fails leaves a complete folder as it was, and a new one partial") {
  runtime rt;
  temporary_folder folder;
  const std::string to = folder.path("out/");
  auto failing = range(9) | map([](std::int64_t i) { return i == 7 ? throw std::runtime_error("no") : i; });
  CHECK_THROWS(sync_wait(rt, written(rt, failing, to, {.format = output_format::jsonl})));
  CHECK_THROWS_WITH(load<std::int64_t>(to), Catch::Contains("not complete"));
  sync_wait(rt, written(rt, range(5), to, {.format = output_format::jsonl}));
  CHECK_THROWS(sync_wait(rt, written(rt, failing, to, {.format = output_format::jsonl})));
  CHECK(elements_of(rt, load<std::int64_t>(to).plan()).size() == 5);
}

TEST_CASE("a new output removes the files of the one before") {
  runtime rt;
  temporary_folder folder;
  const std::string to = folder.path("out/");
  write_options four{.format = output_format::jsonl};
  four.shards = 4;
  sync_wait(rt, written(rt, range(8), to, four));
  sync_wait(rt, written(rt, range(5), to, {}));
  std::set<std::string> names;
  for (const auto& e : std::filesystem::directory_iterator(to)) names.insert(e.path().filename());
  CHECK(names == std::set<std::string>{"part.arrow", "sluice.manifest"});
}

TEST_CASE("load by index finds elements of several files without those before them") {
  runtime rt;
  temporary_folder folder;
  const std::string to = folder.path("out/");
  write_options o{.format = output_format::jsonl};
  o.shard_bytes = 400;
  sync_wait(rt, written(rt, range(500), to, o));
  CHECK_THROWS_WITH(load<std::int64_t>(to, {.index = file_index::required}), Catch::Contains("sluice index"));
  for (const auto& e : std::filesystem::directory_iterator(to))
    if (e.path().extension() == ".jsonl") sync_wait(rt, write_index(rt, jsonl<std::int64_t>(e.path().string()).plan()));
  auto ds = load<std::int64_t>(to, {.index = file_index::required});
  CHECK(why_not_seekable(*ds.plan()).ok());
  CHECK(sync_wait(rt, ds.at(rt, 321)) == 321);
}

}  // namespace
}  // namespace sluice::lib::load_test
