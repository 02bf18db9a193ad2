// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/padded_batch.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/open_context.hpp"
#include "engine/padded_rows.hpp"
#include "engine/row_batches.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

std::vector<padded_member> members_of(const node& n, std::string& why) {
  auto& o = n.as<padded_batch_arguments>().options;
  return padded_members(*n.inputs[0]->type, o.shapes, o.values, why);
}

erased_stream open_padded_batch(const node& n, open_context& context) {
  auto& a = n.as<padded_batch_arguments>();
  outlet out(*n.type);
  std::string why;
  std::vector<padded_member> members = members_of(n, why);
  erased_stream in = context.open(n.inputs[0]);
  auto maker = std::make_unique<padded_batch_maker>(*n.inputs[0]->type, std::move(members));
  return row_batches_loop(out, std::move(in), std::move(maker), static_cast<std::uint64_t>(a.size.value),
                          a.options.drop_remainder, context.run, context.gate(n));
}

const element_type* padded_type(const node& n, std::string& why) {
  members_of(n, why);
  return why.empty() ? type_of_batch(*n.inputs[0]->type, why) : nullptr;
}

}  // namespace

const op_info padded_batch_op{
    .name = "padded_batch",
    .doc = "n elements become one, lists and tensors as long as the longest",
    .arguments = arguments_of<padded_batch_arguments>,
    .type = padded_type,
    .open = open_padded_batch,
    .size =
        [](const node& n) {
          auto& a = n.as<padded_batch_arguments>();
          return cardinality_of(*n.inputs[0]).in_groups(a.size, a.options.drop_remainder);
        },
    .rows =
        [](const node& n) {
          auto& a = n.as<padded_batch_arguments>();
          return rows_in_batches(n, a.size, a.options.drop_remainder);
        },
    .seeks = seeks_with_inputs,
};

padded_batch_verb padded_batch(count size, padded_batch_options o) {
  return padded_batch_verb(arguments::of(padded_batch_arguments{std::move(size), std::move(o)}));
}

}  // namespace sluice::lib
