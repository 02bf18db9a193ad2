// SPDX-License-Identifier: Apache-2.0
// ignore_errors: elements that fail in any stage upstream are dropped.
//
//   tfrecord("a") | map(parse) | ignore_errors() | batch(64)
//   tfrecord("a") | map(parse) | ignore_errors({.errors_max = 100}) | batch(64)      // more than 100 end the stream
//
// It decides for the stages upstream that do not say themselves what an error does (plan/on_error.hpp), also for those of inner
// plans, of several inputs, and of a repeated input, and not for those upstream of another ignore_errors, which decides for
// them. Stages downstream are the run's matter.
// Order:  as the input's. It makes no stage: it costs nothing, and checkpoints know nothing of it.
// Ends:   with the input; a stream that cannot go on (a file that breaks off) ends there, as under error_policy::skip.
// Errors: each that is dropped is counted, and told in the run's report. cancelled and resource_exhausted are never dropped.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info ignore_errors_op;

struct ignore_errors_options {
  error_limit errors_max = {};  ///< of all the stages it decides for together, in one run; -1: any number
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
