// SPDX-License-Identifier: Apache-2.0
// shard: one of n parts of a stream, which takes each n-th element.
//
//   list_files("*.tfrecord") | shard(4, 1) | flat_map(tfrecord)      // the second of four workers: files 1, 5, 9 …
//   range(10) | shard(3, 0)                                          // 0 3 6 9
//
// The elements of number i, i + n, i + 2·n … The n shards of one plan have all of its elements, each once, if the plan gives every
// worker the same order. Shard before what is expensive: elements of other shards are passed over, and stages that can do so do not
// make them.
// Order:  as the input's.
// Ends:   with the input.
// Errors: invalid_argument, when the plan is made: there is no such shard. Those of elements that are passed over and not made are not
//         noticed.
// State:  none of its own: the input's position.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info shard_op;

struct shard_arguments {
  count shards = {};   ///< number of parts
  integer index = {};  ///< of this part: 0 … shards - 1
};

preserving shard(count shards, integer index);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::shard;

}  // namespace sluice
