// SPDX-License-Identifier: Apache-2.0
// sluice/op/cache.hpp: elements that a cache keeps in columns, for consumers that receive rows and for others, and files
// whose blocks have the older form.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "element/batches/column_bytes.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/sluice.hpp"
#include "store/cache_file.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::cache_rows_test {
namespace {

using namespace test;
using int64 = std::int64_t;

struct folder {
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-rows-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~folder() { std::filesystem::remove_all(path); }
  std::string at(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

using texts = std::vector<std::string>;

task<void> read(stream<std::string> s, std::size_t n, texts& all) {
  while (all.size() != n) {
    auto x = co_await s.next();
    if (!x) break;
    all.push_back(*x);
  }
}
texts run(runtime& rt, const dataset<std::string>& ds, std::size_t n = ~std::size_t{0}) {
  texts all;
  iterate_options options;
  options.seed = 1;
  sync_wait(rt, read(ds.iterate(rt, options), n, all));
  return all;
}
texts run_plan(const std::string& plan) {
  runtime rt({.workers = 1});
  return run(rt, dataset<std::string>(parse_plan(plan)));
}

texts numbers_up_to(int64 n) {
  texts all;
  for (int64 i = 0; i != n; ++i) all.push_back("number " + std::to_string(i));
  return all;
}

/// Returns the elements of a block of rows as earlier versions wrote them.
std::string in_older_form(const std::string& block, std::uint32_t count) {
  batch_storage rows;
  REQUIRE(block.substr(0, 2) == std::string("\0\1", 2));
  REQUIRE(read_rows(std::string_view(block).substr(2), count, rows.make_rows(type_of<std::string>())).ok());
  std::string all;
  for (std::uint32_t i = 0; i != count; ++i) {
    const std::string text(rows.rows_column().text(i));
    std::string one;
    serialise_bare(type_of<std::string>(), &text, one);
    REQUIRE(one.size() < 128);
    all += static_cast<char>(one.size());
    all += one;
  }
  return all;
}

/// Copies every `each`-th block of a file in the older form.
void copy_in_older_form(const std::string& from, const std::string& to, std::size_t each) {
  auto old = cache_file::open_to_read(from);
  auto made = cache_file::open(to);
  REQUIRE(old.ok());
  REQUIRE(made.ok());
  REQUIRE((*made)->begin((*old)->head()).ok());
  std::vector<stored_block> blocks;
  REQUIRE((*old)->scan(blocks).ok());
  REQUIRE(blocks.size() >= 4);
  for (std::size_t i = 0; i < blocks.size(); i += each) {
    const auto bytes = (*old)->read(blocks[i]);
    REQUIRE(bytes.ok());
    stored_block b{.ordinal = blocks[i].ordinal, .count = blocks[i].count, .position = blocks[i].position};
    byte_parts older;
    older.own() = in_older_form(*bytes, b.count);
    REQUIRE((*made)->append(b, older).ok());
  }
}

std::string hundred(int64 i) {
  std::string text = std::to_string(i);
  text.resize(100, '.');
  return text;
}

/// Appends its rows itself.
struct large_text {
  static constexpr std::size_t kBytes = 1'500'000;
  std::string operator()(int64) const { return std::string(kBytes, 'x'); }
  void append_to(column& rows, int64) const { rows.append_text(std::string(kBytes, 'x')); }
};

}  // namespace

TEST_CASE("blocks that an earlier version has written are read, and new ones are added to them") {
  const folder f;
  const std::string plan = "range(6000) | map(\"number \" + string(it)) | cache(\"" + f.at("a") + "\")";
  const texts expected = numbers_up_to(6000);
  REQUIRE(run_plan(plan) == expected);
  for (const std::size_t each : {1u, 2u}) {
    copy_in_older_form(f.at("a"), f.at("b"), each);
    std::filesystem::rename(f.at("b"), f.at("a"));
    CHECK(run_plan(plan) == expected);
    CHECK(run_plan(plan + " | batch(100) | unbatch") == expected);
    std::filesystem::remove(f.at("a"));
    REQUIRE(run_plan(plan) == expected);
  }
}

TEST_CASE("a cache that a batch has filled yields elements, and one that a map has filled yields rows") {
  const texts expected = numbers_up_to(5000);
  for (const bool batch_first : {false, true}) {
    runtime rt({.workers = 2});
    const dataset<std::string> kept =
        range(5000) | map([](int64 i) { return "number " + std::to_string(i); }) | cache();
    const dataset<std::string> rows = kept | batch(30) | unbatch();
    CHECK(run(rt, batch_first ? rows : kept, 2001) == texts(expected.begin(), expected.begin() + 2001));
    CHECK(run(rt, batch_first ? kept : rows) == expected);
    CHECK(run(rt, batch_first ? rows : kept) == expected);
  }
}

TEST_CASE("a cache in memory is charged with little more than its elements") {
  constexpr int64 kTexts = 150'000;
  constexpr std::size_t kBytes = kTexts * (100 + sizeof(std::int32_t));
  texts expected;
  for (int64 i = 0; i != kTexts; ++i) expected.push_back(hundred(i));
  for (const bool batch_first : {false, true}) {
    runtime rt({.workers = 1});
    const dataset<std::string> kept = range(kTexts) | map(fn("hundred", 1, hundred)) | cache();
    const dataset<std::string> rows = kept | batch(1000) | unbatch();
    CHECK((run(rt, batch_first ? rows : kept) == expected));
    const std::size_t charged = rt.ledger().report().by_purpose[static_cast<std::size_t>(purpose::cache)];
    CHECK(charged > kBytes);
    CHECK(charged < kBytes + kBytes / 8 + (std::size_t{4} << 20));  // the first 4 MiB are in arrays that have doubled
    CHECK((run(rt, batch_first ? kept : rows) == expected));
    CHECK((run(rt, rows) == expected));
  }
}

TEST_CASE("rows that are made for a cache only are charged, and exceed a small budget with advice") {
  constexpr int64 kWanted = 10;
  for (const bool is_small : {false, true}) {
    runtime rt({.workers = 1, .memory_budget_bytes = std::size_t{is_small ? 1u : 64u} << 20});
    // Without a fixed order no element is skipped, because a later pass could not make it.
    const dataset<std::string> ds = range(12) |
                                    map([](int64 i) { return i; }, {.parallelism = 2, .order = order::sloppy}) |
                                    map(large_text{}) | cache() | batch(2) | skip(kWanted / 2) | unbatch();
    if (is_small) {
      CHECK_THROWS_WITH(run(rt, ds), Catch::Contains("the rows that a cache makes for later runs") &&
                                         Catch::Contains("raise the memory budget"));
    } else {
      CHECK(run(rt, ds).size() == 12 - kWanted);
    }
  }
}

TEST_CASE("small and large texts are kept in one cache") {
  const auto text_of = [](int64 i) {
    return std::string(i % 500 == 7 ? 200'000 : static_cast<std::size_t>(i % 20), 'a');
  };
  texts expected;
  for (int64 i = 0; i != 3000; ++i) expected.push_back(text_of(i));
  const folder f;
  const dataset<std::string> made = range(3000) | map(fn("text_of", 1, text_of));
  for (const dataset<std::string>& kept : {made | cache(), made | cache(f.at("a"))}) {
    runtime rt({.workers = 1});
    CHECK((run(rt, kept) == expected));
    CHECK((run(rt, kept) == expected));
    CHECK((run(rt, kept | batch(100) | unbatch()) == expected));
  }
}

}  // namespace sluice::lib::cache_rows_test
