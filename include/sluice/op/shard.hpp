// SPDX-License-Identifier: Apache-2.0
// shard: one of n parts of a stream: every n-th element.
//
//   list_files("*.tfrecord") | shard(4, 1) | flat_map(tfrecord)      // the second of four workers: files 1, 5, 9 …
//   range(10) | shard(3, 0)                                          // 0 3 6 9
//
// Shard i has the elements number i, i + n, i + 2·n … The n shards of one plan together have each element once, if the
// plan yields the same order on every worker. Put shard before expensive stages: elements of other shards are skipped,
// and stages that can skip do not make them.
// Order:  as the input's.
// Ends:   with the input.
// Errors: invalid_argument, when the plan is built: the shard does not exist. Errors of skipped elements that are not
//         made are not noticed.
// State:  none of its own: the input's position.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info shard_op;

struct shard_arguments {
  count shards = {};   ///< number of parts
  integer index = {};  ///< number of this part: 0 … shards - 1
};

preserving shard(count shards, integer index);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::shard;

}  // namespace sluice
