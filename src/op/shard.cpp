// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/shard.hpp"

#include <algorithm>
#include <string>

#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {
namespace {

/// Products with a stream's elements stay below 2⁶⁴.
constexpr std::int64_t kShardsMax = std::int64_t{1} << 40;

erased_stream shard_loop(outlet out, erased_stream in, std::uint64_t shards, std::uint64_t index) {
  for (;;) {
    // Inputs in front of the next one of ours, then those of the elements that the consumer passes over.
    const std::uint64_t gap = (index + shards - in.consumed() % shards) % shards;
    const std::uint64_t passed = out.pass(demand::kAll / 2 / shards);
    const std::uint64_t skipped = gap + passed * shards;
    auto b = co_await in.next_block({.skip = skipped, .elements = 1});
    if (!b) {
      const std::uint64_t existed = skipped - (skipped ? in.skip_left() : 0);
      out.unpass(passed - (existed > gap ? (existed - gap + shards - 1) / shards : 0));
      break;
    }
    co_yield b;
  }
}

erased_stream open_shard(const node& n, open_context& context) {
  auto& a = n.as<shard_arguments>();
  erased_stream in = context.open(n.inputs[0]);
  if (a.shards == 1) return in;
  outlet out(*n.type);
  return shard_loop(out, std::move(in), static_cast<std::uint64_t>(a.shards.value),
                    static_cast<std::uint64_t>(a.index.value));
}

const element_type* sharded_type(const node& n, std::string& why) {
  auto& a = n.as<shard_arguments>();
  if (a.index.value >= 0 && a.index.value < a.shards.value && a.shards.value < kShardsMax) return same_type(n, why);
  if (a.shards.value >= kShardsMax) why = "there are more shards than any input has elements";
  else
    why = "of " + std::to_string(a.shards.value) + " shards the indices are 0 to " +
          std::to_string(a.shards.value - 1) + ", and index is " + std::to_string(a.index.value);
  return nullptr;
}

}  // namespace

const op_info shard_op{
    .name = "shard",
    .doc = "one of n parts, which takes each n-th element",
    .arguments = arguments_of<shard_arguments>,
    .type = sharded_type,
    .open = open_shard,
    .size =
        [](const node& n) {
          auto& a = n.as<shard_arguments>();
          return cardinality_of(*n.inputs[0]).without(a.index.value).in_groups(a.shards.value, false);
        },
    .seeks = seeks_with_inputs,
    .only_drops = true,
};

preserving shard(count shards, integer index) { return {shard_op, arguments::of(shard_arguments{shards, index})}; }

}  // namespace sluice::lib
