// SPDX-License-Identifier: Apache-2.0
// Folders of HDFS, walked: page by page, each once, what matches sorted by bytes.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include <algorithm>
#include <iterator>
#include <random>
#include <set>

#include "http/hdfs/hdfs_world.hpp"
#include "io/paths/glob.hpp"

namespace sluice::lib::hdfs_listing_test {
using namespace sluice::lib::testing;
using texts = std::vector<std::string>;

namespace {

const std::string kRoot = "hdfs://warehouse/";

texts with_root(texts names) {
  for (std::string& n : names) n = kRoot + n;
  return names;
}

status why_of_listing(hdfs_files& w, const std::string& pattern) {
  std::optional<std::vector<listed_file>> ignored;
  return w.try_run(http_world::keep<std::vector<listed_file>>(list_all(w.fs(), pattern), ignored));
}

/// What the pattern itself says of every path.
texts matches_of(const simulated_hdfs& hdfs, const std::string& pattern) {
  const detail::glob_pattern p(pattern);
  texts all;
  for (auto& [path, unused] : hdfs.files)
    if (p.matches(path.substr(1))) all.push_back(kRoot + path.substr(1));
  if (!p.names().back().is_folders())
    for (auto& path : hdfs.folders)
      if (path != "/" && p.matches(path.substr(1))) all.push_back(kRoot + path.substr(1));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("folders are listed page by page, and patterns match as they do for local files") {
  for (bool in_pages : {true, false})
    for (std::size_t page : {std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
      hdfs_files w;
      w.hdfs.lists_in_pages = in_pages;
      w.hdfs.page_entries = page;
      for (const char* path :
           {"/a/x.csv", "/a/b/x.csv", "/a/b/c/y.csv", "/a.csv", "/a-b/z.csv", "/b.csv", "/.hidden/x.csv"})
        w.hdfs.put(path, path);
      INFO(in_pages << " " << page);
      CHECK(w.listed(kRoot + "*.csv") == with_root({"a.csv", "b.csv"}));
      CHECK(w.listed(kRoot + "**/?.csv") ==
            with_root({"a-b/z.csv", "a.csv", "a/b/c/y.csv", "a/b/x.csv", "a/x.csv", "b.csv"}));
      CHECK(w.listed(kRoot + "a/*") == with_root({"a/b", "a/x.csv"}));
      CHECK(w.listed(kRoot + "a/**") == with_root({"a/b/c/y.csv", "a/b/x.csv", "a/x.csv"}));
      CHECK(w.listed(kRoot + "[ab]*/[x-z].csv") == with_root({"a-b/z.csv", "a/x.csv"}));
      CHECK(w.listed(kRoot + "*/") == with_root({"a-b/", "a/"}));
      CHECK(w.listed(kRoot + "a/b/") == with_root({"a/b/"}));
      CHECK(w.listed(kRoot + "a/**/") == with_root({"a/", "a/b/", "a/b/c/"}));
      CHECK(w.listed(kRoot + "*/x.csv") == with_root({"a/x.csv"}));
      CHECK(w.listed(kRoot + ".h*/x.csv") == with_root({".hidden/x.csv"}));
      for (const char* none : {"c*", "none", "none/*", "a.csv/*", "a.csv/", "a/x.csv/**", "*/none"}) {
        const status why = why_of_listing(w, kRoot + none);
        CHECK(why.code() == status_code::not_found);
        CHECK_THAT(why.to_string(), Catch::Contains(none));
      }
    }
}

TEST_CASE("a path that needs no listing is looked up") {
  hdfs_files w;
  w.hdfs.put("/a/b/c.csv", "hello");
  const auto one = w.run(list_all(w.fs(), kRoot + "a/b/c.csv"));
  REQUIRE(one.size() == 1);
  CHECK(one[0].info->size_bytes == 5);
  CHECK(w.asked("LISTSTATUS_BATCH") == 0);
  CHECK(w.listed(kRoot + "*/b/c.csv") == texts{kRoot + "a/b/c.csv"});
  CHECK(w.asked("LISTSTATUS_BATCH") == 1);
}

TEST_CASE("a server that knows no pages is asked for them once") {
  hdfs_files w;
  w.hdfs.lists_in_pages = false;
  for (const char* path : {"/a/x", "/b/x", "/c/x"}) w.hdfs.put(path, "1");
  CHECK(w.listed(kRoot + "*/*").size() == 3);
  CHECK(w.asked("LISTSTATUS_BATCH") == 1);
  CHECK(w.asked("LISTSTATUS") == 4);
}

TEST_CASE("matches are given before the next page is asked for, and folders are read one at a time") {
  hdfs_files w;
  w.hdfs.page_entries = 10;
  for (int i = 100; i != 200; ++i) w.hdfs.put("/many/" + std::to_string(i), "1");
  auto client = [](hdfs_files& in) -> task<> {
    auto l = in.fs().list(kRoot + "many/*");
    auto asking = l->next();
    const auto page = co_await asking;
    CHECK(page.size() == 10);
    CHECK(in.asked("LISTSTATUS_BATCH") == 1);
  };
  CHECK(w.try_run(client(w)).ok());
  CHECK(w.listed(kRoot + "many/*").size() == 100);
}

TEST_CASE("random trees and patterns match correctly, in order and once, for any order of the server") {
  std::mt19937 draw(20261124);
  auto below = [&draw](std::uint32_t n) { return static_cast<std::size_t>(draw() % n); };
  const texts names{"a", "b", "ab", "a-b", "a.b", "z", "\xc3\xa9", "a\xc3\xa9", ".h", "\x7f"};
  const texts pieces{"*", "**", "a", "a*", "?", "[!a]*", "*b", "*\xc3\xa9*", "ab", ".*"};
  std::size_t found = 0;
  for (int round = 0; round != 150; ++round) {
    hdfs_files w;
    w.hdfs.page_entries = 1 + below(4);
    w.hdfs.lists_in_pages = below(4) != 0;
    w.hdfs.signed_order = below(3) != 0;
    for (std::size_t i = 0; i != 25; ++i) {
      std::string path;
      const std::size_t depth = 1 + below(4);
      for (std::size_t d = 0; d != depth; ++d) path += "/" + names[below(10)];
      bool is_free = w.hdfs.folders.count(path) == 0;
      for (std::size_t at = path.rfind('/'); at != 0; at = path.rfind('/', at - 1))
        is_free = is_free && w.hdfs.files.count(path.substr(0, at)) == 0;
      if (is_free) w.hdfs.put(path, path);
    }
    for (int p = 0; p != 6; ++p) {
      std::string pattern;
      const std::size_t depth = 1 + below(3);
      for (std::size_t d = 0; d != depth; ++d) pattern += (d == 0 ? "" : "/") + pieces[below(10)];
      const texts expected = matches_of(w.hdfs, pattern);
      INFO("round " << round << ": " << pattern);
      if (expected.empty()) {
        CHECK(why_of_listing(w, kRoot + pattern).code() == status_code::not_found);
        continue;
      }
      found += expected.size();
      CHECK(w.listed(kRoot + pattern) == expected);
    }
  }
  CHECK(found > 1000);
}

TEST_CASE("a folder from a server without pages is bounded, and so is the memory of its names") {
  hdfs_files w;
  w.hdfs.lists_in_pages = false;
  w.nn1.answers([&w](const asked_for& a) -> std::optional<reply> {
    auto r = w.hdfs.name_node(0, a);
    if (query_of(a.target)["op"] == "LISTSTATUS") r->body = std::string((std::size_t{64} << 20) + 1, ' ');
    return r;
  });
  w.hdfs.put("/dir/a", "1");
  const status why = why_of_listing(w, kRoot + "dir/*");
  CHECK(why.code() == status_code::resource_exhausted);
  CHECK_THAT(why.to_string(), Catch::Contains("too large to be listed whole") && Catch::Contains("LISTSTATUS_BATCH") &&
                                  Catch::Contains(kRoot + "dir"));
}

TEST_CASE("the names of a folder that have come and were not given yet are charged") {
  hdfs_files w;
  const std::string long_name(200, 'n');
  for (int i = 0; i != 3000; ++i) w.hdfs.put("/dir/" + std::to_string(10'000 + i) + long_name, "1");
  for (bool in_pages : {true, false}) {
    w.hdfs.lists_in_pages = in_pages;
    auto client = [](hdfs_files& in, bool pages) -> task<> {
      std::unique_ptr<listing> l = in.fs().list(kRoot + "dir/*");
      auto asking = l->next();
      const std::vector<listed_file> first = co_await asking;
      CHECK(first.size() == 1000);
      const std::size_t held = in.rt.ledger().used_bytes();
      if (pages) CHECK(held == 0);
      else CHECK(held >= 2000 * 200);
      auto going_on = l->next();
      const std::vector<listed_file> second = co_await going_on;
      CHECK(second.size() == 1000);
      l.reset();
      CHECK(in.rt.ledger().used_bytes() == 0);
    };
    CHECK(w.try_run(client(w, in_pages)).ok());
  }
  w.rt.ledger().set_budget(100'000);
  const status why = why_of_listing(w, kRoot + "dir/*");
  CHECK(why.code() == status_code::resource_exhausted);
  CHECK_THAT(why.to_string(), Catch::Contains("the names of a folder"));
}
#endif

}  // namespace sluice::lib::hdfs_listing_test
