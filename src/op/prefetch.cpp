// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/prefetch.hpp"

#include "ahead/ordered_reader.hpp"
#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// What autotune starts with: blocks, of at most 100 µs of work each. Enough to ride out a consumer's jitter; the
/// ledger limits the bytes.
constexpr std::uint32_t kSlots = 8;

erased_stream open_prefetch(const node& n, open_context& context) {
  knob elements = n.as<prefetch_arguments>().elements;
  erased_stream in = context.open(n.inputs[0]);
  outlet out(*n.type);
  slot_supply::limits limits{kSlots};
  if (!elements.is_autotuned()) {
    limits.elements = static_cast<std::uint64_t>(elements.value);
    limits.slots = static_cast<std::uint32_t>(std::min<std::int64_t>(elements.value, 1 << 16));
  }
  auto link = std::make_shared<reader_link>(context.run, context.memory_of(n, "prefetch"), std::move(in), *n.type,
                                            limits, pump_options());
  return read_ahead(out, std::move(link));
}

}  // namespace

extern const op_info prefetch_op{
    .name = "prefetch",
    .doc = "work ahead of the consumer, by up to n elements",
    .arguments = arguments_of<prefetch_arguments>,
    .type = same_type,
    .open = open_prefetch,
    .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
};

preserving prefetch(knob elements) { return {"prefetch", arguments::of(prefetch_arguments{elements})}; }

}  // namespace sluice::lib
