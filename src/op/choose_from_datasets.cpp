// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/choose_from_datasets.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "expr/functions/numbers.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/detail/input_set.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// Returns how many of the n numbers from `first` on equal the first one, without a gap.
std::uint32_t run_of(const std::int64_t* first, std::uint32_t n) {
  return static_cast<std::uint32_t>(std::find_if(first + 1, first + n, [&](std::int64_t x) { return x != *first; }) -
                                    first);
}

// The last input is the selector. The stage waits for a chosen element only if no other is ready.
erased_stream choose_loop(outlet out, saved<bool> ended, input_set in, bool stop_on_empty, error_gate gate) {
  erased_stream& selector = in[in.size() - 1];
  const std::size_t element_bytes = out.type().size;
  // The number of datasets that are not known to have ended. The stage ends with the last of them, even if the selector
  // continues. A resumed stage asks them again.
  std::size_t left = in.size() - 1;
  std::unique_ptr<bool[]> gone(new bool[left]());
  while (!*ended) {
    bool more = co_await selector.ready({0, out.ask()});
    if (!more) break;
    const std::uint32_t most = std::min(selector.left(), out.ask());
    char* to = out.room(most);
    std::uint32_t made = 0, looked = 0;
    while (looked != most) {
      const auto* chosen = selector.peek().as<std::int64_t>();
      if (*chosen < 0 || static_cast<std::uint64_t>(*chosen) >= in.size() - 1) {
        if (made) break;
        status why = invalid_argument_error("the selector gives " + std::to_string(*chosen) + ", and of " +
                                            std::to_string(in.size() - 1) + " datasets the numbers are 0 to " +
                                            std::to_string(in.size() - 2));
        auto settled = gate.settle(out, why, selector.consumed());
        co_await settled;
        selector.drop(1);
        ++looked;
        continue;
      }
      erased_stream& from = in[static_cast<std::size_t>(*chosen)];
      if (from.left() == 0) {
        if (made) break;
        // Counts how often this block of the selector chooses the dataset.
        auto wanted = static_cast<std::uint32_t>(std::count(chosen, chosen + (most - looked), *chosen));
        bool there = co_await from.ready({0, wanted, out.wanted_bytes()});
        if (!there) {
          bool& is_known = gone[static_cast<std::size_t>(*chosen)];
          left -= !std::exchange(is_known, true);
          *ended = stop_on_empty || left == 0;
          if (*ended) break;
          selector.drop(1);
          ++looked;
          continue;
        }
      }
      const std::uint32_t n = std::min(run_of(chosen, most - looked), from.left());
      from.move_to(to + made * element_bytes, n);
      selector.drop(n);
      made += n;
      looked += n;
    }
    if (made) co_yield out.made(made);
  }
}

erased_stream open_choose(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<bool> ended;
  return choose_loop(out, std::move(ended), context.open_inputs(n),
                     n.as<choose_from_datasets_arguments>().options.stop_on_empty_dataset, context.gate(n));
}

const element_type* chosen_type(const node& n, std::string& why) {
  const element_type* selector = n.inputs.back()->type;
  if (selector != &type_of<std::int64_t>()) {
    why = "the selector, its last input, must give int64, and gives " + selector->name;
    if (expressions::is_integer(expressions::number_of(*selector))) why += "; put `| map(int64(it))` after it";
    return nullptr;
  }
  return type_of_inputs(n, n.inputs.size() - 1, why);
}

/// Returns the number of the selector's elements, which is exact if no dataset ends.
cardinality chosen_size(const node& n) {
  for (std::size_t i = 0; i + 1 != n.inputs.size(); ++i)
    if (cardinality_of(*n.inputs[i]).kind != cardinality::infinite) return {};
  return cardinality_of(*n.inputs.back());
}

}  // namespace

const op_info choose_from_datasets_op{
    .name = "choose_from_datasets",
    .doc = "the next element of the dataset that a selector chooses",
    .shape = op_info::combine,
    .arguments = arguments_of<choose_from_datasets_arguments>,
    .inputs_behind_list = 1,
    .type = chosen_type,
    .spec = [](const node& n) { return spec_of_inputs(n, n.inputs.size() - 1); },
    .facts = {.always = {.forwards = true}, .size = chosen_size},
    .splits = {.rule = split_rule::together, .local_inputs = 1},
    .lowering = {.open = open_choose},
};

node_ptr chosen_from(std::vector<node_ptr> datasets, const node_ptr& selector, choose_from_datasets_options o) {
  datasets.push_back(selector);
  return make_combine(choose_from_datasets_op, arguments::of(choose_from_datasets_arguments{o}), std::move(datasets));
}

}  // namespace sluice::lib
