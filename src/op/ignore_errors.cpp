// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/ignore_errors.hpp"

#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {
namespace {

erased_stream open_ignore_errors(const node& n, open_context& context) {
  error_limit errors_max = n.as<ignore_errors_arguments>().options.errors_max;
  return context.ignoring_errors(n, errors_max).open(n.inputs[0]);
}

}  // namespace

const op_info ignore_errors_op{
    .name = "ignore_errors",
    .doc = "what fails upstream is dropped",
    .arguments = arguments_of<ignore_errors_arguments>,
    .type = same_type,
    .open = open_ignore_errors,
    .size =
        [](const node& n) {
          cardinality in = cardinality_of(*n.inputs[0]);
          return in == cardinality::of(0) ? in : cardinality{};
        },
    .sets_error_policy = true,
    .only_drops = true,
};

preserving ignore_errors(ignore_errors_options o) {
  return {ignore_errors_op, arguments::of(ignore_errors_arguments{o})};
}

}  // namespace sluice::lib
