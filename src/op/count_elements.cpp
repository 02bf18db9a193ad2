// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/count_elements.hpp"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

constexpr auto kCountMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// A position records whether the number was delivered: while elements are skipped, the stage is never at rest.
erased_stream count_elements_loop(outlet out, saved<bool> delivered, erased_stream in, error_gate gate) {
  if (!*delivered && out.pass(1) == 0) {
    for (bool ended = false; !ended;) {
      auto b = co_await in.next_block({demand::kAll, 1, out.wanted_bytes()});
      ended = !b;
      if (in.consumed() <= kCountMax) continue;  // one request skips fewer elements than could overflow the sum
      status why = out_of_range_error("the input has more elements than an int64 counts: " + std::to_string(kCountMax));
      status located = gate.located(why);
      co_await fail(std::move(located));
    }
    const auto n = static_cast<std::int64_t>(in.consumed());
    std::memcpy(out.room(1), &n, sizeof n);
    *delivered = true;
    co_yield out.made(1);
  }
  *delivered = true;
}

erased_stream open_count_elements(const node& n, open_context& context) {
  outlet out(*n.type);
  return count_elements_loop(out, saved<bool>(), context.open(n.inputs[0]), context.gate(n));
}

const element_type* counted_type(const node& n, std::string& why) {
  if (cardinality_of(*n.inputs[0]).kind != cardinality::infinite) return &type_of<std::int64_t>();
  return why = "the input never ends, so it has no number of elements", nullptr;
}

}  // namespace

const op_info count_elements_op{
    .name = "count_elements",
    .doc = "the number of elements",
    .type = counted_type,
    .facts = {.size = [](const node&) { return cardinality::of(1); }, .members = member_use::read},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_count_elements},
};

verb<detail::element_count> count_elements() { return {count_elements_op, arguments::of(no_arguments{})}; }

}  // namespace sluice::lib
