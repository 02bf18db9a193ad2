// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/counter.hpp"

#include "base/count_up.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

erased_stream counter_loop(outlet out, saved<std::uint64_t> made, std::uint64_t start, std::uint64_t step) {
  for (;;) {
    *made += out.pass(demand::kAll);
    const std::uint32_t n = out.wanted();
    count_up(reinterpret_cast<std::int64_t*>(out.room(n)), n, start + *made * step, step);
    *made += n;
    co_yield out.made(n);
  }
}

erased_stream open_counter(const node& n, open_context&) {
  outlet out(*n.type);
  saved<std::uint64_t> made;
  auto& o = n.as<counter_arguments>().options;
  return counter_loop(out, std::move(made), static_cast<std::uint64_t>(o.start), static_cast<std::uint64_t>(o.step));
}

}  // namespace

const op_info counter_op{
    .name = "counter",
    .doc = "whole numbers, without end",
    .shape = op_info::source,
    .arguments = arguments_of<counter_arguments>,
    .type = [](const node&, std::string&) -> const element_type* { return &type_of<std::int64_t>(); },
    .facts = {.always = {.may_fail = false},
              .size = [](const node&) { return cardinality::forever(); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::numbered},
    .lowering = {.open = open_counter},
};

dataset<std::int64_t> counter(counter_options o) {
  return dataset<std::int64_t>(make_source(counter_op, arguments::of(counter_arguments{o})));
}

}  // namespace sluice::lib
