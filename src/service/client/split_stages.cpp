// SPDX-License-Identifier: Apache-2.0
#include "service/client/split_stages.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "runtime/sites/site_record.hpp"
#include "service/client/split_reading.hpp"
#include "sluice/base/content_hash.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/op/interleave.hpp"
#include "sluice/plan/stage_plan.hpp"

namespace sluice::lib {
namespace {

// --- The splits of this consumer ------------------------------------------------------------------------------------

struct splits_place {
  std::uint64_t ordinal = 0;  ///< of the next split
  std::uint64_t seen = 0;     ///< a hash of the splits before it
  membership as = {};

  void save(position_writer& w) const {
    w.number(ordinal);
    w.number(seen);
    w.text(as.job);
    w.text(as.name);
    w.number(as.pass);
  }
  void load(position_reader& r) {
    ordinal = r.number();
    seen = r.number();
    as.job = r.text();
    as.name = r.text();
    as.pass = r.number();
  }
  bool may_wait() const { return true; }
};

/// An argument that plans do not write: what the stage shares with others.
struct shared_consumer {
  using no_argument = void;
  std::shared_ptr<consumer> of = {};
};
struct assigned_splits_arguments {
  shared_consumer me = {};
};

std::uint64_t with_split(std::uint64_t seen, const assigned_split& split) {
  detail::content_hasher h;
  h.bytes(split.payload.data(), split.payload.size());
  return mix(seen ^ h.value()) + split.split;
}

/// Joins the job. The splits before the checkpoint are finished. A dispatcher that has lost its store, or a new one, has not
/// assigned them: they are requested again, and must be the same ones.
task<status> join_at(std::shared_ptr<consumer> me, splits_place at) {
  auto joining = me->join(at.as);
  status why = co_await joining;
  if (!why.ok() || at.ordinal == 0) co_return why;
  auto asking = me->knows(at.ordinal - 1);
  result<bool> is_known = co_await asking;
  if (!is_known.ok()) co_return is_known.why();
  if (*is_known) co_return me->resume_at(at.ordinal), status();
  std::uint64_t seen = 0;
  for (std::uint64_t ordinal = 0; ordinal != at.ordinal; ++ordinal) {
    auto one = me->next_split(ordinal);
    result<std::optional<assigned_split>> split = co_await one;
    if (!split.ok()) co_return split.why();
    if (!*split) break;
    seen = with_split(seen, **split);
    me->was_finished(**split);
  }
  if (seen != at.seen)
    why = failed_precondition_error(
        "the dispatcher does not know this consumer any more, and now divides the plan into other splits than before "
        "the "
        "checkpoint: its inputs have changed, or other consumers have got some of them");
  co_return why;
}

erased_stream assigned_splits_loop(outlet out, saved<splits_place> at, std::shared_ptr<consumer> me,
                                   std::string label) {
  auto joining = join_at(me, *at);
  status why = co_await joining;
  if (!why.ok()) co_await fail(why.in_stage(label));
  for (;;) {
    auto asking = me->next_split(at->ordinal);
    result<std::optional<assigned_split>> next = co_await asking;
    if (!next.ok()) co_await fail(next.why().in_stage(label));
    if (!*next) break;
    ++at->ordinal;
    at->seen = with_split(at->seen, **next);
    if (out.pass(1) != 0) {  // the interleave had read all of it before the checkpoint
      me->was_finished(**next);
      continue;
    }
    ::new (static_cast<void*>(out.room(1))) std::string((*next)->text());
    co_yield out.made(1);
  }
  auto storing = me->all_stored();
  why = co_await storing;
  if (!why.ok()) co_await fail(why.in_stage(label));
}

erased_stream open_assigned_splits(const node& n, open_context& context) {
  const auto& a = n.as<assigned_splits_arguments>();
  const std::shared_ptr<consumer>& me = a.me.of;
  const distribute_options& o = me->options();
  saved<splits_place> at;
  const std::uint64_t drawn = unique_number(*me->run()->rt);
  at->as.job = o.job.empty() ? absl::StrCat("run-", absl::Hex(drawn, absl::kZeroPad14)) : o.job;
  at->as.name = o.consumer.empty() ? absl::StrCat("consumer-", absl::Hex(drawn, absl::kZeroPad14)) : o.consumer;
  at->as.pass = context.epoch_number;
  outlet out(*n.type);
  return assigned_splits_loop(out, std::move(at), me, "distribute");
}

const op_info assigned_splits_op{
    .name = "assigned_splits",
    .doc = "the splits that a dispatcher gives to this consumer",
    .shape = op_info::source,
    .arguments = arguments_of<assigned_splits_arguments>,
    .type = [](const node&, std::string&) { return &type_of<std::string>(); },
    .facts = {.always = {.is_live = true}},
    .splits = {.rule = split_rule::this_process},
    .lowering = {.open = open_assigned_splits},
};

// --- The elements of one split --------------------------------------------------------------------------------------

struct elements_place {
  std::uint64_t at = 0;               ///< the ordinal of the next element in the split
  std::uint64_t dropped = 0;          ///< bad elements of the split that were counted before it
  const split_reading* in = nullptr;  ///< not saved: null before the first element and after the last one
  void save(position_writer& w) const {
    w.number(at);
    if (dropped != 0) w.number(dropped);
  }
  void load(position_reader& r) {
    at = r.number();
    dropped = r.done() ? 0 : r.number();  // checkpoints of earlier builds have none
  }
  bool may_wait() const { return !in || in->may_wait(); }
};

struct split_source {
  using no_argument = void;
  std::shared_ptr<consumer> of = {};
  assigned_split split = {};
  const element_type* type = nullptr;
};
struct split_elements_arguments {
  split_source from = {};
};

/// Returns the account of a stage of workers.
error_account* account_of_stage(run_context& run, const std::string& stage) {
  detail::content_hasher h;
  h.bytes(stage.data(), stage.size());
  site_record& record = run.sites->add(mix(h.value()), stage, false);
  return run.sites->account(record, error_account::kNoLimit, nullptr);
}

/// Errors of workers that are counted at the end of a split, in the accounts of their stages.
dropped_errors dropped_in_all(run_context& run, const split_reading& in) {
  dropped_errors here;
  for (const dropped_elements& d : in.dropped())
    here.add({in.in_place(d.first), d.errors, account_of_stage(run, d.stage)});
  return here;
}

/// Errors of workers before the next element, whose elements are stored. A path that neither the plan nor the run names
/// stands for none, so that no worker chooses what is written here.
dropped_errors dropped_before_next(consumer& me, split_reading& in, std::uint64_t& number) {
  dropped_errors here;
  const split_reading::worker_place at = in.place_now();
  const auto on = std::make_shared<const std::string>(absl::StrCat(at.worker, "\n", at.split));
  for (dropped_element& d : in.take_dropped(number)) {
    const auto into = me.quarantines().find(d.path);
    here.add({std::move(d.why), d.times, account_of_stage(*me.run(), d.stage),
              into == me.quarantines().end() ? nullptr : into->second, std::move(d.bytes), on});
  }
  return here;
}

erased_stream split_elements_loop(outlet out, saved<elements_place> place, std::shared_ptr<consumer> me,
                                  assigned_split split, std::string label, site_record* site) {
  split_reading in(me, split, out.type(), place->dropped);
  block_fit fit(out.type());
  place->in = &in;
  for (;;) {
    const std::uint64_t passed = out.pass(demand::kAll);
    const std::uint64_t wanted = place->at + passed;
    in.drop_before(wanted);
    if (in.elements().size() == 0) {
      in.demand_blocks(out.wanted(), out.wanted_bytes());
      if (erased_stream* here = in.unreported(wanted)) {
        erased_stream::attempt some = co_await here->try_next_block(in.next_demand());
        if (in.got(some)) {
          if (in.has_dropped()) co_await out.drop(dropped_before_next(*me, in, place->dropped));
          place->at = wanted + some.view.size();
          co_yield some.view;
          continue;
        }
      }
      auto filling = in.fill(wanted);
      status why = co_await filling;
      if (const std::uint64_t bytes = in.take_wire_bytes()) stage_counts::add(site->counts().rare().read_bytes, bytes);
      if (in.has_dropped()) co_await out.drop(dropped_before_next(*me, in, place->dropped));
      if (!why.ok()) co_await fail(in.in_place(why).in_stage(label));
      if (!in.local().empty()) {
        place->at = wanted + in.local().size();
        co_yield in.local();
        continue;
      }
      if (in.elements().size() == 0) {
        const std::uint64_t missing = std::min(passed, wanted - std::min(wanted, in.length()));
        out.unpass(missing);
        place->at = wanted - missing;
        break;
      }
    }
    const std::uint32_t ready = static_cast<std::uint32_t>(in.elements().size());
    const std::uint32_t n = std::min(fit.at_most(out.wanted()), ready);
    block some = in.elements().view().first(n);
    some.move_front(out.room(n), n);
    in.count_taken(n);
    place->at = wanted + n;
    block made = out.made(n);
    fit.made(made, out.wanted_bytes());
    co_yield made;
  }
  place->in = nullptr;
  auto dropping = out.drop(dropped_in_all(*me->run(), in));
  co_await dropping;
  auto reporting = me->finished(split, in.length() == 0);
  status why = co_await reporting;
  if (!why.ok()) co_await fail(why.in_stage(label));
}

erased_stream open_split_elements(const node& n, open_context& context) {
  const split_source& from = n.as<split_elements_arguments>().from;
  outlet out(*n.type);
  saved<elements_place> place;
  return split_elements_loop(out, std::move(place), from.of, from.split, "distribute", &context.site(n));
}

const op_info split_elements_op{
    .name = "split_elements",
    .doc = "the elements of a split, from a worker",
    .shape = op_info::source,
    .arguments = arguments_of<split_elements_arguments>,
    .type = [](const node& n, std::string&) { return n.as<split_elements_arguments>().from.type; },
    .facts = {.always = {.is_live = true}},
    .splits = {.rule = split_rule::this_process},
    .lowering = {.open = open_split_elements},
};

struct opening_split final : plan_function {
  std::shared_ptr<consumer> me;
  opening_split(std::shared_ptr<consumer> as, const element_type& type) : me(std::move(as)) {
    name = "assigned split";
    in = &type_of<std::string>();
    out = &type;
  }
  node_ptr plan_for(void* element) const override {
    assigned_split split = assigned_split::read(*static_cast<const std::string*>(element));
    return make_source(split_elements_op, arguments::of(split_elements_arguments{{me, std::move(split), out}}));
  }
};

}  // namespace

node_ptr distributed_stream(const std::shared_ptr<consumer>& as, const element_type& type, std::int64_t parallelism) {
  assigned_splits_arguments which{{as}};
  const distribute_options& o = as->options();
  interleave_options how;
  how.cycle_length = std::int64_t{o.splits_at_once};
  how.block_length = std::numeric_limits<std::int64_t>::max();
  how.parallelism = parallelism;
  how.order = o.order;
  interleave_arguments each{function_ptr(new opening_split(as, type)), how};
  return make_stage(interleave_op, arguments::of(std::move(each)),
                    make_source(assigned_splits_op, arguments::of(std::move(which))));
}

}  // namespace sluice::lib
