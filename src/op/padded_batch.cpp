// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/padded_batch.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "element/spec_parts.hpp"
#include "engine/batching/padded_rows.hpp"
#include "engine/batching/row_batches.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
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

/// Returns the part of a row at a path; null if its lengths may differ from those of the columns.
spec* part_at(spec& row, std::string_view path) {
  if (path == "it") return &row;
  spec* at = &row;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    auto name = std::find(at->names.begin(), at->names.end(), path.substr(begin, end - begin));
    if (name == at->names.end()) return nullptr;
    at = &at->parts[static_cast<std::size_t>(name - at->names.begin())];
    begin = end + 1;
  }
  return at;
}

/// Returns the spec of a batch. Lists and tensors have the lengths in `shapes`; other tensors have the shape that is
/// known of all.
spec padded_spec(const node& n) {
  auto& a = n.as<padded_batch_arguments>();
  spec row = same_spec(n);
  for (auto& [path, dims] : a.options.shapes) {
    spec* part = part_at(row, path);
    if (!part || (!part->any_shape && part->shape.size() != dims.size())) continue;
    if (part->any_shape) part->shape.assign(dims.size(), spec::kUnknown);
    part->any_shape = false;
    for (std::size_t k = 0; k != dims.size(); ++k)
      if (dims[k] >= 0) part->shape[k] = dims[k];
  }
  return spec_of_batch(std::move(row), a.options.drop_remainder ? a.size.value : spec::kUnknown);
}

}  // namespace

const op_info padded_batch_op{
    .name = "padded_batch",
    .doc = "n elements become one; lists and tensors are padded to the longest",
    .arguments = arguments_of<padded_batch_arguments>,
    .type = padded_type,
    .spec = padded_spec,
    .facts = {.always = {.outputs = output_count::one_per_group, .keeps_order = true},
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
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_padded_batch},
};

padded_batch_verb padded_batch(count size, padded_batch_options o) {
  return padded_batch_verb(arguments::of(padded_batch_arguments{std::move(size), std::move(o)}));
}

}  // namespace sluice::lib
