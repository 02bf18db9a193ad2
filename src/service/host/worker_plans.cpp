// SPDX-License-Identifier: Apache-2.0
#include "service/host/worker_plans.hpp"

#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "op/distribute/hints.hpp"
#include "optimizer/sent_rules.hpp"
#include "service/client/sent_plan.hpp"
#include "service/host/process.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/op/skip.hpp"
#include "sluice/plan/text.hpp"
#include "splits/layout.hpp"
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
    return in->op->shape == op_info::source ? nullptr : range_of(in, first - 1, 1);
  }
  return nullptr;
}

}  // namespace

dataset_plan::dataset_plan(dataset_info info)
    : info_(std::move(info)), whole_(plan_of_dataset(info_, on_this_machine("the worker"))) {}

task<result<split_run>> dataset_plan::plan_of(read_request request, runtime& rt) const {
  const error_policy on_error = request.on_error == "skip" ? error_policy::skip : error_policy::stop;
  // An older consumer sends no rules: a plan then has those of a run that chooses none.
  const optimize_options how = options_of(request.rules.value_or(sent_rules{.is_on = true}), on_error);
  if (!request.payload.empty() && request.mode.empty()) co_return split_of(request, how);
  const std::uint64_t seed = request.seed.value_or(0), epoch = request.epoch.value_or(0);
  split_run run{.plan = {whole_, {}}, .seed = seed, .epoch = epoch};
  if (request.payload.empty()) {  // workers of `off` draw apart
    if (request.split != 0) run.seed = mix(seed + request.split);
  } else {
    auto sharding_it = shard_of(std::move(request), rt);
    result<node_ptr> shard = co_await sharding_it;
    if (!shard.ok()) co_return shard.why();
    run.plan.written = *std::move(shard);
  }
  co_return result_of([&] {
    run.plan.runs = optimized_plan(run.plan.written, how);
    return run;
  });
}

std::shared_ptr<const split_plan> dataset_plan::parts() const {
  mutex_lock lock(mutex_);
  if (!parts_) parts_ = std::make_shared<const split_plan>(whole_, options_of_dataset(info_, info_.seed, info_.epoch));
  return parts_;
}

result<split_run> dataset_plan::split_of(const read_request& request, const optimize_options& o) const {
  return result_of([&] {
    const plan_split split = plan_split::from_json(request.payload);
    const std::shared_ptr<const split_plan> cut = parts();
    const std::string part = absl::StrCat(split.stream, " ", split.part);
    auto forms = [&](node_ptr written, const std::string& of) {
      node_ptr runs = forms_.form_of(written, of, o);
      return plan_forms{std::move(written), std::move(runs)};
    };
    split_run run{.plan = forms(cut->plan_of(split), part), .seed = split.seed, .epoch = split.epoch};
    const bool may_drop = request.on_error == "skip" || info_.plan.find("ignore_errors") != info_.plan.npos;
    if (!may_drop || split.first == 0) return run;
    if (node_ptr before = last_before(run.plan.written, split.first))
      run.before = forms(std::move(before), part + " -");
    return run;
  });
}

task<result<node_ptr>> dataset_plan::shard_of(read_request request, runtime& rt) const {
  std::uint64_t shard = 0, shards = 1;
  if (!read_shard(request.payload, shard, shards))
    co_return invalid_argument_error(absl::StrCat("not a shard: ", request.payload));
  if (request.mode == to_string(sharding::hint))
    co_return result_of([&] { return parse_plan(with_shard_numbers(plan_text(*whole_), shards, shard)); });
  if (request.mode != to_string(sharding::data)) {
    iterate_options how;
    how.seed = request.seed.value_or(0);
    how.epoch = request.epoch.value_or(0);
    auto dividing = shard_of_files(&rt, whole_, {shard, shards}, how);
    auto plan = co_await dividing.as_result();
    if (plan.ok()) co_return *std::move(plan);
    const bool may_divide_data = request.mode == to_string(sharding::file_or_data);
    if (!may_divide_data || plan.why().code() != status_code::failed_precondition) co_return plan.why();
  }
  co_return result_of([&] { return parse_plan(absl::StrCat(info_.plan, " | shard(", shards, ", ", shard, ")")); });
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
  co_return known_.try_emplace(std::move(dataset), *made).first->second;  // another read may have been first
}

}  // namespace sluice::lib
