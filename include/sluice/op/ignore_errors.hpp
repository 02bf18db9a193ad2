// SPDX-License-Identifier: Apache-2.0
// ignore_errors: bad elements of all stages upstream are dropped.
//
//   tfrecord("a") | map(parse) | ignore_errors() | batch(64)
//   tfrecord("a") | map(parse) | ignore_errors({.errors_max = 100}) | batch(64)      // more than 100 end the stream
//
// It sets error_policy::skip for the stages upstream that have no policy of their own (plan/on_error.hpp): also for
// those of inner plans, of several inputs, and of a repeated input; but not for those upstream of another
// ignore_errors, which sets it for them. For stages downstream the policy of the run applies.
// Order:  as the input's. It makes no stage, so it costs nothing and adds nothing to checkpoints.
// Ends:   with the input. A stream that cannot continue (a file that is cut short) ends there, as under
//         error_policy::skip.
// Errors: each dropped element is counted, and in the run's report. cancelled and resource_exhausted are never dropped.
//         invalid_argument when the plan is made: `on_error`, which other calls take, but which would say nothing here.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info ignore_errors_op;

struct ignore_errors_options {
  error_limit errors_max = {};  ///< of all stages upstream together, in one run; -1: any number
};
struct ignore_errors_arguments {
  ignore_errors_options options = {};
};

preserving ignore_errors(ignore_errors_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::ignore_errors;
using lib::ignore_errors_options;

}  // namespace sluice
