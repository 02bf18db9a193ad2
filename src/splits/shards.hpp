// SPDX-License-Identifier: Apache-2.0
// Shards: parts of a plan that have fixed workers, instead of splits that any worker takes (distribute, mode=data and file).
//
//   status why = why_not_divisible(*plan);                              // a stage that delivers in sloppy order
//   auto sharding_it = shard_of_files(&rt, plan, {1, 4}, how);
//   node_ptr mine = co_await sharding_it;                               // list_files("*.csv") | shard(4, 1) | flat_map(lines)
//
// Thread: any.
#pragma once

#include <cstdint>

#include "sluice/base/status.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

class runtime;

struct shard_number {
  std::uint64_t index = 0, count = 1;
};

/// Ok if each run of the plan with the same seed yields the same sequence, so that workers that each take a part of it have
/// different elements, and a worker that starts again can continue. Otherwise failed_precondition: the message names the
/// stage that delivers in sloppy order, and the remedy.
status why_not_divisible(const node& plan);

/// The plan in which each list of files has every `count`-th file only, from number `index` on. A list of files is the input
/// of a stage that opens readers, or a source of file names. All other stages stay, so take(2) takes two elements of each
/// shard. `how`: the seed and the epoch of the run.
/// Errors: throws failed_precondition: a source is no list of files, a list has fewer files than there are shards, or
/// a stage checks the number of all elements.
task<node_ptr> shard_of_files(runtime* rt, node_ptr plan, shard_number shard, iterate_options how);

}  // namespace sluice::lib
