// SPDX-License-Identifier: Apache-2.0
// sluice/pipeline/order_fingerprint.hpp
#include "sluice/pipeline/order_fingerprint.hpp"

#include <catch2/catch.hpp>

#include <numeric>
#include <string>
#include <vector>

#include "pipeline/order/delivered_order.hpp"
#include "pipeline/seal.hpp"
#include "sluice/pipeline/reshard.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::order_fingerprint_test {
namespace {

task<std::uint64_t> pull_elements(any_stream* s, std::uint64_t most, std::uint32_t at_once) {
  std::uint64_t got = 0;
  while (got != most) {
    demand d;
    d.elements = static_cast<std::uint32_t>(std::min<std::uint64_t>(at_once, most - got));
    block b = co_await s->next_block(d);
    if (!b) break;
    got += b.size();
  }
  co_return got;
}

order_fingerprint print_of(runtime& rt, const std::string& plan, std::uint64_t most = ~std::uint64_t{0},
                           iterate_options o = {}, std::uint32_t at_once = 100) {
  if (!o.order_fingerprint.is_given()) o.order_fingerprint = true;
  o.seed = 1;
  any_stream s = open_run(rt, parse_plan(plan), o);
  sync_wait(rt, pull_elements(&s, most, at_once));
  return report_of(s).order;
}

checkpoint at_element(runtime& rt, const std::string& plan, std::uint64_t n, run_switch counts) {
  any_stream s = open_run(rt, parse_plan(plan), {.seed = 1, .order_fingerprint = counts});
  sync_wait(rt, pull_elements(&s, n, 100));
  return s.position();
}

task<std::vector<order_fingerprint>> print_at_each(stream<std::int64_t>* s) {
  std::vector<order_fingerprint> all{s->report().order};
  while (auto x = co_await s->next()) {
    (void)*x;
    all.push_back(s->report().order);
  }
  co_return all;
}

const std::string kNumbers = "range(1000) | map(it * it)";

TEST_CASE("the digest of an order differs for another order, and the sum of the elements does not") {
  runtime rt({.workers = 2});
  const order_fingerprint a = print_of(rt, kNumbers), b = print_of(rt, kNumbers + " | shuffle(100, seed=2)");
  CHECK(a.elements == 1000);
  CHECK(a.ordered != b.ordered);
  CHECK(a.unordered == b.unordered);
  CHECK(a.rows == b.rows);
  const order_fingerprint other = print_of(rt, "range(1000) | map(if(it == 700, 0, it * it))");
  CHECK(other.ordered != a.ordered);
  CHECK(other.unordered != a.unordered);
  CHECK(print_of(rt, kNumbers, ~0ull, {.order_fingerprint = false}) == order_fingerprint());
}

TEST_CASE("the rows of batches count like elements") {
  runtime rt({.workers = 1});
  const std::string rows = "range(999) | map({n: it, text: string(it), list: [it, it + 1]})";
  const order_fingerprint one = print_of(rt, rows), batches = print_of(rt, rows + " | batch(8)"),
                          larger = print_of(rt, rows + " | batch(100)");
  CHECK(batches.elements == 125);
  CHECK(batches.rows == 999);
  CHECK(batches.unordered == one.unordered);
  CHECK(larger.unordered == one.unordered);
  CHECK(batches.ordered != larger.ordered);
}

TEST_CASE("a report within a block has the fingerprint of the elements before it") {
  runtime rt({.workers = 1});
  auto s = (range(300) | prefetch(4)).iterate(rt, {.order_fingerprint = true});
  const std::vector<order_fingerprint> all = sync_wait(rt, print_at_each(&s));
  REQUIRE(all.size() == 301);
  for (std::uint64_t n = 0; n < 301; n += 7) {
    CAPTURE(n);
    CHECK(all[n] == print_of(rt, "range(300)", n));
    CHECK(all[n].milestones.size() == all[n].elements / all[n].stride);
    CHECK(all[n].milestones.size() <= 64);
  }
}

TEST_CASE("long runs forget the fingerprints of old elements and keep at most 64 milestones") {
  runtime rt({.workers = 1});
  const order_fingerprint large = print_of(rt, "range(100000)", ~0ull, {}, 5000);
  CHECK(large == print_of(rt, "range(100000)", ~0ull, {}, 1));
  CHECK(large.stride == 2048);
  CHECK(large.milestones.size() == 48);
  const checkpoint middle = at_element(rt, "range(100000)", 54321, true);
  CHECK(print_of(rt, "range(100000)", ~0ull, {.from = middle}) == large);
}

TEST_CASE("a run from a checkpoint without a fingerprint says since when it counts") {
  runtime rt({.workers = 2});
  const std::string plan = kNumbers + " | shuffle(30) | batch(2)";
  const checkpoint old = at_element(rt, plan, 100, {});
  const order_fingerprint rest = print_of(rt, plan, ~0ull, {.from = old});
  CHECK(rest.since == 100);
  CHECK(rest.elements == 400);
  CHECK(
      print_of(rt, plan, ~0ull, {.from = old, .order_fingerprint = run_switch()}).is_counted);  // print_of turns it on
  any_stream off = open_run(rt, parse_plan(plan), {.from = old});
  CHECK_FALSE(report_of(off).order.is_counted);
  // A checkpoint of the run that began to count continues its count.
  any_stream s = open_run(rt, parse_plan(plan), {.from = old, .order_fingerprint = true});
  sync_wait(rt, pull_elements(&s, 50, 7));
  CHECK(print_of(rt, plan, ~0ull, {.from = s.position()}) == rest);
}

TEST_CASE("the fingerprints of consumers add up, also after their number has changed") {
  runtime rt({.workers = 1});
  for (const std::string tail : {"", " | batch(4)", " | map(it + 1)"}) {
    const std::string head = "range(400) | shuffle(50, seed=3) | ";
    const order_fingerprint whole = print_of(rt, head + "shard(1, 0)" + tail);
    std::vector<checkpoint> two;
    for (int i = 0; i != 2; ++i)
      two.push_back(at_element(rt, head + "shard(2, " + std::to_string(i) + ")" + tail, 17 + 3 * i, true));
    const std::vector<checkpoint> three = reshard(rt, parse_plan(head + "shard(2, 0)" + tail), two, 3);
    std::uint64_t rows = 0, unordered = 0;
    for (int i = 0; i != 3; ++i) {
      const order_fingerprint part =
          print_of(rt, head + "shard(3, " + std::to_string(i) + ")" + tail, ~0ull, {.from = three[i]});
      CHECK(part.is_counted);
      rows += part.rows;
      unordered += part.unordered;
    }
    CAPTURE(tail);
    CHECK(rows == whole.rows);
    CHECK(unordered == whole.unordered);
    // Without a fingerprint in each of them there is no sum.
    two[1] = at_element(rt, head + "shard(2, 1)" + tail, 20, {});
    const checkpoint mixed = reshard(rt, parse_plan(head + "shard(2, 0)" + tail), two, 3)[0];
    CHECK(read_seal(mixed.bytes).order.empty());
  }
}

TEST_CASE("the digests across consumers add up to that of one, in the same order") {
  runtime rt({.workers = 2});
  const std::string head = "range(300) | shuffle(50, seed=3) | map({n: it, text: string(it)})";
  const order_fingerprint one = print_of(rt, head), batches = print_of(rt, head + " | batch(7)"),
                          other = print_of(rt, "range(300) | shuffle(50, seed=4) | map({n: it, text: string(it)})");
  REQUIRE((one.is_across_counted && batches.is_across_counted));
  CHECK(one.across == one.ordered);
  CHECK(batches.across == one.across);
  CHECK(other.unordered == one.unordered);
  CHECK(other.across != one.across);
  const auto sharded = [&](std::int64_t n, std::int64_t i, const std::string& tail) {
    return head + " | shard(" + std::to_string(n) + ", " + std::to_string(i) + ")" + tail;
  };
  for (const std::string tail : {"", " | batch(4)", " | map(it, parallelism=4) | batch(3) | prefetch(2)"})
    for (std::int64_t n : {1, 2, 3, 5, 8})
      for (std::int64_t m : {1, 2, 3, 5, 8}) {
        CAPTURE(tail, n, m);
        // The consumers are at different places, so that the rest has gaps; some have delivered nothing.
        std::vector<checkpoint> old;
        std::uint64_t alone = 0;
        for (std::int64_t i = 0; i != n; ++i) {
          alone += print_of(rt, sharded(n, i, tail)).across;
          old.push_back(at_element(rt, sharded(n, i, tail), static_cast<std::uint64_t>(i * 5 % 11), true));
        }
        CHECK(alone == one.across);
        const std::vector<checkpoint> now = reshard(rt, parse_plan(sharded(n, 0, tail)), old, m);
        std::uint64_t sum = 0, rows = 0;
        std::vector<checkpoint> later;
        for (std::int64_t i = 0; i != m; ++i) {
          const std::string plan = sharded(m, i, tail);
          const order_fingerprint part = print_of(rt, plan, ~0ull, {.from = now[static_cast<std::size_t>(i)]});
          CHECK(part.is_across_counted);
          sum += part.across;
          rows += part.rows;
          // Cut once more, and resumed.
          any_stream s = open_run(rt, parse_plan(plan), {.from = now[static_cast<std::size_t>(i)]});
          sync_wait(rt, pull_elements(&s, 3, 2));
          CHECK(print_of(rt, plan, ~0ull, {.from = s.position()}).across == part.across);
        }
        CHECK(rows == 300);
        CHECK(sum == one.across);
      }
  for (const std::string tail : {" | filter(n % 2 == 0)", " | shuffle(5)", " | batch(4) | unbatch"}) {
    CAPTURE(tail);
    CHECK_FALSE(print_of(rt, sharded(2, 0, tail)).is_across_counted);
  }
  CHECK_FALSE(print_of(rt, sharded(2, 0, "") + " | shard(2, 0)").is_across_counted);
}

TEST_CASE("two fingerprints show where the runs diverge") {
  runtime rt({.workers = 1});
  const order_fingerprint a = print_of(rt, "range(10000)");
  for (std::uint64_t at : {0u, 1u, 255u, 256u, 5000u, 9999u}) {
    const order_fingerprint b = print_of(rt, "range(10000) | map(if(it == " + std::to_string(at) + ", -1, it))");
    const order_divergence found = divergence_of(a, b);
    CAPTURE(at, found.equal, found.differs_by);
    CHECK(found.is_different);
    CHECK(found.equal <= at);
    CHECK(at < found.differs_by);
    CHECK(found.differs_by - found.equal <= 256);
    const order_divergence shorter = divergence_of(a, print_of(rt, "range(700) | map(if(it == 300, -1, it))"));
    CHECK((shorter.equal <= 300 && 300 < shorter.differs_by));
  }
  CHECK_FALSE(divergence_of(a, a).is_different);
  CHECK_FALSE(divergence_of(a, print_of(rt, "range(500)")).is_different);
}

TEST_CASE("damaged fingerprints in checkpoints, and elements with unknown contents, are refused") {
  runtime rt({.workers = 1});
  sealed_position sealed = read_seal(at_element(rt, kNumbers, 10, true).bytes);
  const std::string whole = sealed.order;
  for (std::size_t n = 1; n != whole.size(); ++n) {
    sealed.order = whole.substr(0, n);
    CHECK_THROWS_AS(open_run(rt, parse_plan(kNumbers), {.from = {seal_position(sealed)}}), error);
  }
  sealed.order = whole + "x";
  CHECK_THROWS_AS(open_run(rt, parse_plan(kNumbers), {.from = {seal_position(sealed)}}), error);
  sealed.order = whole;
  sealed.position.erase(0, 10);  // without the record of the stage that counts
  CHECK_THROWS_AS(open_run(rt, parse_plan(kNumbers), {.from = {seal_position(sealed)}}), error);
  auto unknown = range(3) | map([](std::int64_t) { return std::make_unique<int>(1); });
  CHECK_THROWS_WITH(unknown.iterate(rt, {.order_fingerprint = true}), Catch::Contains("are not known to the library"));
}

}  // namespace
}  // namespace sluice::lib::order_fingerprint_test
