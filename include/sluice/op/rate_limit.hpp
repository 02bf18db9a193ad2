// SPDX-License-Identifier: Apache-2.0
// rate_limit: no more than so many elements, or bytes, a second are given on.
//
//   numbers | rate_limit({.elements_per_second = 100})
//   files | rate_limit({.bytes_per_second = 64 << 20, .burst = 1 << 20}) | prefetch(4)    // in text: bytes_per_second=64MiB
//
// A token bucket on the run's clock: tokens come in at the rate and are kept up to `burst`; an element is given when its tokens
// are there. The bucket is full at first and after a pause of the consumer, so `burst` passes at once then, and never more. An
// element of more bytes than `burst` waits for a full bucket, and those behind it for what it has taken beyond.
// Order:  as the input's.
// Ends:   with the input.
// Errors: those of the input. invalid_argument when the plan is made: neither rate is given, or both are; a rate below 0.
// Cancel: a stop ends a wait at once.
// Owns:   the elements of one block, while they wait.
// Units:  bytes are those of the elements and of what they own.
// State:  none of its own: the input's position. A resumed run begins with a full bucket; elements that are passed over, by a
//         skip or a resume, take no tokens. Each pass of a repeat, and each inner plan, has a bucket of its own. Rates and burst
//         may differ in a resumed run.
#pragma once

#include "sluice/base/pace_types.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info rate_limit_op;

struct rate_limit_options {
  rate elements_per_second = {};  ///< 0: no limit of elements
  rate bytes_per_second = {};     ///< 0: no limit of bytes
  amount burst = {};              ///< of elements or of bytes; 0: what comes in 10 ms, one at least
};
struct rate_limit_arguments {
  rate_limit_options options = {};
};

preserving rate_limit(rate_limit_options o);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::rate_limit;
using lib::rate_limit_options;

}  // namespace sluice
