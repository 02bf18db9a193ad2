// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/skip.hpp"

#include "engine/lowering/open_context.hpp"
#include "engine/lowering/plain_stages.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

erased_stream skip_loop(outlet out, saved<std::uint64_t> left, erased_stream in) {
  for (;;) {
    std::uint64_t mine = *left;
    std::uint64_t passed = mine + out.pass(demand::kAll);
    auto b = co_await in.next_block({passed, out.wanted(), out.wanted_bytes()});
    *left = 0;
    if (!b) {
      // Only elements that the consumer asked to skip are counted, not those that skip(n) itself leaves out.
      out.unpass(std::min(passed ? in.skip_left() : 0, passed - mine));
      break;
    }
    co_yield b;
  }
}

erased_stream open_skip(const node& n, open_context& context) {
  std::int64_t elements = n.as<skip_arguments>().elements;
  outlet out(*n.type);
  if (elements < 0) return empty_stage(out);
  erased_stream in = context.open(n.inputs[0]);
  if (elements == 0) return in;
  saved<std::uint64_t> left(static_cast<std::uint64_t>(elements));
  return skip_loop(out, std::move(left), std::move(in));
}

}  // namespace

const op_info skip_op{
    .name = "skip",
    .doc = "all but the first n elements; -1: none",
    .arguments = arguments_of<skip_arguments>,
    .type = same_type,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false},
              .size =
                  [](const node& n) {
                    std::int64_t skipped = n.as<skip_arguments>().elements;
                    return skipped < 0 ? cardinality::of(0) : cardinality_of(*n.inputs[0]).without(skipped);
                  },
              .seeks = seeks_with_inputs},
    .lowering = {.open = open_skip},
};

preserving skip(count_or_all elements) { return {skip_op, arguments::of(skip_arguments{elements})}; }

}  // namespace sluice::lib
