// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/interleave.hpp"

#include "ahead/open_channel.hpp"
#include "engine/inner/elements_of_lists.hpp"
#include "engine/inner/interleave_loop.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/types.hpp"
#include "op/interleave/sloppy_interleave.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

namespace {

/// Reads the outer elements of a parallel interleave one ahead. The stage then knows if it would have to wait for the
/// next one, and continues with the open datasets meanwhile.
erased_stream read_outer_ahead(const node& n, const open_context& context, erased_stream outer,
                               const inner_plans& inners) {
  const element_type& type = outer.type();
  channel_options options;
  options.limits = {1, 1};
  options.signal = inners.shared_signal();
  channel_memory memory = context.memory_of(n, "interleave's inputs");
  return open_channel(std::move(memory), std::move(outer), type, std::move(options)).out;
}

erased_stream open_interleave(const node& n, open_context& context) {
  auto& [inner, o] = n.as<interleave_arguments>();
  outlet out(*n.type);
  auto width = static_cast<std::uint32_t>(o.cycle_length.value);
  // With parallelism 1, with one input at a time, or with lists, no work ahead of the consumer is possible.
  bool parallel = o.parallelism.value != 1 && width > 1 && !lists_opened_by(inner);
  live_knob* parallelism = parallel ? &context.live(n, o.parallelism, context.tuned_parallelism()) : nullptr;
  const order delivered = context.order_of(o.order);
  inner_plans inners(n, inner, context, parallelism, delivered);
  erased_stream outer = context.open(n.inputs[0]);
  if (inners.parallel() && delivered == order::deterministic)
    outer = read_outer_ahead(n, context, std::move(outer), inners);
  if (delivered == order::sloppy) return sloppy_interleave(out, std::move(outer), std::move(inners), width);
  saved<cycle> c;
  return interleave_loop(out, std::move(c), std::move(outer), std::move(inners), width,
                         static_cast<std::uint64_t>(o.block_length.value));
}

const element_type* interleaved_type(const node& n, std::string& why) {
  static_assert(decltype(interleave_options::cycle_length)::kMost == cycle::kSlotsMax);
  return type_of_inner(n, n.as<interleave_arguments>().inner, why);
}

}  // namespace

const op_info interleave_op{
    .name = "interleave",
    .doc = "opens a dataset for each element and alternates between them",
    .arguments = arguments_of<interleave_arguments>,
    .type = interleaved_type,
    .spec = [](const node& n) { return spec_of_inner(n, n.as<interleave_arguments>().inner); },
    .facts = {.members = member_use::of_inner},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_interleave},
};

}  // namespace sluice::lib
