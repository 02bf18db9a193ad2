// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/batch_by_bytes.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "element/content_bytes.hpp"
#include "engine/batching/sized_batches.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

class bytes_measure final : public element_measure {
 public:
  applied measure(const block& in, std::vector<std::uint64_t>& sizes) override {
    for (std::uint32_t i = 0; i != in.size(); ++i) sizes.push_back(content_bytes(in.type(), in.at(i)));
    return {in.size(), {}};
  }
};

erased_stream open_batch_by_bytes(const node& n, open_context& context) {
  auto& [bytes_max, o] = n.as<batch_by_bytes_arguments>();
  outlet out(*n.type);
  batch_budget budget;
  budget.size = static_cast<std::uint64_t>(bytes_max.value);
  if (o.rows_max) budget.rows = static_cast<std::uint64_t>(o.rows_max->value);
  budget.drop_remainder = o.drop_remainder;
  budget.takes_oversized = o.oversized == oversized::alone;
  budget.unit = "bytes";
  erased_stream in = context.open(n.inputs[0]);
  return sized_batches_loop(out, std::move(in), std::make_unique<bytes_measure>(),
                            std::make_unique<batch_maker>(*n.inputs[0]->type), std::move(budget), context.run,
                            context.gate(n));
}

const element_type* type_by_bytes(const node& n, std::string& why) {
  auto& [bytes_max, o] = n.as<batch_by_bytes_arguments>();
  if (bytes_max.value < 1)
    return why = "bytes_max must be at least 1, and is " + std::to_string(bytes_max.value), nullptr;
  if (o.oversized == oversized::truncate)
    return why = "oversized is refuse or alone: an element cannot be truncated to bytes_max", nullptr;
  return type_of_batch(*n.inputs[0]->type, why);
}

}  // namespace

const op_info batch_by_bytes_op{
    .name = "batch_by_bytes",
    .doc = "batches up to a number of bytes",
    .arguments = arguments_of<batch_by_bytes_arguments>,
    .type = type_by_bytes,
    .spec = [](const node& n) { return spec_of_batches(n, 1, false); },
    .facts = {.always = {.outputs = output_count::one_per_group, .keeps_order = true},
              .size = batches_of_any_size,
              .rows =
                  [](const node& n) {
                    bool all = !n.as<batch_by_bytes_arguments>().options.drop_remainder;
                    return all ? cardinality_of(*n.inputs[0]) : cardinality();
                  }},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_batch_by_bytes},
};

batch_by_bytes_verb batch_by_bytes(byte_size bytes_max, batch_by_bytes_options o) {
  return batch_by_bytes_verb(batch_by_bytes_arguments{bytes_max, o});
}

}  // namespace sluice::lib
