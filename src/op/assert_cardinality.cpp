// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/assert_cardinality.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {
namespace {

status unlike(std::uint64_t expected, bool endless, std::uint64_t there, bool has_ended) {
  std::string wanted = endless ? "elements without an end" : std::to_string(expected) + " elements";
  std::string found = has_ended ? "has " + std::to_string(there) : "has more";
  return failed_precondition_error("the input must have " + wanted + ", and " + found);
}

erased_stream assert_cardinality_loop(outlet out, erased_stream in, std::uint64_t expected, bool endless,
                                      error_gate gate) {
  for (;;) {
    std::uint64_t passed = out.pass(demand::kAll);
    auto b = co_await in.next_block({passed, out.wanted(), out.wanted_bytes()});
    const std::uint64_t there = in.consumed();
    if (!b) {
      if (passed) out.unpass(in.skip_left());
      if (endless || there != expected) {
        status located = gate.located(unlike(expected, endless, there, true));
        co_await fail(std::move(located));
      }
      break;
    }
    if (!endless && there > expected) {
      const std::uint64_t before = there - b.size();
      if (before > expected) out.unpass(std::min(passed, before - expected));
      else out.hold(b.first(static_cast<std::uint32_t>(expected - before)));
      status located = gate.located(unlike(expected, endless, there, false));
      co_await fail(std::move(located));
    }
    co_yield b;
  }
}

erased_stream open_assert_cardinality(const node& n, open_context& context) {
  outlet out(*n.type);
  std::int64_t elements = n.as<assert_cardinality_arguments>().elements;
  return assert_cardinality_loop(out, context.open(n.inputs[0]),
                                 static_cast<std::uint64_t>(std::max<std::int64_t>(elements, 0)), elements < 0,
                                 context.gate(n));
}

}  // namespace

const op_info assert_cardinality_op{
    .name = "assert_cardinality",
    .doc = "fails unless the input has n elements",
    .arguments = arguments_of<assert_cardinality_arguments>,
    .type = same_type,
    .facts = {.always = {.outputs = output_count::one_per_input, .forwards = true, .keeps_order = true},
              .size =
                  [](const node& n) {
                    std::int64_t elements = n.as<assert_cardinality_arguments>().elements;
                    return elements < 0 ? cardinality::forever() : cardinality::of(elements);
                  },
              .seeks = seeks_with_inputs,
              .members = member_use::passed},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_assert_cardinality},
};

preserving assert_cardinality(count_or_all elements) {
  return {assert_cardinality_op, arguments::of(assert_cardinality_arguments{elements})};
}

}  // namespace sluice::lib
