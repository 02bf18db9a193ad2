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
// Owns:   at most max_outstanding bytes of elements that have arrived and are not delivered yet, charged as read-ahead. A
//         small budget lowers them, down to 256 KiB for each split that is read. Compressed elements are charged with
//         their size before compression, too.
// State:  the numbers of the splits that are being read, and of the next element of each. A resume asks for the same
//         splits again, also if dispatcher and workers were restarted meanwhile.
// See:    docs/service.md.
#pragma once

#include <string>

#include "sluice/engine/distribute_options.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info distribute_op;

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

}  // namespace sluice
