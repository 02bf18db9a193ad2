// SPDX-License-Identifier: Apache-2.0
#include "engine/stored/frozen_input.hpp"

#include <algorithm>

#include "sluice/base/random_bits.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

bool is_or_has_upstream(const node& n, bool (*is)(const node&)) {
  if (is(n)) return true;
  return std::ranges::any_of(n.inputs, [is](const node_ptr& input) { return is_or_has_upstream(*input, is); });
}

open_context of_first_epoch(const open_context& context) {
  open_context first = context;
  first.passes = context.outers;
  first.epoch = {};
  return first;
}

cache_key key_of_input(const node& input, const open_context& context) {
  const bool draws = is_or_has_upstream(input, [](const node& n) { return facts_of(n).draws; });
  const auto policy = static_cast<std::uint64_t>(context.on_error);
  const std::uint64_t order = context.order_given ? 1 + static_cast<std::uint64_t>(*context.order_given) : 0;
  return {.plan = fingerprint(input),
          .type = input.type,
          .drawn_in = draws ? derive(derive(context.scope, context.outers), context.combines) : 0,
          .seed = draws ? context.run->seed : 0,
          .settings = policy << 8 | order};
}

}  // namespace sluice::lib
