// SPDX-License-Identifier: Apache-2.0
// distribute: runs the stages upstream on workers, and delivers their elements here, each exactly once.
//
//   list_files("train/*.tfrecord") | interleave(tfrecord) | map(parse) | distribute("10.0.0.1:7700") | batch(64)
//   records | map(parse) | distribute({.workers = 4})                  // without an address: workers in this process
//
// The address is that of a dispatcher (service/dispatcher.hpp, or the program: sluice dispatcher). The dispatcher divides
// the plan upstream into splits (docs/splits.md), and gives each split to one of the consumers of the job, which reads
// it from a worker. Stages whose state spans splits (shuffle, batch …) run in this process, downstream of the splits.
// mode=off gives the whole plan to each worker, so each element is delivered once per worker, as in tf.data.
// mode=hint runs shard(hint, hint) in the plan with the number of workers and that of the worker. tf.data's names
// parallel_epochs and distributed_epoch are read as off and dynamic.
// Order:  with order=deterministic and mode=dynamic that of the plan upstream, except that interleave and merge mix the
//         elements of one split only. With order=sloppy the elements of all splits as they arrive; each split's elements
//         stay in order. Consumers of one job get different splits, in an order that depends on timing.
// Ends:   when all splits of the job are delivered. Other consumers of the job must end, too, or be gone.
// Errors: those of the plan upstream, with the worker's address. unavailable: the dispatcher, or a worker, could not be
//         reached for as long as `patience`; the message names it. failed_precondition: the plan cannot be split, or a
//         part of it cannot be sent to another process; the message names the stage, the reason and the remedy.
//         already_exists: the job has another plan or mode. Under error_policy::skip bad elements are dropped by the
//         workers.
// Lost:   a worker that dies, hangs or is cut off is replaced: another one continues each of its splits where the
//         consumer stands. With visitation=at_most_once the rest of such a split is dropped; with at_least_once the split
//         begins again.
// Local:  elements of a worker that this process has started on the same runtime are handed over as they are. No message is
//         sent, and max_outstanding does not limit them.
// Owns:   at most max_outstanding bytes of elements that have arrived and are not delivered yet.
// State:  the numbers of the splits that are being read, and of the next element of each. A resume asks for the same
//         splits again, also if dispatcher and workers were restarted meanwhile.
// See:    docs/service.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/base/field_types.hpp"
#include "sluice/base/wait_time.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/split_rule.hpp"

namespace sluice::lib {

extern const op_info distribute_op;

/// The workers that may read splits for a consumer.
enum class target_workers : std::uint8_t {
  automatic,  ///< any; first those of the consumer's process, then those of its host
  any,        ///< any, without preference
  local,      ///< those of the consumer's process and host
  remote,     ///< those of other hosts
};

struct distribute_options {
  sharding mode = sharding::dynamic;
  std::string job = {};       ///< consumers that name the same job share its elements; "": a job of its own
  std::string consumer = {};  ///< the name of this consumer, under which a job knows it after a restart; "": drawn
  sluice::lib::visitation visitation = visitation::exactly_once;  ///< when a worker is lost
  std::vector<std::string> tags = {};  ///< only workers that have all of these tags read splits of the job
  sluice::lib::target_workers target_workers = target_workers::automatic;
  count workers =
      1;  ///< without an address: the number of workers in this process, and of splits read at the same time
  std::int64_t splits = 0;                ///< about this number of splits; 0: one for each file, or 16
  byte_size split_bytes = {};             ///< about this number of bytes of files in each split; 0: no limit
  std::int64_t split_elements = 0;        ///< this number of elements, or of files, in each split; 0: no limit
  count_up_to<1024> splits_at_once = 16;  ///< with an address: splits that are read at the same time
  byte_size max_outstanding = std::int64_t{64} << 20;  ///< bytes that workers may send ahead of the consumer
  /// how long the dispatcher may hear nothing of this consumer before others of its job get its splits; 0: without end
  wait_time silence_max = {};
  wait_time patience = {};  ///< how long to wait for a dispatcher or worker that cannot be reached; 0: without end
  sluice::lib::order order = order::deterministic;
};
struct distribute_arguments {
  std::string address = {};  ///< of the dispatcher, "host:port"; "": dispatcher and workers in this process
  distribute_options options = {};
};

preserving distribute(distribute_options o = {});
preserving distribute(std::string address, distribute_options o = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::distribute;
using lib::distribute_options;
using lib::sharding;
using lib::target_workers;
using lib::visitation;

}  // namespace sluice
