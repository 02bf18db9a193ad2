// SPDX-License-Identifier: Apache-2.0
// rate_limit: limits the number of elements, or of bytes, per second.
//
//   numbers | rate_limit({.elements_per_second = 100})
//   files | rate_limit({.bytes_per_second = 64 << 20, .burst = 1 << 20}) | prefetch(4)    // in text: bytes_per_second=64MiB
//
// A token bucket on the run's clock: tokens are added at the rate, up to `burst`; an element is delivered when the
// bucket has enough tokens for it. The bucket is full at the start and after a pause of the consumer, so at most
// `burst` passes at once. An element with more bytes than `burst` waits for a full bucket, and the elements after it
// wait until its excess is paid.
// Order:  as the input's.
// Ends:   with the input.
// Errors: those of the input. invalid_argument when the plan is made: neither rate is given, or both are; a rate below 0.
// Cancel: a stop ends a wait at once.
// Owns:   the elements of one block, while they wait.
// Units:  bytes are those of the elements and of what they own.
// State:  none of its own: the input's position. A resumed run begins with a full bucket; elements skipped by a skip or
//         a resume take no tokens. Each pass of a repeat, and each inner plan, has its own bucket. Rates and burst may
//         differ in a resumed run.
#pragma once

#include "sluice/base/pace_types.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info rate_limit_op;

struct rate_limit_options {
  rate elements_per_second = {};  ///< limit of elements; 0: no limit
  rate bytes_per_second = {};     ///< limit of bytes; 0: no limit
  amount burst = {};              ///< in elements or bytes; 0: the amount for 10 ms, at least one
};
struct rate_limit_arguments {
  rate_limit_options options = {};
};

preserving rate_limit(rate_limit_options o);
SLUICE_OPTIONS_IN_BRACES_AFTER(preserving, rate_limit, rate_limit_options, "rate_limit({.elements_per_second = 100})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::rate_limit;
using lib::rate_limit_options;

}  // namespace sluice
