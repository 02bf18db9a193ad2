// SPDX-License-Identifier: Apache-2.0
// shard: one of n parts of a stream: every n-th element.
//
//   list_files("*.tfrecord") | shard(4, 1) | flat_map(tfrecord)      // the second of four workers: files 1, 5, 9 …
//   range(10) | shard(3, 0)                                          // 0 3 6 9
//   list_files("*.tfrecord") | shard(hint, hint) | flat_map(tfrecord) | distribute("HOST:1", {.mode = sharding::hint})
//
// Shard i has the elements number i, i + n, i + 2·n … The n shards of one plan together have each element once, if the
// plan yields the same order on every worker. Put shard before expensive stages: elements of other shards are skipped,
// and stages that can skip do not make them.
// Hint:   shard(hint, hint) stands for the number of workers and the number of the worker that runs the plan; only
//         distribute with mode=hint can run it.
// Order:  as the input's.
// Ends:   with the input.
// Errors: invalid_argument, when the plan is built: the shard does not exist. Errors of skipped elements that are not
//         made are not noticed.
// State:  the input's position; after a resume with another number of shards, the elements that were delivered before
//         (sluice/pipeline/reshard.hpp).
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info shard_op;

/// Stands for a number that distribute knows.
struct hint_type {};
inline constexpr hint_type hint{};

/// A number of parts, or hint.
struct shard_count : integer {
  static constexpr std::int64_t kHint = INT64_MIN + 1;
  using integer::integer;
  constexpr shard_count() = default;
  constexpr shard_count(hint_type) : integer(kHint) {}  // NOLINT: as a number is written
  constexpr bool is_hint() const { return value == kHint; }
};
/// The number of a part, or hint.
struct shard_index : shard_count {
  using shard_count::shard_count;
};

struct shard_arguments {
  shard_count shards = {};  ///< number of parts, or hint
  shard_index index = {};   ///< number of this part: 0 … shards - 1, or hint
};

preserving shard(shard_count shards, shard_index index);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::hint;
using lib::shard;

}  // namespace sluice
