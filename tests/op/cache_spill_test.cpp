// SPDX-License-Identifier: Apache-2.0
// op/cache.hpp: a cache in memory that continues in a temporary file.
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"

namespace sluice::lib::cache_spill_test {
namespace {

using int64 = std::int64_t;
using int64s = std::vector<int64>;

std::size_t cached_bytes(runtime& rt) {
  return rt.ledger().report().by_purpose[static_cast<std::size_t>(purpose::cache)];
}

task<int64s> until_end(stream<int64> s, status& why) {
  int64s got;
  for (;;) {
    auto x = co_await s.try_next();
    why = x.why;
    if (!x) break;
    got.push_back(*x);
  }
  co_return got;
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
    CHECK(sync_wait(rt, until_end(ds.iterate(rt), why)) == expected);
    CHECK(made == 400);  // 100 MiB of elements, each made once
    CHECK(cached_bytes(rt) <= kBudget / 2 + (std::size_t{12} << 20));
    CHECK(std::filesystem::is_empty(folder));
    CHECK(sync_wait(rt, until_end(ds.iterate(rt), why)) == expected);  // a later run reads them
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
  const int64s some = sync_wait(rt, until_end(full.iterate(rt), why));
  status none;
  const int64s all = sync_wait(rt, until_end(unkept.iterate(rt), none));
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  CHECK(why.code() == status_code::resource_exhausted);
  CHECK_THAT(why.to_string(), Catch::Contains("cache") && Catch::Contains("cannot be written"));
  CHECK((some.size() >= 50 && some.size() < 400));
  CHECK(all.size() == 800);
  ::setenv("TMPDIR", (folder + "/missing").c_str(), 1);
  auto nowhere = range(400) | map(image) | cache({.over_budget = over_budget::spill}) | map(number);
  sync_wait(rt, until_end(nowhere.iterate(rt), why));
  CHECK(why.code() == status_code::not_found);
  CHECK_THAT(why.to_string(), Catch::Contains("temporary file") && Catch::Contains(folder));
  if (before) ::setenv("TMPDIR", kept.c_str(), 1);
  else ::unsetenv("TMPDIR");
  std::filesystem::remove_all(folder);
}

}  // namespace sluice::lib::cache_spill_test
