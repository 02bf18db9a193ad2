// SPDX-License-Identifier: Apache-2.0
#include "support/trials/consumption.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sluice/optimizer/optimize.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/random/random_numbers.hpp"
#include "support/tree_of.hpp"
#include "support/trials/turned_knobs.hpp"

namespace sluice::lib::test {
namespace {

std::uint64_t errors_of(const stream_base& s) { return s.stage()->env->run->errors(); }

/// What happens to a stream between two requests.
class bystander {
 public:
  bystander(const consumption& how, consumed& c) : how_(how), consumed_(c), random_(how.seed ^ 0x6b6e'6f62) {}
  void between(stream_base& s) {
    std::size_t taken = consumed_.elements.size();
    if (how_.marks_every && taken && taken % how_.marks_every == 0) s.stage()->env->request_marks();
    if (how_.save) consumed_.places.push_back(s.sealed_position());
    if (taken >= how_.stop_after) s.run()->request_stop();
    if (how_.turns_knobs && random_.below(2)) turn(*sites_of(s));
  }
  bool enough() const { return consumed_.elements.size() >= how_.elements_max; }

 private:
  void turn(site_table& sites) {
    knob_turn t = turn_a_knob(sites, [this](std::uint64_t n) { return random_.below(n); });
    if (!t.mistake.empty()) consumed_.mistake = std::move(t.mistake);
    consumed_.knobs_turned += t.was_set;
  }

  const consumption& how_;
  consumed& consumed_;
  random_numbers random_;
};

task<void> consume_by_next(stream<std::int64_t>& s, const consumption& how, consumed& c) {
  bystander by(how, c);
  stream_base& tree = tree_of(s);
  tree.pass_over(how.skip);
  by.between(tree);
  while (!by.enough()) {
    auto x = co_await s.try_next();
    if (!x) {
      c.why = x.why;
      by.between(tree);
      break;
    }
    c.elements.push_back(*x);
    c.errors.push_back(errors_of(tree));
    by.between(tree);
  }
  c.errors.push_back(errors_of(tree));
  c.length = tree.consumed();
}

task<void> consume_by_block(erased_stream& s, const consumption& how, consumed& c) {
  bystander by(how, c);
  random_numbers random(how.seed);
  std::uint64_t skip = how.skip;
  by.between(s);
  while (!by.enough()) {
    auto ask = 1 + static_cast<std::uint32_t>(random.below(how.ask_max));
    if (how.asks_all)
      ask = static_cast<std::uint32_t>(std::min<std::size_t>(how.ask_max, how.elements_max - c.elements.size()));
    demand d;
    d.skip = std::exchange(skip, 0) + (how.pass_max ? random.below(how.pass_max + 1) : 0);
    d.elements = ask;
    auto b = co_await s.try_next_block(d);
    if (!b.view) {
      c.why = b.why;
      by.between(s);
      break;
    }
    if (b.view.size() > ask)
      c.mistake = std::to_string(b.view.size()) + " elements where " + std::to_string(ask) + " were asked for";
    // Positions are between requests: those inside of this block are not to be had.
    if (how.save) c.places.resize(c.places.size() + b.view.size() - 1);
    for (std::uint32_t i = 0; i != b.view.size(); ++i) c.ordinals.push_back(s.consumed() - b.view.size() + i);
    const std::int64_t* elements = b.view.as<std::int64_t>();
    c.elements.insert(c.elements.end(), elements, elements + b.view.size());
    c.errors.resize(c.elements.size(), errors_of(s));
    by.between(s);
  }
  c.errors.push_back(errors_of(s));
  c.length = s.consumed();
}

/// All rules of the optimizer, none, or a random half: runs that resume each other's positions have different ones.
rule_choice rules_drawn(std::uint64_t seed) {
  random_numbers random(seed * 7919 + 1);
  const std::uint64_t kind = random.below(4);
  if (kind < 2) return kind == 0 ? rule_choice() : rule_choice::none();
  rule_choice half;
  for (const rule_info& r : optimizer_rules()) half = random.below(2) ? half.without(r.name) : half.with(r.name);
  return half;
}

task<void> consume_all(runtime& rt, const dataset<std::int64_t>& ds, const consumption& how, consumed& c) {
  iterate_options o;
  o.from = how.from;
  o.on_error = how.on_error;
  o.errors_max = how.errors_max;
  o.seed = 1;
  o.rules = rules_drawn(how.seed);
  erased_stream s = tree_of(open_run(rt, ds.plan(), o));
  if (how.ask_max) {
    auto consuming = consume_by_block(s, how, c);
    co_await consuming;
  } else {
    stream<std::int64_t> typed(std::move(s));
    auto consuming = consume_by_next(typed, how, c);
    co_await consuming;
    s = erased_stream(std::move(typed));
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

task<void> a_moment() {
  auto sleeping = lib::sleep_for(std::chrono::milliseconds(1));
  co_await sleeping;
}

}  // namespace

std::size_t charged_to_runs(runtime& rt) {
  const ledger_report now = rt.ledger().report();
  return now.used_bytes - now.by_purpose[static_cast<std::size_t>(purpose::cache)];
}

consumed consume_on(runtime& rt, const dataset<std::int64_t>& ds, const consumption& how) {
  consumed c;
  if (how.files && !rt.world()) write_files(*how.files);
  try {
    sync_wait(rt, consume_all(rt, ds, how, c));
    // What another worker was doing when the run ended it may still be putting down.
    std::size_t charged = charged_to_runs(rt);
    for (int waited = 0; charged && waited != 2000 && !rt.world(); ++waited) {
      sync_wait(rt, a_moment());
      charged = charged_to_runs(rt);
    }
    if (charged) c.mistake = std::to_string(charged) + " bytes are still charged after the run";
  } catch (const error& e) { c.mistake = e.what(); }
  return c;
}

consumed consume(const dataset<std::int64_t>& ds, const consumption& how) {
  simulation world(how.seed);
  runtime rt(world, {.workers = 2});
  if (how.files) put_files(world, rt, *how.files);
  return consume_on(rt, ds, how);
}

}  // namespace sluice::lib::test
