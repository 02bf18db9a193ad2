// SPDX-License-Identifier: Apache-2.0
// Every plan that can be split, on a dispatcher and two workers: the consumer gets what the row expects, and a resumed
// consumer the rest of it. Once with workers of this process, which hand over blocks, and once over messages.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "runners/row_run.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/io/message_transport.hpp"
#include "sluice/io/open_transport.hpp"
#include "sluice/op/distribute.hpp"
#include "sluice/service/dispatcher.hpp"
#include "sluice/service/worker.hpp"
#include "sluice/splits/split_plan.hpp"
#include "support/other_process.hpp"

namespace sluice::lib::distributed_test {
namespace {

using namespace test;

struct counted_rows {
  std::size_t refused = 0, ordered = 0, as_sets = 0, resumed = 0;
};

bool fails_at(const std::string& end) { return end != "end" && end != "..."; }

/// distribute has the mode dynamic here, and each split counts its own errors; what is known without a run of all elements would take years here.
bool needs_one_run(const std::string& plan) {
  for (const char* word : {"shard(hint", "errors_max", "errors_share", "index_flat_map"})
    if (plan.find(word) != plan.npos) return true;
  return plan.find("9223372036854775807") != plan.npos && plan.find("count_elements") != plan.npos;
}

std::vector<std::string> in_any_order(std::vector<std::string> elements) {
  std::sort(elements.begin(), elements.end());
  return elements;
}

node_ptr distributed(const node_ptr& plan, const std::string& address, sluice::lib::order order) {
  distribute_options o;
  o.workers = 2;
  o.splits = 3;
  o.order = order;
  return make_stage(distribute_op, arguments::of(distribute_arguments{address, o}), plan);
}

std::string difference_of_distributed(runtime& rt, const row& r, const std::string& address, counted_rows& counts) {
  const node_ptr plan = plan_of(r);
  bool is_ordered = true, is_exact = true, has_client = false;
  try {
    const split_plan parts(plan, {.splits = 3});
    for (const split_stream& s : parts.streams()) {
      is_ordered &= s.keeps_order && s.is_exact;
      is_exact &= s.is_exact;
    }
    has_client = !parts.client_stages().empty();
  } catch (const error&) { return ++counts.refused, ""; }
  if (!can_serialise(*plan->type) || needs_one_run(r.plan)) return ++counts.refused, "";
  const row_outcome o = run_on(rt, distributed(plan, address, order::deterministic),
                               {.elements_max = most_of(r), .save = true, .seed = 1});
  row expected = r;
  if (fails_at(r.end) && fails_at(o.end)) expected.end = o.end;  // which may name an element by its number in a split
  if (!is_ordered) {
    const row_outcome direct = run_on(rt, plan, {.elements_max = most_of(r), .seed = 1});
    const bool is_whole = direct.end == "end" && o.end == "end";
    if (!is_whole || !is_exact || has_client) return {};
    ++counts.as_sets;
    return in_any_order(direct.elements) == in_any_order(o.elements) ? "" : "other elements than without distribute";
  }
  ++counts.ordered;
  if (std::string wrong = complaint(expected, o); !wrong.empty()) return wrong;
  if (o.places.size() < 2) return {};
  ++counts.resumed;
  const std::size_t half = o.places.size() / 2;
  const std::size_t from = o.delivered_before[half];
  row_outcome rest = run_on(rt, distributed(plan, address, order::deterministic),
                            {.elements_max = most_of(r) - from, .from = o.places[half], .seed = 1});
  if (fails_at(r.end) && fails_at(rest.end)) expected.end = rest.end;
  std::string wrong = complaint(expected, rest, from);
  return wrong.empty() ? "" : "resumed at element " + std::to_string(from) + ": " + wrong;
}

void check_all_rows(runtime& rt, const std::string& address) {
  counted_rows counts;
  every_row([&](const row& r) -> std::string {
    if (!r.is_of_a_run()) return {};
    return difference_of_distributed(rt, r, address, counts);
  });
  if (!runs_all_rows()) return;
  CHECK(counts.ordered > 50);
  CHECK(counts.as_sets > 0);
  CHECK(counts.resumed > 50);
}

}  // namespace

TEST_CASE("every row whose plan is split yields its elements over workers, and when it is resumed") {
  runtime two({.workers = 2});
  check_all_rows(two, "");
}

TEST_CASE("every row whose plan is split yields its elements over messages, and when it is resumed") {
  runtime two({.workers = 2});
  const std::shared_ptr<message_transport> there = make_local_transport();
  set_transport(two, there);
  dispatcher d(two, {.listen = ""});
  worker a(two, d.address(), {.listen = ""}), b(two, d.address(), {.listen = ""});
  set_transport(two, std::make_shared<other_process>(there));
  check_all_rows(two, d.address());
  sync_wait(two, a.close());
  sync_wait(two, b.close());
  sync_wait(two, d.close());
}

}  // namespace sluice::lib::distributed_test
