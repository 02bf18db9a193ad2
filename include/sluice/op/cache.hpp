// SPDX-License-Identifier: Apache-2.0
// cache: keeps the elements of the first epoch in memory, and yields them in later epochs and later runs.
//
//   records | cache() | shuffle(1000) | repeat(3)
//
// Each element is made once on a runtime. What is in the cache belongs to this call of cache() and the runtime: every plan
// and run that contains the call reads it, and it is freed when the last dataset and run with the call is gone. An epoch
// that ends early (take, an error, a stop) leaves what it has made, and a later one makes only the rest. Streams that need
// the same elements at the same time may make them twice; none waits for another one.
// Order:  the input's in its first epoch, in every epoch: draws upstream of the cache are frozen, so a shuffle belongs
//         after it. Without a fixed order upstream (order=sloppy, a live source) all elements come from one pass. Streams
//         that begin while another one fills the cache then read their input without it.
// Ends:   with the input.
// Errors: resource_exhausted: with over_budget=fail, when all caches of the runtime hold more than half of the memory
//         budget, or held memory exceeds the budget. Elements that the policy drops upstream are not in the cache; they are
//         counted when they are met, in the epoch that makes the elements.
// Owns:   copies of all elements. A run with another seed has a cache of its own if a stage upstream draws from the run's
//         seed, and so has one with another error policy or order. Give such runs a seed, or each reads its input again.
//         Files that change while the program runs are not read again.
// State:  the number of elements and the input's position at or before the next one, never elements. A resume in a process
//         with an empty cache makes the elements from there on.
#pragma once

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info cache_op;

/// The reaction to elements for which the memory has no room.
enum class over_budget : std::uint8_t {
  fail,          ///< the stream ends with resource_exhausted
  stop_caching,  ///< no more elements are kept: later epochs make the rest again
};
struct cache_options {
  lib::over_budget over_budget = lib::over_budget::fail;  ///< when the memory has no room for an element
};

class cache_share;  // store/cache_table.hpp
/// The caches of one call, which all copies of its arguments share.
struct shared_cache {
  using no_argument = void;
  shared_ref<const cache_share> of = {};
};
struct cache_arguments {
  shared_cache shared = {};  ///< not an argument
  cache_options options = {};
};

preserving cache(cache_options o = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::cache;
using lib::cache_options;
using lib::over_budget;

}  // namespace sluice
