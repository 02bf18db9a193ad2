// SPDX-License-Identifier: Apache-2.0
// The rule overlap_epochs: what a consumer waits for at the end of an epoch, in virtual time, and what a run does whose
// memory budget has no room for the buffers of two epochs.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"

namespace sluice::lib::epochs_overlap_test {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kBuffer = 200, kElements = 1000;

/// Takes 1 ms for an element, as a source would.
task<std::int64_t> read_slowly(std::int64_t x) {
  co_await sleep_for(milliseconds(1));
  co_return x;
}

/// Requests one element after the other. Returns the longest time that one of the elements after the first took.
task<milliseconds> longest_gap(const simulation& world, any_stream s) {
  milliseconds longest{0};
  auto before = world.elapsed();
  for (std::int64_t n = 0;; ++n) {
    auto one = co_await s.next_block({.elements = 1});
    if (!one) break;
    const auto now = world.elapsed();
    if (n) longest = std::max(longest, std::chrono::duration_cast<milliseconds>(now - before));
    before = now;
  }
  co_return longest;
}

milliseconds gap_with(std::uint64_t seed, const node_ptr& plan, const rule_choice& rules) {
  simulation world(seed);
  runtime rt(world);
  return sync_wait(rt, longest_gap(world, open_run(rt, plan, {.rules = rules})));
}

const rule_choice kOverlap = rule_choice::none().with("overlap_epochs");

/// Texts of 64 KiB that begin with a number.
std::string large_text(std::int64_t x) { return std::to_string(x) + std::string(std::size_t{64} << 10, '.'); }

struct outcome {
  std::vector<std::string> numbers;
  std::size_t peak_bytes = 0;
};

task<std::vector<std::string>> numbers_of(stream<std::string> s) {
  std::vector<std::string> numbers;
  while (auto text = co_await s.next()) numbers.push_back(text->substr(0, text->find('.')));
  co_return numbers;
}

outcome run_within(std::size_t budget_bytes, const dataset<std::string>& ds, const rule_choice& rules) {
  runtime rt({.workers = 1, .memory_budget_bytes = budget_bytes});
  outcome o;
  o.numbers = sync_wait(rt, numbers_of(ds.iterate(rt, {.seed = 7, .rules = rules})));
  o.peak_bytes = rt.ledger().report().peak_bytes;
  return o;
}

}  // namespace

TEST_CASE("the next epoch of a shuffle begins without a gap: below 5 % of the time to fill its buffer") {
  auto ds = range(kElements) | map(fn("read_slowly", 1, read_slowly, {.pure = true})) | shuffle(kBuffer) | repeat(3);
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed != first + test::cases(5); ++seed) {
    CAPTURE(seed);
    CHECK(gap_with(seed, ds.plan(), rule_choice::none()) >= milliseconds(kBuffer));
    CHECK(gap_with(seed, ds.plan(), kOverlap) <= milliseconds(kBuffer) / 20);
  }
}

TEST_CASE("a shuffle reads the next epoch early only where the budget has room for both") {
  auto ds = range(100) | map(fn("large_text", 1, large_text, {.pure = true})) | shuffle(40) | repeat(3);
  const outcome written = run_within(std::size_t{64} << 20, ds, rule_choice::none());
  const outcome roomy = run_within(std::size_t{64} << 20, ds, kOverlap);
  CHECK(written.numbers.size() == 300);
  CHECK(roomy.numbers == written.numbers);
  CHECK(written.peak_bytes < std::size_t{4} << 20);
  const std::size_t budget_bytes = std::size_t{3} << 20;
  const outcome tight = run_within(budget_bytes, ds, kOverlap);
  CHECK(tight.numbers == written.numbers);
  CHECK(tight.peak_bytes < budget_bytes + (std::size_t{1} << 20));
}

}  // namespace sluice::lib::epochs_overlap_test
