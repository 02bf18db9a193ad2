// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/batch_by_tokens.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/batching/key_lengths.hpp"
#include "engine/batching/padded_rows.hpp"
#include "engine/batching/sized_batches.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

class tokens_measure final : public element_measure {
 public:
  explicit tokens_measure(function_ptr length)
      : length_(std::move(length)), is_signed_(is_signed_number(*length_->out)) {}

  applied measure(const block& in, std::vector<std::uint64_t>& sizes) override {
    codes_.clear();
    applied a = static_cast<const key_function&>(*length_).codes(in, codes_);
    for (std::size_t i = 0; i != codes_.size(); ++i) {
      const std::int64_t tokens = number_of_code(codes_[i], is_signed_);
      if (tokens < 0) return {static_cast<std::uint32_t>(i), negative_length(tokens)};
      sizes.push_back(static_cast<std::uint64_t>(tokens));
    }
    return a;
  }

 private:
  const function_ptr length_;
  const bool is_signed_;
  key_codes codes_;
};

std::vector<padded_member> padded_by(const node& n, std::string& why) {
  auto& o = n.as<batch_by_tokens_arguments>().options;
  if (!o.padded) return {};
  return padded_members(*n.inputs[0]->type, {}, o.values, why);
}

erased_stream open_batch_by_tokens(const node& n, open_context& context) {
  auto& a = n.as<batch_by_tokens_arguments>();
  const batch_by_tokens_options& o = a.options;
  outlet out(*n.type);
  batch_budget budget;
  budget.size = static_cast<std::uint64_t>(a.tokens_max.value);
  if (o.rows_max) budget.rows = static_cast<std::uint64_t>(o.rows_max->value);
  budget.counts_longest = o.padded;
  budget.drop_remainder = o.drop_remainder;
  budget.takes_oversized = o.oversized == oversized::alone;
  budget.unit = "tokens";
  std::string why;
  auto maker = std::make_unique<padded_batch_maker>(*n.inputs[0]->type, padded_by(n, why));
  erased_stream in = context.open(n.inputs[0]);
  return sized_batches_loop(out, std::move(in), std::make_unique<tokens_measure>(a.length.value), std::move(maker),
                            std::move(budget), context.run, context.gate(n));
}

const element_type* type_by_tokens(const node& n, std::string& why) {
  auto& a = n.as<batch_by_tokens_arguments>();
  type_of_function(n, a.length.value, why);
  if (why.empty()) why = length_mistake(a.length.value);
  if (why.empty() && a.options.oversized == oversized::truncate)
    why = "oversized is refuse or alone: an element cannot be truncated to tokens_max";
  if (why.empty() && !a.options.padded && !a.options.values.empty()) why = "values go with padded=true";
  if (why.empty()) padded_by(n, why);
  return why.empty() ? type_of_batch(*n.inputs[0]->type, why) : nullptr;
}

}  // namespace

const op_info batch_by_tokens_op{
    .name = "batch_by_tokens",
    .doc = "batches up to a number of tokens",
    .arguments = arguments_of<batch_by_tokens_arguments>,
    .type = type_by_tokens,
    .spec = [](const node& n) { return spec_of_batches(n, 1, false); },
    .facts = {.always = {.outputs = output_count::one_per_group, .keeps_order = true},
              .size = batches_of_any_size,
              .rows =
                  [](const node& n) {
                    bool all = !n.as<batch_by_tokens_arguments>().options.drop_remainder;
                    return all ? cardinality_of(*n.inputs[0]) : cardinality();
                  }},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_batch_by_tokens},
};

}  // namespace sluice::lib
