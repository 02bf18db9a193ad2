// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/distribute.hpp"

#include <utility>

#include "engine/lowering/types.hpp"
#include "op/distribute/open_distribute.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/codecs/pace_codecs.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {
namespace {

const element_type* distributed_type(const node& n, std::string& why) {
  const element_type* in = n.inputs[0]->type;
  const auto& [address, o] = n.as<distribute_arguments>();
  if (o.splits < 0) why = "splits must be at least 0, and is " + std::to_string(o.splits);
  else if (o.split_elements < 0) why = "split_elements must be at least 0, and is " + std::to_string(o.split_elements);
  else if (o.mode == sharding::hint)
    why = "mode=hint is not supported: no stage can name the place of its shard; use mode=data";
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
  const bool divides_elements = o.mode == sharding::dynamic || o.mode == sharding::data;
  return is_alone && divides_elements ? all : cardinality{};
}

}  // namespace

const op_info distribute_op{
    .name = "distribute",
    .doc = "runs the stages upstream on workers",
    .arguments = arguments_of<distribute_arguments>,
    .type = distributed_type,
    .facts = {.size = distributed_size},
    .splits = {.rule = split_rule::one_split},
    .lowering = {.open = open_distribute},
};

preserving distribute(distribute_options o) { return distribute(std::string(), std::move(o)); }
preserving distribute(std::string address, distribute_options o) {
  return {distribute_op, arguments::of(distribute_arguments{std::move(address), std::move(o)})};
}

}  // namespace sluice::lib
