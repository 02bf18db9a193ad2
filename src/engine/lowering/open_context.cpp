// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/open_context.hpp"

#include <algorithm>
#include <cstdlib>

#include "coro/positions/absent_stage.hpp"
#include "coro/positions/position_records.hpp"
#include "coro/trace_log.hpp"
#include "engine/files/line_origin.hpp"
#include "engine/lowering/fused_stage.hpp"
#include "engine/lowering/types.hpp"
#include "engine/quarantine/quarantine_file.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/node_history.hpp"
#include "plan/plan_depth.hpp"
#include "plan/plan_parts.hpp"
#include "runtime/quarantine_sink.hpp"
#include "runtime/sites/error_account.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

stage_identity identity_of(const node& n) {
  const op_info& op = *n.op;
  return {n.site, op.lowering.state_version, op.lowering.state_version_oldest, op.shape == op_info::source};
}

namespace {

/// Returns the name of a stage in messages and reports: "map(parse)".
std::string label_of(const node& n) {
  if (n.history && n.history->written) return label_of(*n.history->written);
  std::string_view function;  // the first function that has a name
  for_each_function(n, [&](const function_ptr& f) {
    if (function.empty()) function = f->name;
  });
  std::string label(n.op->name);
  if (!function.empty()) label.append("(").append(function).append(")");
  return label;
}

/// Refuses a plan that was built on a thread with a larger stack than this one.
[[noreturn]] void refuse_depth(const node& n) {
  throw_status(
      resource_exhausted_error(std::string(n.op->name) + ": the plan is more than " + plan_depth_limit_text()));
}

}  // namespace

erased_stream open_context::open(const node_ptr& plan) const {
  if (!is_plan_depth_possible(plan->depth)) refuse_depth(*plan);
  open_context context = *this;
  context.enter_removed(*plan);
  site_record& record = context.enter(*plan, context);  // before its inputs: the report lists them in this order
  erased_stream s = open_fused(*plan, context);
  if (!s) s = plan->op->lowering.open(*plan, context);
  finish(*plan, record, s);
  if (error_watch* watch = run->quarantines->watch()) [[unlikely]]
    s = watched(std::move(s), record, *watch);
  return s;
}

erased_stream open_context::watched(erased_stream made, const site_record& record, error_watch& watch) const {
  const std::string_view label = made.stage()->label();
  erased_stream s = watch.watched(std::move(made), record);
  s.stage()->set_label(label);
  s.stage()->stay_nameless();
  s.set_environment(run.get());
  return s;
}

site_record& open_context::enter_part(const node& n) {
  site_record& record = enter(n, *this);
  record.stage_made();
  if (n.history)
    for (const node_ptr& moved : n.history->counted) site(*moved).stands_for(record.counts());
  return record;
}

erased_stream open_context::open_rows(const node_ptr& plan, const std::shared_ptr<row_landing>& landing) const {
  if (!plan->op->lowering.open_rows || run->quarantines->watch()) return {};
  if (!is_plan_depth_possible(plan->depth)) refuse_depth(*plan);
  open_context context = *this;
  context.enter_removed(*plan);
  site_record& record = context.enter(*plan, context);
  erased_stream s = plan->op->lowering.open_rows(*plan, context, landing);
  if (s) finish(*plan, record, s);
  return s;
}

void open_context::enter_removed(const node& n) {
  if (!n.history) return;
  for (auto removed = n.history->removed.rbegin(); removed != n.history->removed.rend(); ++removed)
    enter(**removed, *this);
}

void open_context::add_removed(const node& n, erased_stream& s) const {
  stage_counts* counts = s.stage()->counts();
  for (const node_ptr& moved : n.history->counted)
    if (counts) site(*moved).stands_for(*counts);
  std::uint64_t left_out = 0;
  for (const node_ptr& removed : n.history->removed) {
    std::unique_ptr<absent_stage> absent;
    if (removed->op->lowering.absent) absent = removed->op->lowering.absent(*removed);
    if (absent) left_out += absent->left_out();
    if (counts) site(*removed).stands_for(*counts, left_out);
    if (!absent) continue;
    absent->set_identity(identity_of(*removed));
    s.stage()->add_absent(std::move(absent));
  }
}

site_record& open_context::enter(const node& n, open_context& inside) const {
  site_record& record = site(n);
  if (reader) reader->add_input(record);
  inside.reader = &record;
  return record;
}

void open_context::finish(const node& n, site_record& record, erased_stream& s) const {
  if (s.stage()->label().empty()) s.stage()->set_label(n.op->name);  // take(-1) opens the stage of its input
  s.stage()->set_identity(identity_of(n));
  if (run->has_statistics) s.stage()->set_counts(record.counts());
  if (tracing()) trace_name(&record.counts(), record.name());
  if (s.stage()->counts() == &record.counts()) record.stage_made();
  if (n.history) add_removed(n, s);
  s.set_environment(run.get());
}

result<erased_stream> open_context::resume(const node_ptr& plan, std::string position) const {
  std::shared_ptr<row_landing> landing;
  return resume_rows(plan, std::move(position), landing);
}

result<erased_stream> open_context::resume_rows(const node_ptr& plan, std::string position,
                                                std::shared_ptr<row_landing>& landing) const {
  erased_stream s;
  if (landing) s = open_rows(plan, landing);
  if (!s) {
    landing = nullptr;
    s = open(plan);
  }
  s.may_go_back();
  if (position.empty()) return s;
  position_records records(std::move(position));
  s.restore(records);
  status fits = records.finish();
  if (!fits.ok()) return fits;
  return s;
}

open_context::open_context(std::shared_ptr<run_context> r, const node& plan, std::uint64_t epoch)
    : open_context(std::move(r)) {
  if (epoch != 0) *this = in_epoch(site_above("repeat", &plan), epoch);  // the site distinguishes later epochs only
}

// The first epoch equals the plan without a repeat, so nothing is mixed in. The repeat's site distinguishes nested
// repeats. Its scope is not used, so that two aligned pipelines that are inputs of one combine stay aligned through
// their repeats.
open_context open_context::in_epoch(std::uint32_t site, std::uint64_t number) const {
  open_context inner = *this;
  inner.epoch = {};
  inner.epoch_number = epoch_number == 0 ? number : number == 0 ? epoch_number : mix(epoch_number) + number;
  if (number != 0) inner.passes = derive(passes, derive(std::uint64_t{site} + (std::uint64_t{combines} << 32), number));
  return inner;
}

open_context open_context::in_inner_plan(std::uint32_t site, std::uint64_t ordinal) const {
  constexpr std::uint64_t kOuter = 0x6f75'7465'7200;  // keeps ordinals apart from epochs
  open_context inner = *this;
  inner.epoch = {};
  inner.order_given.reset();  // inner plans ignore the order of with_options
  inner.scope = derive(scope, site);
  inner.outers = derive(outers, kOuter + mix(ordinal));
  inner.passes = derive(passes, kOuter + mix(ordinal));
  return inner;
}

open_context open_context::in_input(const node& combine, std::size_t index) const {
  open_context inner = *this;
  inner.epoch = {};
  inner.scope = derive(derive(scope, combine.site), index);
  ++inner.combines;
  return inner;
}

input_set open_context::open_inputs(const node& combine) const {
  std::vector<erased_stream> streams;
  for (std::size_t i = 0; i != combine.inputs.size(); ++i)
    streams.push_back(in_input(combine, i).open(combine.inputs[i]));
  return input_set(std::move(streams));
}

live_knob& open_context::live(const node& n, const knob& k, std::int64_t tuned) const {
  // for an argument without a bound: a higher value has no effect
  constexpr std::int64_t kSetMax = std::int64_t{1} << 30;
  auto offset = reinterpret_cast<const char*>(&k) - static_cast<const char*>(n.arguments.get());
  for (const field& f : n.op->arguments().fields) {
    if (static_cast<std::ptrdiff_t>(f.offset) != offset || !f.type->is_knob()) continue;
    std::int64_t value = k.is_autotuned() ? tuned : k.value;
    if (run->quarantines->watch()) value = 1;  // one element after the other
    std::int64_t most = f.type->most() == codec::kUnlimited ? std::max(kSetMax, value) : f.type->most();
    return site(n).knob(f.name, value, 1, most, k.is_autotuned());
  }
  SLUICE_ASSERT(false, "a live knob is none of its node's arguments");
  std::abort();
}

std::int64_t open_context::tuned_parallelism() const { return std::max(2u, run->workers * 2); }

error_gate open_context::gate(const node& n) const {
  site_record& record = site(n);
  std::shared_ptr<const std::string> label(std::shared_ptr<const std::string>(), &record.name());
  if (std::string own = labels_are_known ? std::string() : label_of(n); !own.empty() && own != record.name())
    label = std::make_shared<const std::string>(std::move(own));
  error_policy policy = n.errors.on_error.value_or(on_error);
  error_account* own = nullptr;
  // An error is counted where its policy is set: the errors of a stage with a policy of its own do not count for an
  // ignore_errors.
  if (policy == error_policy::skip) own = account_of(n, n.errors.errors_max, n.errors.on_error ? nullptr : account);
  return {run.get(),
          record,
          std::move(label),
          policy,
          own,
          policy == error_policy::skip ? quarantine_of(n) : nullptr,
          origin_of_input(n, *this)};
}

quarantine_sink* open_context::quarantine_of(const node& n) const {
  if (error_watch* watch = run->quarantines->watch()) return watch;
  return quarantine_at(n.errors.quarantine.is_given() ? n.errors.quarantine.path : run->quarantine.path);
}

quarantine_sink* open_context::quarantine_at(const std::string& path) const {
  quarantine_table& all = *run->quarantines;
  if (sink_maker* maker = all.maker()) return all.of(path, [&] { return maker->sink_of(path); });
  if (path.empty()) return nullptr;
  return all.of(path, [&] { return open_quarantine_file(path, kQuarantineEntriesMax, kQuarantineBytesMax, &all); });
}

open_context open_context::ignoring_errors(const node& n, error_limit errors_max) const {
  open_context upstream = *this;
  upstream.on_error = error_policy::skip;
  upstream.account = account_of(n, errors_max, nullptr);
  return upstream;
}

open_context open_context::with_options(const node& n, const dataset_options& o) const {
  open_context upstream = *this;
  if (o.on_error && !on_error_is_given) {
    upstream.on_error = *o.on_error;
    upstream.account = *o.on_error == error_policy::skip ? account_of(n, o.errors_max, nullptr) : nullptr;
    upstream.on_error_is_given = true;
  }
  if (!order_given) upstream.order_given = o.order;
  return upstream;
}

open_context open_context::inside_of(const node& n) const {
  open_context inner = *this;
  if (!n.errors.on_error) return inner;
  inner.on_error = *n.errors.on_error;
  inner.account = gate(n).account();
  return inner;
}

error_account* open_context::account_of(const node& n, error_limit errors_max, error_account* around) const {
  return run->sites->account(site(n), errors_max.most(), around);
}

site_record& open_context::site(const node& n) const {
  std::uint64_t path = derive(scope, n.site);
  if (reader && reader->path() == path) return *reader;
  auto name_of = [](const void* of) { return label_of(*static_cast<const node*>(of)); };
  return run->sites->find_or_add(path, scope != 0, name_of, &n);
}

std::uint64_t open_context::seed_of(const node& n, std::int64_t own, bool same_each_epoch) const {
  bool drawn = own == sluice::lib::seed::kDrawn;
  std::uint64_t seed = drawn ? derive(derive(run->seed, scope), n.site) : static_cast<std::uint64_t>(own);
  if (same_each_epoch) return outers ? mix(seed + outers) : seed;
  return mix(seed + passes);
}

}  // namespace sluice::lib
