// SPDX-License-Identifier: Apache-2.0
// op/cache.hpp: a cache in memory that continues in a temporary file.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/until_error.hpp"

namespace sluice::lib::cache_spill_test {

using namespace test;

namespace {

using int64 = std::int64_t;
using int64s = std::vector<int64>;

std::size_t cached_bytes(runtime& rt) {
  return rt.ledger().report().by_purpose[static_cast<std::size_t>(purpose::cache)];
}

/// Runs the dataset from `from` on, and stores the position before each element and at the end.
task<int64s> with_positions(stream<int64> s, std::vector<checkpoint>& positions) {
  int64s got;
  for (;;) {
    positions.push_back(s.position());
    auto x = co_await s.next();
    if (!x) break;
    got.push_back(*x);
  }
  co_return got;
}

task<void> take_some(stream<int64>* s, std::size_t n, int64s& got) {
  while (got.size() != n) {
    auto x = co_await s->next();
    if (!x) break;
    got.push_back(*x);
  }
}

}  // namespace

TEST_CASE("a cache beyond its share continues in a temporary file, of which no name is left") {
  constexpr std::size_t kBudget = std::size_t{32} << 20;
  auto image = [](int64 x) { return std::string(std::size_t{1} << 18, static_cast<char>('a' + x % 26)); };
  auto number = [](const std::string& s) { return static_cast<int64>(s.size()) + s[0]; };
  std::string folder = (std::filesystem::temp_directory_path() / "sluice-spill-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", folder.c_str(), 1);
  for (unsigned workers : {1u, 2u}) {
    std::atomic<int> made{0};
    status why;
    auto counted = [&made, image](int64 x) {
      ++made;
      return image(x);
    };
    auto ds = range(400) | map(counted) | cache({.over_budget = over_budget::spill}) | map(number) | repeat(3);
    runtime rt({.workers = workers, .memory_budget_bytes = kBudget});
    int64s expected;
    for (int epoch = 0; epoch != 3; ++epoch)
      for (int64 x = 0; x != 400; ++x) expected.push_back((1 << 18) + 'a' + x % 26);
    CHECK(sync_wait(rt, until_error(ds.iterate(rt), why)) == expected);
    CHECK(made == 400);  // 100 MiB of elements, each made once
    CHECK(cached_bytes(rt) <= kBudget / 2 + (std::size_t{12} << 20));
    CHECK(std::filesystem::is_empty(folder));
    CHECK(sync_wait(rt, until_error(ds.iterate(rt), why)) == expected);  // a later run reads them
    CHECK(made == 400);
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  rlimit small = limit;
  small.rlim_cur = std::size_t{4} << 20;
  auto full = range(400) | map(image) | cache({.over_budget = over_budget::spill}) | map(number) | repeat(2);
  auto unkept = range(400) | map(image) | cache({.over_budget = over_budget::spill_or_stop}) | map(number) | repeat(2);
  runtime rt({.workers = 1, .memory_budget_bytes = kBudget});
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  status why;
  const int64s some = sync_wait(rt, until_error(full.iterate(rt), why));
  status none;
  const int64s all = sync_wait(rt, until_error(unkept.iterate(rt), none));
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  CHECK(why.code() == status_code::resource_exhausted);
  CHECK_THAT(why.to_string(), Catch::Contains("cache") && Catch::Contains("cannot be written"));
  CHECK((some.size() >= 50 && some.size() < 400));
  CHECK(all.size() == 800);
  ::setenv("TMPDIR", (folder + "/missing").c_str(), 1);
  auto nowhere = range(400) | map(image) | cache({.over_budget = over_budget::spill}) | map(number);
  sync_wait(rt, until_error(nowhere.iterate(rt), why));
  CHECK(why.code() == status_code::not_found);
  CHECK_THAT(why.to_string(), Catch::Contains("temporary file") && Catch::Contains(folder));
  if (before) ::setenv("TMPDIR", kept.c_str(), 1);
  else ::unsetenv("TMPDIR");
  std::filesystem::remove_all(folder);
}

TEST_CASE("a run through a cache that has spilled resumes at each element") {
  constexpr std::size_t kImages = 400, kBudget = std::size_t{2} << 20, kSome = 40;
  auto number = [](const std::string& s) { return static_cast<int64>(s.size()) * 1000 + s[0] * 7 + s[1]; };
  for (unsigned workers : {1u, 2u}) {
    std::atomic<std::size_t> made{0};
    auto image = [&made](int64 x) {
      ++made;
      std::string s(std::size_t{16} << 10, static_cast<char>('a' + x % 26));
      s[1] = static_cast<char>(x % 128);
      return s;
    };
    auto ds = range(static_cast<int64>(kImages)) | map(image) | cache({.over_budget = over_budget::spill}) |
              map(number) | repeat(2);
    runtime rt({.workers = workers, .memory_budget_bytes = kBudget});
    std::vector<checkpoint> positions;
    const int64s all = sync_wait(rt, with_positions(ds.iterate(rt), positions));
    REQUIRE(all.size() == 2 * kImages);
    REQUIRE(positions.size() == all.size() + 1);
    CHECK(made == kImages);
    CHECK(cached_bytes(rt) < std::size_t{5} << 20);  // of 6.25 MiB: the rest is in the file
    /// The run from the position before this element on, for some elements or all.
    auto resumes = [&](runtime& in, std::size_t at) {
      const std::size_t n = at % 32 == 0 ? all.size() - at : std::min(kSome, all.size() - at);
      int64s got;
      stream<int64> s = ds.iterate(in, {.from = positions[at]});
      sync_wait(in, take_some(&s, at % 32 == 0 ? n + 1 : n, got));
      return std::equal(got.begin(), got.end(), all.begin() + static_cast<std::ptrdiff_t>(at)) && got.size() == n;
    };
    for (std::size_t at = 0; at != positions.size(); ++at) {
      CAPTURE(workers, at);
      const bool is_same = resumes(rt, at);
      REQUIRE(is_same);
      REQUIRE(made == kImages);  // all are in the cache
    }
    // In another process the cache is empty: what comes before the position is not made, but for its piece.
    for (std::size_t at = 0; at < positions.size(); at += workers == 1 ? 1 : 7) {
      CAPTURE(workers, at);
      made = 0;
      runtime other({.workers = workers, .memory_budget_bytes = kBudget});
      const bool is_same = resumes(other, at);
      REQUIRE(is_same);
      REQUIRE(made <= (at % 32 == 0 ? kImages : kSome) + 128);
    }
    // A first epoch that is cut short, and resumed where it was cut.
    for (std::size_t at = 1; at < kImages; at += 21) {
      CAPTURE(workers, at);
      made = 0;
      runtime other({.workers = workers, .memory_budget_bytes = kBudget});
      int64s got;
      checkpoint here;
      {
        stream<int64> first = ds.iterate(other);
        sync_wait(other, take_some(&first, at, got));
        here = first.position();
      }
      status why;
      const int64s rest = sync_wait(other, until_error(ds.iterate(other, {.from = here}), why));
      got.insert(got.end(), rest.begin(), rest.end());
      const bool is_same = got == all;
      REQUIRE(is_same);
      REQUIRE(made <= kImages + 128);
    }
  }
}

}  // namespace sluice::lib::cache_spill_test
