// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/sleep.hpp"

#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/pace_codecs.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/this_stage.hpp"

namespace sluice::lib {
namespace {

erased_stream sleep_loop(outlet out, one_to_one, may_suspend, erased_stream in, duration time) {
  stage_base* me = co_await this_stage();
  while (auto b = co_await in.next_block({0, 1, out.wanted_bytes()})) {
    const clock& now = *out.env()->time;
    time_point began = now.now();
    sleep_for pause(time);
    co_await pause;
    me->waited(now.now() - began, wait_reason::pace);
    co_yield b;
  }
}

erased_stream open_sleep(const node& n, open_context& context) {
  duration time(n.as<sleep_arguments>().time.value);
  if (time.count() == 0) return context.open(n.inputs[0]);
  outlet out(*n.type);
  return sleep_loop(out, one_to_one{}, may_suspend{}, context.open(n.inputs[0]), time);
}

}  // namespace

const op_info sleep_op{
    .name = "sleep",
    .doc = "waits before each element",
    .arguments = arguments_of<sleep_arguments>,
    .type = same_type,
    .facts = {.always = {.outputs = output_count::one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_sleep},
};

preserving sleep(time_span time) { return {sleep_op, arguments::of(sleep_arguments{time})}; }

}  // namespace sluice::lib
