// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/iterate.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "base/text/redacted.hpp"
#include "coro/positions/position_records.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/options_in_force.hpp"
#include "pipeline/live_runs.hpp"
#include "pipeline/moved_files.hpp"
#include "pipeline/open_indexing.hpp"
#include "pipeline/order/delivered_order.hpp"
#include "pipeline/order/order_start.hpp"
#include "pipeline/plan_walk.hpp"
#include "pipeline/position_parts.hpp"
#include "pipeline/replay/delivered_place.hpp"
#include "pipeline/replay/open_replay.hpp"
#include "pipeline/seal.hpp"
#include "plan/plan_depth.hpp"
#include "runtime/held_memory.hpp"
#include "runtime/quarantine_sink.hpp"
#include "runtime/run_starts.hpp"
#include "runtime/seen_inputs.hpp"
#include "runtime/warm_channels.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/op/with_options.hpp"
#include "sluice/optimizer/optimize.hpp"
#include "sluice/pipeline/one_element.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/simulation.hpp"
#include "tuner/model_tuner.hpp"
#include "tuner/tuning_task.hpp"

namespace sluice::lib {
namespace {

/// The bytes of a node, its arguments, and the record of its site.
constexpr std::size_t kPlanNodeBytes = 1280;
/// The tuner's shortest time between two looks: some samples of calls that take a millisecond.
constexpr duration kTunePeriod = std::chrono::milliseconds(5);

/// The CPU time of the process; in a simulation, the time that it has spent.
duration cpu_time(const runtime& rt) { return rt.world() ? rt.world()->spent() : process_cpu_time(); }
duration cpu_time_at_start(runtime& rt, time_point now) {
  return rt.world() ? rt.world()->spent() : rt.starts().cpu_time(now);
}

/// Returns the ordinal in the first record of a position, which is that of the stage at the end.
std::uint64_t ordinal_of(std::string_view position) {
  const std::vector<position_part> parts = parts_of_position(position);
  return parts.empty() ? 0 : parts.front().record.ordinal;
}

/// The objects that the root of a run keeps alive, and the interface of the run for the stages below.
class run final : public run_base {
 public:
  run(std::shared_ptr<run_context> context, node_ptr written, node_ptr rewritten, std::uint64_t epoch)
      : context_(std::move(context)),
        written_(std::move(written)),
        rewritten_(std::move(rewritten)),
        epoch_(epoch),
        began_at_(context_->time->now()),
        cpu_at_beginning_(cpu_time_at_start(*context_->rt, began_at_)) {}

  /// Charges the memory of a plan with many nodes, for the lifetime of the run.
  status hold_plan(std::size_t nodes) {
    if (nodes == 0) return {};
    plan_memory_ = std::make_unique<held_memory>(
        context_, context_->ledger->line(purpose::state, "the plan"), "the plan", "what its stages hold",
        "read many files by one stage, such as a pattern or an interleave of their names");
    return plan_memory_->resize(nodes * kPlanNodeBytes);
  }
  void request_stop() noexcept override { context_->request_stop(); }
  /// Starts the tuner of `self`, this run.
  void tune(std::shared_ptr<run_base> self, duration period) {
    const budgets limits{context_->workers, static_cast<double>(context_->ledger->report().budget_bytes)};
    auto computed = [rt = context_->rt, from = cpu_at_beginning_] { return cpu_time(*rt) - from; };
    tuning_ = start_tuning(context_, std::move(self), std::make_unique<model_tuner>(limits, period), computed, period);
  }
  tuning_report tuned() const { return tuning_ ? tuning_->report() : tuning_report(); }
  std::string seal(std::string position) const override {
    status why = context_->inputs->resumable();
    if (!why.ok()) throw_status(why);
    look_now();
    std::string order = order_ ? written_order(order_->at(ordinal_of(position))) : std::string();
    return seal_position({.fingerprint = fingerprint_,
                          .seed = context_->seed,
                          .on_error = context_->on_error,
                          .epoch = epoch_,
                          .inputs = context_->inputs->bytes(),
                          .identities = identities_,
                          .order = std::move(order),
                          .position = std::move(position)});
  }
  /// Returns the place before a bad element, for its entry in a quarantine. Thread: that which counts the element.
  run_place place_at(const delivered_place& place) const {
    std::call_once(printed_, [this] {
      print_ =
          std::make_unique<const print>(sluice::lib::fingerprint(*written_), detail::redacted(plan_text(*written_)),
                                        written_identities(identities_of(*written_)));
    });
    run_place at{.plan = print_->plan, .seed = context_->seed, .delivered = place.elements(), .position = {}};
    std::string position = place.position();
    if (position.empty() || !context_->inputs->resumable().ok()) return at;
    at.position = seal_position({.fingerprint = print_->fingerprint,
                                 .seed = context_->seed,
                                 .on_error = context_->on_error,
                                 .epoch = epoch_,
                                 .inputs = context_->inputs->bytes(),
                                 .identities = print_->identities,
                                 .order = {},
                                 .position = std::move(position)});
    return at;
  }
  /// Reads the fingerprint and the identities of the plan once. A run that starts from a checkpoint warns at once.
  void look_now() const {
    context_->is_saved.store(true, std::memory_order_relaxed);
    std::call_once(looked_, [this] {
      fingerprint_ = fingerprint(*written_);
      look_at_identities();
    });
  }
  std::vector<std::string> warnings() const {
    mutex_lock lock(mutex_);
    return warnings_;
  }
  void when_drained(void (*done)(void*) noexcept, void* argument) noexcept override {
    context_->when_idle(done, argument);
  }
  run_context& context() const { return *context_; }
  std::uint64_t epoch() const { return epoch_; }
  /// Before the first request: the run counts its order.
  void count_order_in(std::shared_ptr<order_log> log) { order_ = std::move(log); }
  /// Returns the fingerprint of the elements before `ordinal`. Thread: the consumer's, at rest.
  order_fingerprint order_at(std::uint64_t ordinal) const { return order_ ? order_->at(ordinal) : order_fingerprint(); }
  machine_use machine() const {
    machine_use use;
    use.workers = context_->workers;
    if (context_->is_homeless.load(std::memory_order_acquire)) return use;  // the clock is gone
    use.elapsed = context_->time->now() - began_at_;
    use.computed = cpu_time(*context_->rt) - cpu_at_beginning_;
    return use;
  }

 private:
  /// Called for the first checkpoint: hashing data in memory takes time.
  void look_at_identities() const {
    std::vector<function_identity> all = identities_of(*written_);
    identities_ = written_identities(all);
    std::string open = open_identities(all);
    if (open.empty() || context_->external_state == external_state::ignore) return;
    if (context_->external_state == external_state::refuse)
      throw_status(failed_precondition_error("external_state=refuse allows no checkpoint of this plan: " + open));
    if (auto* warn = context_->rt->options().on_warning) warn(open);
    mutex_lock lock(mutex_);
    warnings_.push_back(std::move(open));
  }

  std::shared_ptr<run_context> context_;
  std::unique_ptr<held_memory> plan_memory_;
  node_ptr written_;    ///< checkpoints are compared by this plan,
  node_ptr rewritten_;  ///< and this one runs
  std::uint64_t epoch_;
  const time_point began_at_;
  const duration cpu_at_beginning_;
  std::shared_ptr<tuning> tuning_;    ///< null: the run has no tuner
  std::shared_ptr<order_log> order_;  ///< null: the run does not count its order
  // Many runs end without a checkpoint, and making a fingerprint prints the whole plan.
  mutable std::once_flag looked_;
  mutable std::uint64_t fingerprint_ = 0;  ///< valid once looked_ is set
  mutable std::string identities_;         ///< valid once looked_ is set
  // The same, and the plan's text, for entries of quarantines, which warn of nothing.
  mutable std::once_flag printed_;
  struct print {
    std::uint64_t fingerprint;
    std::string plan, identities;
  };
  mutable std::unique_ptr<const print> print_;
  mutable mutex mutex_;
  mutable std::vector<std::string> warnings_ ABSL_GUARDED_BY(mutex_);
  const live_run listed_{*context_->rt, *this};  // last: reports may look at the run from here on
};

[[noreturn]] void refuse_epoch(std::uint64_t made_in, std::uint64_t asked_for) {
  throw_status(
      failed_precondition_error("the checkpoint was made in epoch " + std::to_string(made_in) +
                                ", and this run requests epoch " + std::to_string(asked_for) +
                                "; continue without naming the epoch, or start the other one without the checkpoint"));
}

/// Returns a seed for a run without one; in a simulation it depends on the simulation's seed. It fits a plan's signed
/// seed.
std::uint64_t drawn_seed(runtime& rt) {
  return rt.world() ? rt.world()->random(~std::uint64_t{0} >> 1) : rt.starts().drawn_seed(rt.time().now());
}

class idle_awaiter {
 public:
  explicit idle_awaiter(run_base& run) : run_(run) {}
  bool await_ready() const noexcept { return false; }
  template <class P> void await_suspend(std::coroutine_handle<P> h) {
    promise_ = &h.promise();
    run_.when_drained([](void* p) noexcept { static_cast<idle_awaiter*>(p)->resume(); }, this);
  }
  void await_resume() const noexcept {}

 private:
  // Posts to the waiter's own executor, so that the last task of the run does not run the code that waits for it.
  void resume() noexcept { promise_->env->exec->post(promise_->self); }
  run_base& run_;
  promise_base* promise_ = nullptr;
};

task<void> drain(std::shared_ptr<run_base> run) {
  if (!run) co_return;
  idle_awaiter idle(*run);
  co_await idle;
}

/// The options of a run: those of iterate_options first, then those of the plan.
void set_shared_options(const node& plan, const iterate_options& o, run_options& to) {
  to.pool = o.pool;
  to.cpu_budget = o.cpu_budget;
  const dataset_options of_plan = has_options(plan) ? options_of(plan) : dataset_options();
  if (!to.cpu_budget && of_plan.cpu_budget.is_given())
    to.cpu_budget = static_cast<unsigned>(std::min<std::int64_t>(of_plan.cpu_budget.value, ~0u));
  const run_switch statistics = o.statistics.is_given() ? o.statistics : of_plan.statistics;
  to.has_statistics = !statistics.is_given() || statistics.is_on();
  to.external_state = o.external_state.value_or(of_plan.external_state.value_or(external_state::warn));
}

bool starts_warm(const node& plan, const iterate_options& o) {
  if (o.warm_start.is_given()) return o.warm_start.is_on();
  return has_options(plan) && options_of(plan).warm_start.is_on();
}

bool tunes(const iterate_options& o, const run_context& context, bool on_demand) {
  return o.tune.is_on() && context.has_statistics && !on_demand;
}

/// Starts the channels that no other channel requests from. Those start the channels upstream of them.
void start_channels(const erased_stream& root, const warm_channels& all) {
  auto enter = [](void* channels, stage_base& stage) {
    return !static_cast<const warm_channels*>(channels)->start(&stage);
  };
  root.visit_stages(enter, const_cast<warm_channels*>(&all));
}

/// Returns the plan with the order of the run at its end. It is then the plan of the run's checkpoints, too.
node_ptr in_order(const node_ptr& plan, const iterate_options& o) {
  if (!o.order || !plan) return plan;
  return make_stage(with_options_op, arguments::of(with_options_arguments{{.order = o.order}}), plan);
}

/// Reads the checkpoint of a run of this plan, also of the plan with the paths before the moves. A run that was resumed
/// after the moves has checkpoints of the plan with the new paths.
sealed_position unseal_for(const node& plan, const iterate_options& o) {
  const std::uint64_t there = fingerprint_of_sealed(o.from.bytes);
  std::uint64_t here = fingerprint(plan);
  if (there != here && there == fingerprint_with_settings(plan)) here = there;
  const std::uint64_t before = o.rebase.empty() ? here : fingerprint_before(plan, o.rebase);
  const bool is_before = before != here && there == before;
  try {
    sealed_position from =
        unseal_position(o.from.bytes, is_before ? before : here,
                        is_before ? identities_before(plan, o.rebase) : identities_of(plan), o.on_error);
    if (o.on_changed_inputs != changed_inputs::ignore) check_moves(plan, o.rebase, from.inputs, is_before);
    return from;
  } catch (const error& e) {
    const bool is_other_plan = e.code() == status_code::failed_precondition && there != here && there != before;
    if (o.rebase.empty() || !is_other_plan || before == here) throw;
    throw_status(failed_precondition_error(std::string(e.why().message()) + path_before_moves(plan, o.rebase)));
  }
}

/// Lowers the plan, and restores its position. `place`: null, or receives the place of the run.
erased_stream open_at_position(const open_context& top, const node_ptr& plan, std::string position,
                               const order_start& order, std::shared_ptr<delivered_place> place) {
  erased_stream root = top.open(plan);
  if (place) root = keep_place(std::move(root), *top.run, std::move(place));
  if (order.log) {
    root = count_order(std::move(root), order.log);
    root.stage()->set_label(kOrderStage);
    root.stage()->set_identity({.site = order.site});
    root.set_environment(top.run.get());
  }
  root.may_go_back();
  if (!position.empty()) {
    position_records records(std::move(position));
    root.restore(records);
    if (status fits = records.finish(); !fits.ok()) throw_status(fits);
  }
  root.pass_over(order.to_pass);
  return root;
}

/// The parts of a run that its plan and options do not name.
struct run_extras {
  bool on_demand = false;  ///< no stage works ahead of the root's requests
  std::shared_ptr<element_places> places = {};
  std::shared_ptr<error_watch> watch = {};
  std::shared_ptr<sink_maker> dropped_to = {};
};

/// `given`: the plan that runs; null: the optimized form of `written`.
erased_stream open_root(runtime& rt, const node_ptr& plan, const node_ptr& given, const iterate_options& o,
                        run_extras extras = {}) {
  const bool on_demand = extras.on_demand;
  const node_ptr written = given ? plan : in_order(plan, o);
  if (!written) throw_status(invalid_argument_error("open_run: there is no plan"));
  if (!is_plan_depth_possible(std::max(written->depth, given ? given->depth : 0)))
    throw_status(resource_exhausted_error("the plan is more than " + plan_depth_limit_text()));
  const node_ptr rewritten =
      given ? given : optimized_plan(written, {.rules = o.rules, .on_error = o.on_error, .trust = o.trust});
  sealed_position from;
  for (const path_rebase& m : o.rebase.list())
    if (m.from.empty() || m.to.empty())
      throw_status(invalid_argument_error("iterate_options::rebase: a folder has no name; \".\" is the current one"));
  if (!o.from.empty()) from = unseal_for(*written, o);
  if (!o.from.empty() && from.position.empty()) throw_status(damaged_position());
  if (!o.from.empty() && o.epoch && *o.epoch != from.epoch) refuse_epoch(from.epoch, *o.epoch);
  std::uint64_t epoch = o.epoch.value_or(from.epoch);
  const order_start order = start_of_order(*written, o, on_demand, from);
  run_options options;
  options.on_error = o.on_error;
  options.errors_max = o.errors_max;
  options.quarantine = o.quarantine;
  options.on_changed_inputs = o.on_changed_inputs;
  options.identity = o.identity;
  options.identities = o.identities;
  options.rebase = o.rebase;
  set_shared_options(*written, o, options);
  options.seed = !o.from.empty()     ? from.seed
                 : o.seed            ? *o.seed
                 : rt.options().seed ? rt.options().seed
                                     : drawn_seed(rt);
  std::shared_ptr<run_context> context = rt.new_run(options);
  context->places = std::move(extras.places);
  context->quarantines->set_watch(std::move(extras.watch));
  context->quarantines->set_maker(std::move(extras.dropped_to));
  auto started = std::make_shared<run>(context, written, rewritten, epoch);
  status fits = started->hold_plan(walked(*rewritten).nodes_to_charge);
  if (!fits.ok()) throw_status(fits);
  open_context top(context, *written, epoch);
  top.on_demand = on_demand;
  warm_channels channels;
  const bool is_warm = !on_demand && starts_warm(*written, o);
  if (is_warm) context->to_warm = &channels;
  std::shared_ptr<delivered_place> place;
  if (!context->quarantines->watch() && !context->quarantines->maker() &&
      (o.quarantine.is_given() || walked(*written).names_quarantine)) {
    place = std::make_shared<delivered_place>();
    context->quarantines->set_place([of = std::weak_ptr<run>(started), place] {
      const std::shared_ptr<run> live = of.lock();
      return live ? live->place_at(*place) : run_place();
    });
  }
  erased_stream root;
  try {
    root = open_at_position(top, rewritten, std::move(from.position), order, std::move(place));
  } catch (...) {
    context->to_warm = nullptr;
    throw;
  }
  context->to_warm = nullptr;
  started->count_order_in(order.log);
  if (!o.from.empty() && !context->inputs->restore(from.inputs)) throw_status(damaged_position());
  root.stage()->set_error_sink(context.get());
  if (!o.from.empty()) started->look_now();
  root.set_run(started);
  if (!context->has_statistics) root.take_samples(false);
  if (tunes(o, *context, on_demand)) started->tune(started, o.tune_every.count() > 0 ? o.tune_every : kTunePeriod);
  if (is_warm) start_channels(root, channels);
  return root;
}

}  // namespace

any_stream open_run(runtime& rt, const node_ptr& plan, const iterate_options& o) {
  return any_stream(open_root(rt, plan, nullptr, o));
}

any_stream open_replay(runtime& rt, const node_ptr& plan, const iterate_options& o,
                       std::shared_ptr<error_watch> watch) {
  return any_stream(open_root(rt, plan, plan, o, {.watch = std::move(watch)}));
}

erased_stream open_indexing_run(runtime& rt, const node_ptr& reader, std::shared_ptr<element_places> places) {
  iterate_options o;
  return open_root(rt, reader, reader, o, {.on_demand = true, .places = std::move(places)});
}

erased_stream open_rewritten_run(runtime& rt, const node_ptr& written, const node_ptr& rewritten,
                                 const iterate_options& o) {
  return open_collecting_run(rt, written, rewritten, o, nullptr);
}

erased_stream open_collecting_run(runtime& rt, const node_ptr& written, const node_ptr& rewritten,
                                  const iterate_options& o, std::shared_ptr<sink_maker> dropped_to) {
  if (!rewritten) throw_status(invalid_argument_error("open_run: there is no plan"));
  return open_root(rt, written, rewritten, o, {.dropped_to = std::move(dropped_to)});
}

any_stream detail::open_at(runtime& rt, const node_ptr& plan, std::int64_t index, const iterate_options& o) {
  if (index < 0) throw_status(out_of_range_error("at(" + std::to_string(index) + "): elements are numbered from 0"));
  status seeks = plan ? why_not_seekable(*plan) : status();
  if (!seeks.ok() && seeks.code() != status_code::failed_precondition) throw_status(seeks);
  if (!seeks.ok()) throw_status(failed_precondition_error("at(): " + std::string(seeks.message())));
  if (o.on_error == error_policy::skip)
    throw_status(failed_precondition_error("at(): where bad elements are dropped, elements have no numbers"));
  erased_stream root = open_root(rt, plan, plan, o, {.on_demand = true});
  root.pass_over(static_cast<std::uint64_t>(index));
  return any_stream(std::move(root));
}

void detail::refuse_index(std::int64_t index, std::uint64_t left) {
  throw_status(out_of_range_error("at(" + std::to_string(index) + "): there are " +
                                  std::to_string(static_cast<std::uint64_t>(index) - left) + " elements"));
}

std::shared_ptr<site_table> sites_of(const stream_base& s) {
  auto* r = dynamic_cast<run*>(s.run());
  if (!r)
    throw_status(failed_precondition_error(
        "this stream belongs to no run, or another wait for its next element is outstanding"));
  return r->context().sites;
}

run_report report_during(const run_base& any) {
  run_report report;
  if (auto* r = dynamic_cast<const run*>(&any)) {  // while a wait is outstanding, a stream is lent and has another one
    report.seed = r->context().seed;
    report.epoch = r->epoch();
    report.errors = r->context().errors();
    report.first_errors = r->context().first_errors();
    report.errors_by_stage = r->context().errors_by_stage();
    report.inputs_changed = r->context().inputs_changed();
    report.first_changed_inputs = r->context().first_changed_inputs();
    report.warnings = r->warnings();
    for (std::string& text : r->context().warnings()) report.warnings.push_back(std::move(text));
    report.sites = r->context().sites->report();
    report.consumer = consumer_report_of(r->consumer);
    report.machine = r->machine();
    report.verdict = judge(report.sites, report.consumer, report.machine);
    report.tuning = r->tuned();
  }
  return report;
}

run_report report_of(const stream_base& s) {
  if (!s.run()) return {};
  if (s.at_rest()) s.flush_all_counts();
  run_report report = report_during(*s.run());
  if (auto* r = dynamic_cast<const run*>(s.run()); r && s.at_rest() && s.stage())
    report.order = r->order_at(s.consumed());
  return report;
}

run_report any_stream::report() const { return report_of(*this); }

run_report report_of(const any_stream& s) { return report_of(detail::engine_access::of(s)); }
std::shared_ptr<site_table> sites_of(const any_stream& s) { return sites_of(detail::engine_access::of(s)); }
task<void> cleanup(any_stream&& s) { return cleanup(detail::engine_access::release(std::move(s))); }

task<void> cleanup(stream_base&& s) {
  s.require_rest("cleanup()");
  std::shared_ptr<run_base> run = s.shared_run();
  if (run) run->request_stop();
  s.close();
  return drain(std::move(run));
}

}  // namespace sluice::lib
