// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/random.hpp"

#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

erased_stream random_loop(outlet out, saved<std::uint64_t> made, std::uint64_t seed, std::uint64_t below) {
  for (;;) {
    *made += out.pass(demand::kAll);
    const std::uint32_t n = out.wanted();
    auto* to = reinterpret_cast<std::int64_t*>(out.room(n));
    for (std::uint32_t i = 0; i != n; ++i) to[i] = static_cast<std::int64_t>(draw(seed, *made + i, below));
    *made += n;
    co_yield out.made(n);
  }
}

erased_stream open_random(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<std::uint64_t> made;
  auto& o = n.as<random_arguments>().options;
  const std::uint64_t seed = context.seed_of(n, o.seed.value, !o.reshuffle_each_iteration);
  return random_loop(out, std::move(made), seed, static_cast<std::uint64_t>(o.below));
}

const element_type* random_type(const node& n, std::string& why) {
  if (n.as<random_arguments>().options.below < 1) return why = "below must be at least 1", nullptr;
  return &type_of<std::int64_t>();
}

}  // namespace

const op_info random_op{
    .name = "random",
    .doc = "random whole numbers, without end",
    .shape = op_info::source,
    .arguments = arguments_of<random_arguments>,
    .type = random_type,
    .facts = {.always = {.draws = true, .may_fail = false},
              .size = [](const node&) { return cardinality::forever(); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::numbered},
    // Version 0 drew other numbers from the same seed.
    .lowering = {.open = open_random, .state_version = 1, .state_version_oldest = 1},
};

dataset<std::int64_t> random(random_options o) {
  return dataset<std::int64_t>(make_source(random_op, arguments::of(random_arguments{o})));
}

}  // namespace sluice::lib
