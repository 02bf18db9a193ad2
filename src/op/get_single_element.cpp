// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/get_single_element.hpp"

#include <utility>

#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

status none_at_all() { return invalid_argument_error("the input is empty, and must have one element"); }
status several() { return invalid_argument_error("the input has more than one element, and must have one"); }

// Only a second request shows whether the element is the only one, so it is sent even if the element is skipped.
erased_stream get_single_element_loop(outlet out, saved<bool> delivered, erased_stream in, error_gate gate) {
  if (!*delivered) {
    bool any = co_await in.ready({0, 2, out.wanted_bytes()});
    if (!any) {
      status located = gate.located(none_at_all());
      co_await fail(std::move(located));
    }
    in.move_to(out.room(1), 1);
    block only = out.made(1);
    bool more = co_await in.ready({0, 1, out.wanted_bytes()});
    if (more) {
      status located = gate.located(several());
      co_await fail(std::move(located));
    }
    *delivered = true;
    co_yield only;
  }
}

erased_stream open_get_single_element(const node& n, open_context& context) {
  outlet out(*n.type);
  return get_single_element_loop(out, saved<bool>(), context.open(n.inputs[0]), context.gate(n));
}

}  // namespace

const op_info get_single_element_op{
    .name = "get_single_element",
    .doc = "the only element of the input",
    .type = same_type,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input, .forwards = true, .keeps_order = true},
              .size = [](const node&) { return cardinality::of(1); }},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_get_single_element},
};

preserving get_single_element() { return {get_single_element_op, arguments::of(no_arguments{})}; }

}  // namespace sluice::lib
