// SPDX-License-Identifier: Apache-2.0
// src/op/unique/trace_runs.hpp
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "op/unique/trace_runs.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib::trace_runs_test {
namespace {

element_trace trace_number(std::uint64_t i) { return {mix(i), i % 3 ? mix(i + 1) : 0}; }

/// A set that has room for n.
trace_table table_for(std::uint64_t n) {
  trace_table t(2);
  while (t.room() < n) t.grow(t.slots_grown());
  return t;
}
void insert(trace_table& to, const element_trace& t) {
  bool is_new = false;
  to.insert(&t, 1, &is_new);
}

/// Which of the numbers from `first` on are there.
std::vector<bool> there_of(const trace_runs& runs, std::uint64_t first, std::uint32_t n) {
  std::vector<asked_trace> asked;
  std::vector<bool> exists(n);
  for (std::uint32_t i = 0; i != n; ++i)
    if (runs.may_have(trace_number(first + i))) asked.push_back({trace_number(first + i), i});
  REQUIRE(runs.look_up(asked).ok());
  for (const asked_trace& a : asked) exists[a.which] = a.exists;
  return exists;
}

}  // namespace

TEST_CASE("runs have the traces that they were given, and no others, however they are joined") {
  for (bool with_filter : {true, false}) {
    trace_runs runs("/tmp");
    std::uint64_t given = 0;
    // Of sizes around those of blocks and buffers, and some that are joined again and again.
    for (std::uint64_t n : {1, 255, 256, 257, 1023, 1024, 1025, 3000, 10'000, 10'000, 10'000, 10'000, 20'000, 40'000}) {
      trace_table some = table_for(n);
      for (std::uint64_t i = 0; i != n; ++i) insert(some, trace_number(given + i));
      REQUIRE(runs.add(some, with_filter).ok());
      given += n;
      while (std::uint64_t joined = runs.to_join()) {
        CHECK(joined >= 4);
        REQUIRE(runs.join(with_filter).ok());
      }
    }
    CHECK(runs.runs() < 12);
    const auto all = static_cast<std::uint32_t>(given);
    CHECK(there_of(runs, 0, all) == std::vector<bool>(all, true));
    CHECK(there_of(runs, given, all) == std::vector<bool>(all, false));
  }
}

TEST_CASE("a filter takes some ten bits a trace, and lets few pass that are not there") {
  trace_runs runs("/tmp");
  constexpr std::uint64_t kTraces = 100'000;
  trace_table some = table_for(kTraces);
  for (std::uint64_t i = 0; i != kTraces; ++i) insert(some, trace_number(i));
  REQUIRE(runs.add(some, true).ok());
  CHECK(runs.memory_bytes() < kTraces * 14 / 10);
  CHECK(runs.memory_bytes() <= trace_runs::memory_bytes_of(kTraces, true));
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i != kTraces; ++i) passed += runs.may_have(trace_number(kTraces + i));
  CHECK(passed < kTraces / 40);
}

TEST_CASE("traces of one order are adjacent, across the ends of blocks") {
  // An order is a hash of low ^ mix(high): all of these have one.
  trace_runs runs("/tmp");
  trace_table some = table_for(1000);
  auto alike = [](std::uint64_t i) { return element_trace{12345 ^ mix(i), i}; };
  for (std::uint64_t i = 0; i != 1000; ++i) insert(some, alike(i));
  REQUIRE(runs.add(some, true).ok());
  for (std::uint64_t i = 0; i != 2000; ++i) {
    std::vector<asked_trace> asked{{alike(i)}};
    REQUIRE(runs.look_up(asked).ok());
    CHECK(asked[0].exists == (i < 1000));
  }
}

}  // namespace sluice::lib::trace_runs_test
