// SPDX-License-Identifier: Apache-2.0
#include "runners/row_run.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/lowering/element_specs.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/simulation.hpp"
#include "support/random/random_numbers.hpp"
#include "support/trials/turned_knobs.hpp"

namespace sluice::lib::test {
namespace {

task<void> consume_into(runtime& rt, node_ptr plan, row_request r, row_outcome& o) {
  any_stream s = open_run(rt, plan,
                          {.from = r.from,
                           .on_error = r.on_error,
                           .seed = r.seed,
                           .rules = r.rules,
                           .tune = r.tunes_every > duration(0),
                           .tune_every = r.tunes_every,
                           .order_fingerprint = r.order_fingerprint});
  random_numbers random(r.turns_knobs);
  auto save = [&] {
    o.places.push_back(s.position());
    o.delivered_before.push_back(o.elements.size());
    o.dropped_before.push_back(report_of(s).errors);
  };
  std::uint32_t ask = r.at_once ? r.at_once : 1;
  for (; o.elements.size() < r.elements_max; ask = r.at_once ? r.at_once : r.save ? 1 : ask % 7 + 2) {
    if (r.save) save();
    if (r.turns_knobs) {
      knob_turn t = turn_a_knob(*sites_of(s), [&random](std::uint64_t n) { return random.below(n); });
      if (!t.mistake.empty()) throw std::runtime_error(t.mistake);
    }
    demand d;
    d.elements = static_cast<std::uint32_t>(std::min<std::size_t>(ask, r.elements_max - o.elements.size()));
    auto b = co_await s.try_next_block(d);
    if (!b.view) {
      o.end = b.why.ok() ? "end" : b.why.to_string();
      if (r.save) save();
      break;
    }
    for (std::uint32_t i = 0; i != b.view.size(); ++i) print(s.type(), b.view.at(i), o.elements.emplace_back());
  }
  const run_report at_end = report_of(s);
  o.dropped = at_end.errors;
  o.order = at_end.order;
  std::shared_ptr<site_table> sites = sites_of(s);
  auto end = cleanup(std::move(s));
  co_await end;
  o.stages = sites->report();
}

bool same_element(const row& r, const std::string& got, const std::string& expected) {
  return got == expected || (r.from_tensorflow && nlohmann::json::parse(got) == nlohmann::json::parse(expected));
}

std::string listed(const std::vector<std::string>& elements, std::size_t from = 0) {
  std::string out = "[";
  for (std::size_t i = from; i < elements.size(); ++i) out += (i > from ? "," : "") + elements[i];
  return out + "]";
}

std::string size_of(const node& plan) {
  cardinality n = cardinality_of(plan);
  if (n.kind != cardinality::exact) return n.kind == cardinality::infinite ? "infinite" : "unknown";
  return std::to_string(n.elements);
}

/// Returns `actual` if it is not the expected text.
std::string unlike(const std::string& actual, const std::string& expected) { return actual == expected ? "" : actual; }

}  // namespace

row_outcome run_on(runtime& rt, const node_ptr& plan, const row_request& request) {
  row_outcome o;
  sync_wait(rt, consume_into(rt, plan, request, o));
  return o;
}

row_outcome run_in_simulation(std::uint64_t seed, const node_ptr& plan, const row_request& request) {
  simulation world(seed);
  runtime rt(world, {.workers = 2});
  return run_on(rt, plan, request);
}

std::size_t most_of(const row& r) {
  const bool expects_elements = r.what != row_check::dropped && r.what != row_check::other;
  return !expects_elements ? ~std::size_t{0} : r.elements.size() + (r.end != "...");
}

node_ptr plan_of(const row& r) { return r.plan.starts_with("{") ? parse_plan_json(r.plan) : parse_plan(r.plan); }

row with_elements(const row& r) {
  if (r.what != row_check::like) return r;
  runtime one({.workers = 1});
  row_outcome o = run_on(one, parse_plan(r.expected), {.elements_max = ~std::size_t{0}});
  row of_elements = r;
  of_elements.what = o.end == "end" ? row_check::elements : row_check::error;
  of_elements.elements = std::move(o.elements);
  of_elements.end = std::move(o.end);
  return of_elements;
}

std::string complaint(const row& r, const row_outcome& o, std::size_t from) {
  bool same = o.elements.size() + from == r.elements.size() && matches(o.end, r.end);
  for (std::size_t i = 0; same && i != o.elements.size(); ++i)
    same = same_element(r, o.elements[i], r.elements[from + i]);
  if (same) return {};
  return listed(o.elements) + " " + o.end +
         (from ? " where " + listed(r.elements, from) + " " + r.end + " is left" : "");
}

std::string difference(const row& r, const node_ptr& plan, const std::function<row_outcome(const node_ptr&)>& run,
                       const std::string& after) {
  switch (r.what) {
    case row_check::elements:
    case row_check::error: return complaint(r, run(plan));
    case row_check::dropped: {
      row_outcome o = run(plan);
      return o.end != "end" ? o.end : unlike(std::to_string(o.dropped), r.expected);
    }
    case row_check::cardinality: return unlike(size_of(*plan), r.expected);
    case row_check::type: return unlike(std::string(plan->type->name), r.expected);
    case row_check::spec: return unlike(element_spec_of(*plan).text(), r.expected);
    case row_check::printed: return unlike(plan_text(*plan), r.expected + after);
    case row_check::same: {
      node_ptr other = parse_plan(r.expected + after);
      bool same = same_plan(*plan, *other) && fingerprint(*plan) == fingerprint(*other);
      return same ? "" : "another plan: " + plan_text(*plan);
    }
    case row_check::json: {
      std::string json = plan_json(*plan);
      return !after.empty() || matches(json, r.expected) ? "" : json;
    }
    case row_check::fits:
    case row_check::differs: {
      bool fits = fingerprint(*plan) == fingerprint(*parse_plan(r.expected + after));
      if (fits == (r.what == row_check::fits)) return {};
      return (fits ? "a plan of the same fingerprint: " : "a plan of another fingerprint: ") + plan_text(*plan);
    }
    case row_check::other: {
      row_outcome o = run(plan), of_other = run(parse_plan(r.expected + after));
      if (o.end != "end" || of_other.end != "end") return o.end + ", and the other plan " + of_other.end;
      return o.elements == of_other.elements ? "the same elements: " + listed(o.elements) : "";
    }
    case row_check::like:  // with_elements() has made another row of it
    case row_check::refused: break;
  }
  return difference_of_refusal(r);
}

std::string difference_of_refusal(const row& r) {
  try {
    plan_of(r);
  } catch (const error& e) { return matches(e.what(), r.expected) ? "" : e.what(); }
  return "the plan is accepted";
}

std::string difference_of(const row& r, const std::function<row_outcome(const node_ptr&)>& run,
                          const std::function<node_ptr(const row&)>& form) {
  return r.is_refused() ? difference_of_refusal(r) : difference(r, form(r), run);
}

}  // namespace sluice::lib::test
