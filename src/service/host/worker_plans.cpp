// SPDX-License-Identifier: Apache-2.0
#include "service/host/worker_plans.hpp"

#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "op/distribute/hints.hpp"
#include "service/client/sent_plan.hpp"
#include "service/host/process.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/op/skip.hpp"
#include "sluice/op/take.hpp"
#include "sluice/plan/stage_plan.hpp"
#include "sluice/plan/text.hpp"
#include "splits/shards.hpp"

namespace sluice::lib {
namespace {

split_options options_of_dataset(const dataset_info& info, std::uint64_t seed, std::uint64_t epoch) {
  return {.splits = info.splits,
          .split_bytes = info.split_bytes,
          .split_elements = info.split_elements,
          .visitation = visitation_named(info.visitation),
          .seed = seed,
          .epoch = epoch};
}

/// Calls f, and returns its result or the status of what it throws.
template <class F> auto result_of(F f) -> result<decltype(f())> {
  try {
    return f();
  } catch (...) { return current_exception_status(); }
}

/// "the worker on HOST"
std::string on_this_machine(std::string_view process) {
  const std::string machine = name_of_machine();
  return absl::StrCat(std::string(process), machine.empty() ? "" : " on ", machine);
}

/// Reads {"shard":1,"shards":4}. Returns false for anything else.
bool read_shard(const std::string& payload, std::uint64_t& shard, std::uint64_t& shards) {
  const auto all = nlohmann::json::parse(payload, nullptr, false);
  if (!all.is_object() || !all.contains("shard") || !all.contains("shards")) return false;
  if (!all["shard"].is_number_unsigned() || !all["shards"].is_number_unsigned()) return false;
  shard = all["shard"].get<std::uint64_t>();
  shards = all["shards"].get<std::uint64_t>();
  return shard < shards;
}

/// Returns … | skip(first - 1) | take(1) for a split … | skip(first) | …; null if skip directly follows a source.
node_ptr last_before(const node_ptr& plan, std::uint64_t first) {
  for (const node* n = plan.get(); n->op->shape == op_info::stage; n = n->inputs[0].get()) {
    if (n->op->name != "skip" || n->as<skip_arguments>().elements != static_cast<std::int64_t>(first)) continue;
    const node_ptr& in = n->inputs[0];
    if (in->op->shape == op_info::source) return nullptr;
    const node_ptr skipped =
        make_stage(skip_op, arguments::of(skip_arguments{static_cast<std::int64_t>(first) - 1}), in);
    return make_stage(take_op, arguments::of(take_arguments{1}), skipped);
  }
  return nullptr;
}

}  // namespace

dataset_plan::dataset_plan(dataset_info info)
    : info_(std::move(info)), whole_(plan_of_dataset(info_, on_this_machine("the worker"))) {}

task<result<split_run>> dataset_plan::plan_of(read_request request, runtime& rt) const {
  const std::uint64_t seed = request.seed.value_or(0), epoch = request.epoch.value_or(0);
  if (request.payload.empty()) {  // workers of `off` draw apart
    co_return split_run{whole_, request.split == 0 ? seed : mix(seed + request.split), epoch};
  }
  if (!request.mode.empty()) {
    auto sharding_it = shard_of(std::move(request), rt);
    result<split_run> shard = co_await sharding_it;
    co_return shard;
  }
  co_return result_of([&] {
    const plan_split split = plan_split::from_json(request.payload);
    const split_plan parts(whole_, options_of_dataset(info_, split.seed, split.epoch));
    split_run run{parts.plan_of(split), split.seed, split.epoch};
    const bool may_drop = request.on_error == "skip" || info_.plan.find("ignore_errors") != info_.plan.npos;
    if (may_drop && split.first != 0) run.before = last_before(run.plan, split.first);
    return run;
  });
}

task<result<split_run>> dataset_plan::shard_of(read_request request, runtime& rt) const {
  std::uint64_t shard = 0, shards = 1;
  if (!read_shard(request.payload, shard, shards))
    co_return invalid_argument_error(absl::StrCat("not a shard: ", request.payload));
  const std::uint64_t seed = request.seed.value_or(0), epoch = request.epoch.value_or(0);
  if (request.mode == to_string(sharding::hint))
    co_return result_of(
        [&] { return split_run{parse_plan(with_shard_numbers(plan_text(*whole_), shards, shard)), seed, epoch}; });
  if (request.mode != to_string(sharding::data)) {
    iterate_options how;
    how.seed = seed;
    how.epoch = epoch;
    auto dividing = shard_of_files(&rt, whole_, {shard, shards}, how);
    auto plan = co_await dividing.as_result();
    if (plan.ok()) co_return split_run{*std::move(plan), seed, epoch};
    const bool may_divide_data = request.mode == to_string(sharding::file_or_data);
    if (!may_divide_data || plan.why().code() != status_code::failed_precondition) co_return plan.why();
  }
  co_return result_of([&] {
    return split_run{parse_plan(absl::StrCat(info_.plan, " | shard(", shards, ", ", shard, ")")), seed, epoch};
  });
}

task<result<listed_payloads>> list_round(dataset_info info, std::uint64_t round, runtime& rt) {
  auto made = result_of([&] {
    return split_plan(read_sent_plan(info.plan, on_this_machine("the dispatcher")),
                      options_of_dataset(info, info.seed, info.epoch));
  });
  if (!made.ok()) co_return made.why();
  const cardinality rounds = made->streams()[0].rounds;
  listed_payloads listed;
  listed.is_last = rounds.kind == cardinality::exact && round + 1 >= static_cast<std::uint64_t>(rounds.elements);
  listed.is_endless = rounds.kind == cardinality::infinite;
  if (rounds == cardinality::of(0)) co_return listed;
  auto listing = made->splits(rt, 0, round);
  auto splits = co_await listing.as_result();
  if (!splits.ok()) co_return splits.why();
  for (const plan_split& s : *splits) listed.payloads.push_back(s.json());
  co_return listed;
}

task<result<std::shared_ptr<const dataset_plan>>> worker_plans::find(std::string dataset) {
  {
    mutex_lock lock(mutex_);
    const auto found = known_.find(dataset);
    if (found != known_.end()) co_return found->second;
  }
  auto asking = link_->ask(get_dataset_request{.dataset = dataset});
  result<get_dataset_reply> reply = co_await asking;
  if (!reply.ok()) co_return reply.why();
  auto made = result_of([&] { return std::make_shared<const dataset_plan>(std::move(reply->info)); });
  if (!made.ok()) co_return made.why();
  mutex_lock lock(mutex_);
  if (known_.size() == kKept) known_.erase(known_.begin());
  known_[dataset] = *made;
  co_return *made;
}

}  // namespace sluice::lib
