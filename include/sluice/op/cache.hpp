// SPDX-License-Identifier: Apache-2.0
// cache: keeps the elements of the first epoch in memory or in a file, and yields them in later epochs and later runs.
//
//   records | cache() | shuffle(1000) | repeat(3)
//   records | cache("train.cache") | shuffle(1000) | repeat(3)
//
// Each element is made once. A cache in memory belongs to this call of cache() and the runtime: every plan and run that
// contains the call reads it, and it is freed when the last dataset and run with the call is gone. A cache in a file is
// read by later processes, too. An epoch that ends early (take, an error, a stop) leaves what it has made, and a later one
// makes only the rest. Streams that need the same elements at the same time may make them twice; none waits for another
// one, except with other_writer=wait for a stream of another process.
// Order:  the input's in its first epoch, in every epoch: draws upstream of the cache are frozen, so a shuffle belongs
//         after it. Without a fixed order upstream (order=sloppy, a live source) all elements come from one pass. Streams
//         that begin while another one fills the cache then read their input without it.
// Ends:   with the input.
// Errors: resource_exhausted: with over_budget=fail, when all caches of the runtime hold more than half of the memory
//         budget, held memory exceeds the budget, or the disk is full; with over_budget=spill, when the disk is full.
//         failed_precondition: the file has the elements of another plan, seed or error policy, its functions have other
//         versions, or the files that the plan names have changed (iterate_options::on_changed_inputs); it is never read
//         then. unimplemented: the store has no conditional writes. data_loss: a checksum of the file is wrong.
//         unavailable: with other_writer=fail, another process writes the file and has not written the next element.
//         Elements that the policy drops upstream are not in the cache; they are counted when they are met, in the epoch
//         that makes the elements.
// Owns:   in memory, copies of all elements; with a file, those of some pieces of 1 MiB. A run with another seed has a cache
//         of its own if a stage upstream draws from the run's seed, and so has one with another error policy or order. Give
//         such runs a seed, or each reads its input again. Files that change while the program runs are not read again.
// Paths:  a local file, or objects below the path of a store with conditional writes (s3://, gs://). One process writes at
//         a time, and others read what is there. A piece of 1,024 elements, 1 MiB or 100 ms is written when it is complete,
//         and at the end of the stream as it is. A local file is written while the stream continues; at most 1 MiB or one
//         piece waits. A process that is killed loses these and the piece in the making. The disk may store the end of the
//         file after the stream has ended, at the latest when the runtime ends. If that fails, the next stream of the cache
//         in this process fails, except with over_budget=stop_caching; without one nothing is reported, and what the disk
//         has lost is noticed by checksums when it is read. While another process writes,
//         a stream makes the elements that are missing (other_writer=compute), waits for them, also for those of a writer
//         that pauses, or fails. The system frees the lock of a process that is killed; the lease in a store expires after
//         10 s without a change. Functions upstream must have names (fn), so that a change of their version is noticed.
// State:  the number of elements and the input's position at or before the next one, never elements. A resume in a process
//         with an empty cache makes the elements from there on.
#pragma once

#include <string>

#include "sluice/base/other_writer.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info cache_op;

/// The reaction to elements for which the memory, or the disk, has no room.
enum class over_budget : std::uint8_t {
  fail,          ///< the stream ends with resource_exhausted
  stop_caching,  ///< no more elements are kept: later epochs make the rest again
  /// A cache in memory continues in a temporary file without a name, in the folder of TMPDIR or in /tmp. A full disk ends
  /// the stream. The elements' contents must be known to the library.
  spill,
  spill_or_stop,  ///< the same, and no more elements are kept when the disk is full
};
/// The reaction to a file that does not fit the plan, or is damaged.
enum class on_mismatch : std::uint8_t {
  fail,     ///< the stream ends with an error that names the difference
  rebuild,  ///< the file is replaced
};
struct cache_options {
  lib::over_budget over_budget = lib::over_budget::fail;  ///< when the memory or the disk has no room for an element
  lib::on_mismatch on_mismatch = lib::on_mismatch::fail;  ///< for a file of another plan, or a damaged one
  /// when an element is missing in the file while another process writes it; a process never waits for itself
  lib::other_writer other_writer = lib::other_writer::compute;
};

class cache_share;  // store/cache_table.hpp
/// The caches of one call, which all copies of its arguments share.
struct shared_cache {
  using no_argument = void;
  shared_ref<const cache_share> of = {};
};
struct cache_arguments {
  shared_cache shared = {};  ///< not an argument
  std::string path = {};     ///< the file; "": in memory
  cache_options options = {};
};

preserving cache(cache_options o = {});
preserving cache(std::string path, cache_options o = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::cache;
using lib::cache_options;
using lib::on_mismatch;
using lib::over_budget;

}  // namespace sluice
