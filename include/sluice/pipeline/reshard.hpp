// SPDX-License-Identifier: Apache-2.0
// Elastic resume: the checkpoints of N consumers, each of which reads shard(N, i) of one plan, become those of M consumers.
//
//   auto plan = [](std::int64_t n, std::int64_t i) { return records | shuffle(1000, {.seed = 1}) | shard(n, i) | batch(8); };
//   std::vector<checkpoint> three = reshard(rt, plan(2, 0).plan(), {first, second}, 3);
//   auto s = plan(3, 0).iterate(rt, {.from = three[0]});                  // and so do the others
//
// Together the M streams deliver each element that the N have not delivered, once. Elements that stages downstream of
// `shard` held, such as those of an incomplete batch, count as not delivered. Element k of the rest, in the order of the
// stages upstream of `shard`, goes to consumer k mod M. So the rest, read alternately from the M streams, has that order.
// With `global_order`, the delivered elements must be the first ones of that order: the elements before and after the
// checkpoint, read alternately from the consumers, are then one sequence, which is the same for every number of consumers.
//
// Plans:  one `shard` in the chain of stages that ends the plan. Upstream of it anything that a checkpoint allows.
//         Downstream stages that work on each element by itself (map, filter, prefetch, parse_example …) and `batch`. Put
//         shuffles, counts and windows upstream of `shard`.
// Errors: thrown; invalid_argument: the plan has no shard, or several; a checkpoint is missing, given twice, or of another
//         plan. failed_precondition: a stage downstream of `shard` has elements or a state that cannot be divided; a filter
//         downstream of it and a stage that works ahead (save such checkpoints without prefetch and parallelism after the
//         shard, or filter upstream); the checkpoints are of different seeds or epochs; with global_order, the delivered
//         elements are not the first ones. data_loss: a checkpoint is damaged.
// Thread: any. No file is opened.
// See:    docs/resuming.md, `sluice checkpoint reshard`
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/coro/stream.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/node.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

struct reshard_options {
  bool global_order = false;  ///< true: the delivered elements must be the first ones of the order upstream of `shard`
};

/// Returns the plan with other arguments of its one `shard`.
node_ptr with_shard(const node_ptr& plan, std::int64_t shards, std::int64_t index);
/// `plan`: that of any of the consumers. `from`: their checkpoints, in any order. Returns those of shard(shards, 0) …
std::vector<checkpoint> reshard(runtime& rt, const node_ptr& plan, const std::vector<checkpoint>& from,
                                std::int64_t shards, reshard_options o = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::reshard;
using lib::reshard_options;
using lib::with_shard;

}  // namespace sluice
