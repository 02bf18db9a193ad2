// SPDX-License-Identifier: Apache-2.0
// sluice/op/cache.hpp with a file: what later runtimes read, and files that are cut, damaged, or of another plan.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"
#include "support/trials/resumed_everywhere.hpp"

namespace sluice::lib::cache_file_test {
namespace {

using namespace test;
using int64 = std::int64_t;

struct folder {
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-cache-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~folder() { std::filesystem::remove_all(path); }
  std::string at(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::atomic<int> g_calls{0};
int64 squared(int64 x) {
  ++g_calls;
  return x * x;
}
dataset<int64> numbers(int64 n, int version = 1) { return range(n) | map(fn("squared", version, squared)); }
int calls() { return g_calls.exchange(0); }

int64s squares(int64 n) {
  int64s all;
  for (int64 x = 0; x != n; ++x) all.push_back(x * x);
  return all;
}
int64s up_to(int64 n) {
  int64s all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}
int64s twice(const int64s& one) {
  int64s both = one;
  both.insert(both.end(), one.begin(), one.end());
  return both;
}

struct outcome {
  int64s elements;
  status why;
};
task<void> read(stream<int64> s, std::size_t n, outcome& o) {
  while (o.elements.size() != n) {
    auto x = co_await s.try_next();
    o.why = x.why;
    if (!x) break;
    o.elements.push_back(*x);
  }
}
outcome run_on(runtime& rt, const dataset<int64>& ds, const iterate_options& options, std::size_t n = ~std::size_t{0}) {
  outcome o;
  sync_wait(rt, read(ds.iterate(rt, options), n, o));
  return o;
}
/// In a runtime of its own, as a later process.
outcome run(const dataset<int64>& ds, std::size_t n = ~std::size_t{0}, std::uint64_t seed = 1) {
  runtime rt({.workers = 1});
  iterate_options options;
  options.seed = seed;
  return run_on(rt, ds, options, n);
}

}  // namespace

TEST_CASE("a later runtime reads a cache from its file, and makes only what an earlier one has left") {
  const folder f;
  const auto ds = [&] { return numbers(5000) | cache(f.at("a")); };
  calls();
  CHECK(run(ds(), 3000).elements == squares(3000));
  const int first = calls();
  CHECK(first >= 3000);
  CHECK(run(ds()).elements == squares(5000));
  const int rest = calls();
  CHECK(rest >= 5000 - first);
  CHECK(rest <= 5000 - first + 4096);
  CHECK(run(ds() | repeat(2)).elements == twice(squares(5000)));
  CHECK(run(ds() | skip(4998)).elements == int64s{4998 * 4998, 4999 * 4999});
  CHECK(calls() == 0);
}

TEST_CASE("texts, structures, tensors and batches are read back from a file") {
  const folder f;
  for (const char* plan :
       {"range(2500) | map(string(it)) | cache(\"F\") | map(length(it))",
        "range(2500) | map({a: it, b: string(it)}) | cache(\"F\") | map(a + length(b))",
        "range(2500) | batch(7) | cache(\"F\") | unbatch", "range(2500) | window(3) | cache(\"F\") | map(it[0])"}) {
    std::string text = plan;
    const std::string file = f.at(std::to_string(text.size()));
    text.replace(text.find('F'), 1, file);
    CAPTURE(text);
    std::string without = plan;
    without.erase(without.find("| cache"), std::string("| cache(\"F\") ").size());
    const int64s expected = run(dataset<int64>(parse_plan(without))).elements;
    REQUIRE(expected.size() >= 800);
    CHECK(run(dataset<int64>(parse_plan(text))).elements == expected);
    const auto size = std::filesystem::file_size(file);
    CHECK(run(dataset<int64>(parse_plan(text))).elements == expected);
    CHECK(std::filesystem::file_size(file) == size);
  }
}

TEST_CASE("a file that is cut at any byte yields all elements, and is complete afterwards") {
  const folder f;
  const auto ds = [&] { return numbers(40) | cache(f.at("a")) | skip(0); };
  // Several blocks: each run ends early, and its end closes a block.
  for (std::size_t n : {7, 19, 20, 33, 41}) run(ds(), n);
  const std::string whole = bytes_of(f.at("a"));
  REQUIRE(run(ds()).elements == squares(40));
  CHECK(bytes_of(f.at("a")) == whole);
  for (std::size_t length = 0; length != whole.size(); ++length) {
    CAPTURE(length);
    put(f.at("a"), whole.substr(0, length));
    const outcome o = run(ds());
    REQUIRE(o.why.ok());
    REQUIRE(o.elements == squares(40));
    calls();
    REQUIRE(run(ds()).elements == squares(40));
    REQUIRE(calls() == 0);
  }
}

TEST_CASE("a file with any byte changed yields right elements or an error, and is replaced on request") {
  const folder f;
  const auto ds = [&](on_mismatch how) { return numbers(30) | cache(f.at("a"), {.on_mismatch = how}); };
  for (std::size_t n : {9, 31}) run(ds(on_mismatch::fail), n);
  const std::string whole = bytes_of(f.at("a"));
  int refused = 0;
  for (std::size_t at = 0; at != whole.size(); ++at)
    for (int bit : {0, 5}) {
      CAPTURE(at, bit);
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      put(f.at("a"), damaged);
      const outcome o = run(ds(on_mismatch::fail));
      int64s expected = squares(30);
      if (!o.why.ok()) {
        ++refused;
        const bool is_clear =
            o.why.code() == status_code::data_loss || o.why.code() == status_code::failed_precondition;
        REQUIRE(is_clear);
        REQUIRE_THAT(o.why.to_string(), Catch::Contains(f.at("a")));
        REQUIRE(o.elements.size() <= expected.size());
        expected.resize(o.elements.size());
      }
      REQUIRE(o.elements == expected);
      if (at < 4) continue;  // with other first bytes it is no cache, and is not replaced
      put(f.at("a"), damaged);
      const outcome rebuilt = run(ds(on_mismatch::rebuild));
      REQUIRE(rebuilt.why.to_string() == status().to_string());
      REQUIRE(rebuilt.elements == squares(30));
      REQUIRE(run(ds(on_mismatch::fail)).elements == squares(30));
    }
  CHECK(refused >= static_cast<int>(whole.size()));
}

TEST_CASE("a cache of another plan, version, seed, or policy is refused with both, and replaced on request") {
  const folder f;
  const std::string path = f.at("a");
  const auto refused = [](const outcome& o, const std::string& a, const std::string& b) {
    CHECK(o.elements.empty());
    CHECK(o.why.code() == status_code::failed_precondition);
    CHECK_THAT(o.why.to_string(), Catch::Contains("cache: ") && Catch::Contains(a) && Catch::Contains(b) &&
                                      Catch::Contains("on_mismatch=rebuild"));
  };
  REQUIRE(run(numbers(5) | cache(path)).why.ok());
  refused(run(numbers(10) | cache(path)), "range(5)", "range(10)");
  refused(run(numbers(5, 2) | cache(path)), "`squared` has version 1 there", "2 here");
  consumption skipping;
  skipping.on_error = error_policy::skip;
  {
    runtime rt({.workers = 1});
    const consumed other = consume_on(rt, numbers(5) | cache(path), skipping);
    CHECK_THAT(other.why.to_string(), Catch::Contains("another error policy"));
  }
  CHECK(run(numbers(5) | cache(path)).elements == squares(5));
  CHECK(run(numbers(10) | cache(path, {.on_mismatch = on_mismatch::rebuild})).elements == squares(10));
  calls();
  CHECK(run(numbers(10) | cache(path, {.on_mismatch = on_mismatch::rebuild})).elements == squares(10));
  CHECK(calls() == 0);
  refused(run(numbers(5) | cache(path)), "range(10)", "range(5)");
  const auto drawn = range(50) | shuffle(50) | cache(f.at("drawn"));
  const int64s of_one = run(drawn, 100, 1).elements;
  refused(run(drawn, 100, 2), "the seed 1", "the seed 2");
  CHECK(run(drawn | repeat(2), 200, 1).elements == twice(of_one));
}

TEST_CASE("a cache whose input files have changed is refused, unless the run allows it") {
  const folder f;
  put(f.at("one.txt"), "1\n2\n3\n");
  const auto ds = [&] {
    return dataset<int64>(parse_plan("list_files(\"" + f.at("*.txt") +
                                     "\") | interleave(lines) | map(int64(double(length(it)))) | cache(\"" + f.at("a") +
                                     "\")"));
  };
  CHECK(run(ds()).elements == int64s{1, 1, 1});
  CHECK(run(ds()).elements == int64s{1, 1, 1});
  put(f.at("two.txt"), "12\n");
  CHECK_THAT(run(ds()).why.to_string(), Catch::Contains("two.txt is new"));
  std::filesystem::remove(f.at("two.txt"));
  put(f.at("one.txt"), "1\n2\n3\n444\n");
  CHECK_THAT(run(ds()).why.to_string(), Catch::Contains("one.txt had 6 bytes, and has 10"));
  runtime rt({.workers = 1});
  CHECK(run_on(rt, ds(), {.on_changed_inputs = changed_inputs::ignore}).elements == int64s{1, 1, 1});
  CHECK(run(dataset<int64>(parse_plan(
                plan_text(*ds().plan()).replace(plan_text(*ds().plan()).size() - 1, 1, ", on_mismatch=rebuild)"))))
            .elements == int64s{1, 1, 1, 3});
}

TEST_CASE("one stream writes a file, and another one reads what is there and makes the rest itself") {
  const folder f;
  runtime one({.workers = 1}), other({.workers = 1});
  const auto first = numbers(4000) | cache(f.at("a")), second = numbers(4000) | cache(f.at("a"));
  auto s = first.iterate(one);
  outcome some;
  auto part = [](stream<int64>& from, outcome& o) -> task<void> {
    for (int i = 0; i != 1500; ++i) {
      auto x = co_await from.next();
      o.elements.push_back(*x);
    }
  };
  sync_wait(one, part(s, some));
  CHECK(run_on(other, second, {}).elements == squares(4000));
  outcome rest;
  sync_wait(one, read(std::move(s), 4000, rest));
  CHECK(rest.elements.size() == 2500);
  calls();
  runtime third({.workers = 1});
  CHECK(run_on(third, numbers(4000) | cache(f.at("a")), {}).elements == squares(4000));
  CHECK(calls() == 0);
  // A stream that could not write before takes the place of a writer that has gone.
  CHECK(run_on(other, second, {}).elements == squares(4000));
  CHECK(calls() == 0);
}

TEST_CASE("a process does not wait for itself: two caches of one file in a zip") {
  const folder f;
  for (const char* order : {"", ", parallelism=2, order=sloppy"}) {
    const std::string in =
        std::string("range(300) | map(it + 1") + order + ") | cache(\"" + f.at(order) + "x\", other_writer=wait)";
    const outcome o = run(dataset<int64>(parse_plan("zip(" + in + ", " + in + ") | map(it[0] * 0 + it[1] * 0)")));
    CHECK(o.why.ok());
    CHECK(o.elements == int64s(300, 0));
  }
}

TEST_CASE("a file that is no cache, or a folder, is refused and stays as it is") {
  const folder f;
  put(f.at("a"), "name,age\nAda,36\n");
  for (on_mismatch how : {on_mismatch::fail, on_mismatch::rebuild}) {
    const outcome o = run(numbers(5) | cache(f.at("a"), {.on_mismatch = how}));
    CHECK_THAT(o.why.to_string(), Catch::Contains("is not a cache of sluice") && Catch::Contains(f.at("a")));
    CHECK(bytes_of(f.at("a")) == "name,age\nAda,36\n");
  }
  CHECK_THAT(run(numbers(5) | cache(f.path)).why.to_string(), Catch::Contains(f.path));
  CHECK_THAT(run(numbers(5) | cache(f.at("none/a"))).why.to_string(), Catch::Contains("cannot be opened"));
}

TEST_CASE("a full disk ends the stream with an error that names the file, or the run continues without the cache") {
  const folder f;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 64 << 10;
  const auto text = [&](const char* option) {
    return dataset<int64>(parse_plan("range(9000) | map(string(it) + \" and some bytes more\") | cache(\"" +
                                     f.at(option[0] ? "b" : "a") + "\"" + option + ") | map(length(it))"));
  };
  const int64s expected =
      run(dataset<int64>(parse_plan("range(9000) | map(string(it) + \" and some bytes more\") | map(length(it))")))
          .elements;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const outcome failed = run(text("")), without = run(text(", over_budget=stop_caching"));
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK(failed.why.code() == status_code::resource_exhausted);
  CHECK_THAT(failed.why.to_string(), Catch::Contains("cache: ") && Catch::Contains(f.at("a")));
  CHECK(std::equal(failed.elements.begin(), failed.elements.end(), expected.begin()));
  CHECK(without.why.ok());
  CHECK(without.elements == expected);
  CHECK(run(text("")).elements == expected);  // what was written is right, and the rest is added
}

TEST_CASE("the memory of a cache in a file does not grow with its elements") {
  const folder f;
  runtime rt({.workers = 1, .memory_budget_bytes = 64 << 20});
  const auto ds = dataset<int64>(
      parse_plan("range(3000) | map(string(it)) | map(it + it + it + it) | map(it + it + it + it + it + it) | "
                 "batch(8) | cache(\"" +
                 f.at("a") + "\") | unbatch | map(length(it))"));
  const outcome first = run_on(rt, ds, {});
  REQUIRE(first.why.ok());
  for (int epoch = 0; epoch != 3; ++epoch) CHECK(run_on(rt, ds, {}).elements == first.elements);
  CHECK(rt.ledger().report().by_purpose[static_cast<std::size_t>(purpose::cache)] < (16 << 20));
}

TEST_CASE("a cache in a file resumes at every element, with the file and without it") {
  const folder f;
  const auto ds = range(20) | shuffle(6, {.seed = 3}) | cache(f.at("a")) | repeat(2);
  resumes_everywhere(ds, consumption{.marks_every = 2});
  std::vector<checkpoint> places;
  consumption how;
  how.save = true;
  how.marks_every = 2;
  const consumed all = consume(ds, how);
  REQUIRE(all.elements.size() == 40);
  for (std::size_t at = 0; at < all.places.size(); at += 7) {
    if (all.places[at].empty()) continue;
    std::filesystem::remove(f.at("a"));
    consumption later;
    later.from = all.places[at];
    CHECK(consume(ds, later).elements ==
          int64s(all.elements.begin() + static_cast<std::ptrdiff_t>(at), all.elements.end()));
  }
}

TEST_CASE("without a fixed order a later runtime continues the pass of a file") {
  const folder f;
  for (int cut : {0, 1, 20, 59, 60}) {
    const std::string path = f.at(std::to_string(cut));
    const auto ds = [&] {
      return dataset<int64>(
          parse_plan("range(60) | map(it, parallelism=4, order=sloppy) | map(it + 1) | cache(\"" + path + "\")"));
    };
    const int64s start = run(ds(), static_cast<std::size_t>(cut)).elements;
    const int64s all = run(ds()).elements;
    CHECK(std::equal(start.begin(), start.end(), all.begin()));
    CHECK(run(ds() | repeat(2)).elements == twice(all));
    int64s sorted = all;
    std::sort(sorted.begin(), sorted.end());
    int64s expected = up_to(60);
    for (int64& x : expected) ++x;
    CHECK(sorted == expected);
  }
}

TEST_CASE("a cache in a file needs names, and elements that can be written") {
  CHECK_THROWS_WITH(range(3) | map([](int64 x) { return x; }) | cache("a"),
                    Catch::Contains("the function of map has no name") && Catch::Contains("fn(\"name\", 1, f)"));
  CHECK_THROWS_WITH(range(3) | cache("https://host/a"), Catch::Contains("https://host/a cannot be written"));
  CHECK_THROWS_WITH(range(3) | cache("a", {.over_budget = over_budget::spill}), Catch::Contains("in a file already"));
  CHECK_THROWS_WITH(range(3) | cache({.on_mismatch = on_mismatch::rebuild}), Catch::Contains("is in memory"));
}

}  // namespace sluice::lib::cache_file_test
