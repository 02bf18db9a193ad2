// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/distribute.hpp"

#include <absl/strings/str_cat.h>

#include <utility>

#include "engine/lowering/types.hpp"
#include "engine/service/dispatcher_address.hpp"
#include "engine/service/frame_compression_codec.hpp"
#include "engine/service/sharding_codec.hpp"
#include "op/distribute/hints.hpp"
#include "op/distribute/open_distribute.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/codecs/pace_codecs.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

const distribute_options& options_in(const void* a) { return static_cast<const distribute_arguments*>(a)->options; }

/// Returns true if each split is read once, by whichever worker it is. In the other modes the number of workers decides
/// what each of them yields, and with mode=off their choice does, too.
bool divides_splits(const void* a) { return options_in(a).mode == sharding::dynamic; }
bool divides_elements(const void* a) { return options_in(a).mode != sharding::off; }

/// A job may resume with another dispatcher, other workers, and other limits of memory and time.
argument_list list_with_settings() {
  argument_list list = arguments_of<distribute_arguments>();
  for (field& f : list.fields) {
    if (f.name == "address" || f.name == "max_outstanding" || f.name == "silence_max" || f.name == "patience")
      f.is_setting = [](const void*) { return true; };
    else if (f.name == "workers") f.is_setting = divides_splits;
    else if (f.name == "tags" || f.name == "target_workers") f.is_setting = divides_elements;
  }
  return list;
}

const argument_list& distribute_list() {
  static const argument_list list = list_with_settings();
  return list;
}

/// Each worker in this process is a server with a task and heartbeats of its own: 100,000 took 805 MB.
constexpr std::int64_t kWorkersHereMax = 1024;

const element_type* distributed_type(const node& n, std::string& why) {
  const element_type* in = n.inputs[0]->type;
  const auto& [address, o] = n.as<distribute_arguments>();
  if (std::string mistake = mistake_in_address(address); !mistake.empty()) why = std::move(mistake);
  else if (o.workers > kWorkersHereMax)
    why = absl::StrCat(
        "workers must be at most ", kWorkersHereMax, ", and is ", static_cast<std::int64_t>(o.workers),
        ": each is a server in this process, and more workers than cores make no element faster; write the number "
        "of cores, or run workers on other machines (sluice worker) and name their dispatcher");
  else if (o.silence_max.is_given() && o.silence_max.value < 1'000'000) why = "silence_max must be at least 1ms";
  else if (o.splits < 0) why = "splits must be at least 0, and is " + std::to_string(o.splits);
  else if (o.split_elements < 0) why = "split_elements must be at least 0, and is " + std::to_string(o.split_elements);
  else if (address.empty() && o.target_workers == target_workers::remote)
    why =
        "target_workers=remote leaves no worker, because without an address all workers are in this process; name a "
        "dispatcher, or remove target_workers";
  else if (address.empty() && !o.tags.empty())
    why =
        "tags leave no worker, because without an address all workers are in this process and have none; name a "
        "dispatcher, or remove tags";
  else if (const bool has_hint = has_shard_hint(plan_text(*n.inputs[0])); has_hint != (o.mode == sharding::hint))
    why = has_hint ? absl::StrCat("shard(hint, hint) needs mode=hint, and mode is ", std::string(mode_name(o.mode)))
                   : "mode=hint needs a stage shard(hint, hint) upstream, which takes a worker's part: "
                     "list_files(\"…\") | shard(hint, hint) | interleave(…)";
  else if (!can_serialise(*in)) why = "elements of " + type_text(*in) + " cannot be sent to another process";
  else return in;
  return nullptr;
}

/// Each worker of mode=off yields all elements, stages after a divided list of files may yield more on several workers, and a
/// job with a name has other consumers.
cardinality distributed_size(const node& n) {
  const auto& o = n.as<distribute_arguments>().options;
  const cardinality all = cardinality_of(*n.inputs[0]);
  const bool is_alone = o.job.empty() && o.visitation == visitation::exactly_once;
  if (all.kind == cardinality::infinite || all == cardinality::of(0)) return all;
  const bool yields_each_once = o.mode == sharding::dynamic || o.mode == sharding::data;
  return is_alone && yields_each_once ? all : cardinality{};
}

}  // namespace

const op_info distribute_op{
    .name = "distribute",
    .doc = "runs the stages upstream on workers",
    .arguments = distribute_list,
    .type = distributed_type,
    .facts = {.size = distributed_size, .sends_input = true},
    .splits = {.rule = split_rule::one_split},
    .lowering = {.open = open_distribute},
};

preserving distribute(distribute_options o) { return distribute(std::string(), std::move(o)); }
preserving distribute(std::string address, distribute_options o) {
  return {distribute_op, arguments::of(distribute_arguments{std::move(address), std::move(o)})};
}

}  // namespace sluice::lib
