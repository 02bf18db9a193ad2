// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/prefetch.hpp"

#include "ahead/open_channel.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// The initial limit of an autotuned prefetch: blocks of at most 100 µs of work each. They cover a consumer's jitter;
/// the ledger limits the bytes.
constexpr std::uint32_t kSlots = 8;
constexpr std::int64_t kElements = kSlots * std::int64_t{block_size::kElementsMax};

/// Returns the number of blocks that this number of elements fills, but at least as many as avoid gaps if blocks take
/// long to build.
slot_supply::limits tuned_limits(std::int64_t elements) {
  return {static_cast<std::uint32_t>(std::max<std::int64_t>(elements / block_size::kElementsMax, kSlots)),
          static_cast<std::uint64_t>(elements)};
}
/// Returns limits for this number of elements, whatever the size of the blocks.
slot_supply::limits given_limits(std::int64_t elements) {
  return {static_cast<std::uint32_t>(std::min<std::int64_t>(elements, 1 << 16)), static_cast<std::uint64_t>(elements)};
}

erased_stream open_prefetch(const node& n, open_context& context) {
  const knob& elements = n.as<prefetch_arguments>().elements;
  erased_stream in = context.open(n.inputs[0]);
  if (context.on_demand) return in;
  channel_options options;
  options.follows = {&context.live(n, elements, kElements), elements.is_autotuned() ? tuned_limits : given_limits};
  options.direct_where_light = true;
  return open_channel(context.memory_of(n, "prefetch"), std::move(in), *n.type, std::move(options)).out;
}

}  // namespace

const op_info prefetch_op{
    .name = "prefetch",
    .doc = "work ahead of the consumer, by up to n elements",
    .arguments = arguments_of<prefetch_arguments>,
    .type = same_type,
    .facts = {.always = {.outputs = output_count::one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false,
                         .has_record = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .rows = [](const node& n) { return row_cardinality_of(*n.inputs[0]); },
              .seeks = seeks_with_inputs,
              .members = member_use::passed},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_prefetch},
};

preserving prefetch(knob elements) { return {prefetch_op, arguments::of(prefetch_arguments{elements})}; }

}  // namespace sluice::lib
