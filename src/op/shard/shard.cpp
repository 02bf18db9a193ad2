// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/shard.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "op/shard/shard_rest.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// A number as `plain` reads it, or the word hint.
class or_hint_codec final : public codec {
 public:
  explicit or_hint_codec(const codec& plain) : plain_(plain) {}
  void print(const void* field, printer& to) const override {
    if (get(field).is_hint()) to.word("hint");
    else plain_.print(field, to);
  }
  void read(void* field, const argument& a, reading& r) const override {
    if (a.text == "hint") *static_cast<shard_count*>(field) = hint;
    else plain_.read(field, a, r);
  }
  std::string check(const void* field) const override { return get(field).is_hint() ? "" : plain_.check(field); }
  bool is_missing(const void* field) const override { return plain_.is_missing(field); }
  bool equal(const void* a, const void* b) const override { return get(a).value == get(b).value; }
  std::string type_name() const override { return plain_.type_name() + " or hint"; }

 private:
  static const shard_count& get(const void* field) { return *static_cast<const shard_count*>(field); }
  const codec& plain_;
};

}  // namespace

template <> const codec& codec_of<shard_count>() {
  static const or_hint_codec c(codec_of<count>());
  return c;
}
template <> const codec& codec_of<shard_index>() {
  static const or_hint_codec c(codec_of<integer>());
  return c;
}

namespace {

/// The largest useful number of shards: no stream has more elements. Sums of two such numbers stay below 2⁶⁴.
constexpr std::int64_t kShardsMax = static_cast<std::int64_t>(demand::kAll);

/// The number of shards, the number of this one, and the elements that an earlier run with other shards has delivered.
struct own_part {
  // Without such elements the record is optional: versions of sluice without this state wrote none for shard(1, 0).
  static constexpr bool kHoldsNothing = true;
  std::uint64_t shards = 1, index = 0;
  shard_rest rest = {};

  void save(position_writer& w) const { rest.save(w); }
  void load(position_reader& r) { rest.load(r); }
};

/// The elements skipped before the shard's next element: first inputs of other shards, then this shard's elements that
/// the consumer skips.
struct passing {
  std::uint64_t start, passed = 0, inputs = 0;
  bool is_regular;  ///< the elements that follow are at equal distances

  passing(outlet& out, const erased_stream& in, const own_part& part) : start(in.consumed()) {
    const std::uint64_t first = part.rest.next(start, part.shards, part.index);
    is_regular = first >= part.rest.tail();
    passed = out.pass(is_regular ? demand::kAll / 2 / part.shards : 1);
    inputs = first - start + passed * part.shards;
    if (!is_regular && passed) inputs = part.rest.next(first + 1, part.shards, part.index) - start;
  }
  /// Corrects the numbers after the input has ended.
  void give_back(outlet& out, const erased_stream& in, const own_part& part) const {
    const std::uint64_t existed = inputs - (inputs ? in.skip_left() : 0);
    out.unpass(passed - std::min(passed, part.rest.count(start, start + existed, part.shards, part.index)));
  }
};

erased_stream shard_loop(outlet out, saved<own_part> part, erased_stream in) {
  for (;;) {
    const passing over(out, in, *part);
    const bool is_whole = over.is_regular && part->shards == 1;
    const std::uint32_t wanted = is_whole ? out.wanted() : 1;
    auto b = co_await in.next_block({over.inputs, wanted, out.wanted_bytes()});
    if (!b) {
      over.give_back(out, in, *part);
      break;
    }
    co_yield b;
  }
}

/// Up to this stride, it costs less to build a source's numbers and use each n-th than to skip.
constexpr std::uint64_t kStrideMax = 32;
constexpr std::uint32_t kStridedBytesMax = 16, kStridedAtOnce = 256;

bool are_free(const node& source) {
  const element_type& t = *source.type;
  return source.op->shape == op_info::source && t.kind == kind::scalar && t.size <= kStridedBytesMax &&
         source.op->facts.seeks && source.op->facts.seeks(source);
}

erased_stream strided_loop(outlet out, saved<own_part> part, erased_stream in) {
  const std::size_t size = out.type().size;
  const std::uint64_t shards = part->shards;
  in.may_go_back();  // marks may be due while a part of a view is left
  for (;;) {
    const passing over(out, in, *part);
    const std::uint32_t wanted = over.is_regular ? std::min(out.wanted(), kStridedAtOnce) : 1;
    bool more = co_await in.ready({over.inputs, static_cast<std::uint32_t>((wanted - 1) * shards + 1)});
    if (!more) {
      over.give_back(out, in, *part);
      break;
    }
    const std::uint32_t there = in.left();
    const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>((there - 1) / shards + 1, wanted));
    char* to = out.room(taken);
    const char* from = in.peek().data();
    for (std::uint32_t i = 0; i != taken; ++i, to += size, from += shards * size) std::memcpy(to, from, size);
    in.drop(static_cast<std::uint32_t>((taken - 1) * shards + 1));
    co_yield out.made(taken);
  }
}

erased_stream open_shard(const node& n, open_context& context) {
  auto& a = n.as<shard_arguments>();
  if (a.shards.is_hint())
    throw error(
        failed_precondition_error("shard(hint, hint) has numbers on workers only: run the plan with "
                                  "distribute(mode=hint), or write the numbers"));
  erased_stream in = context.open(n.inputs[0]);
  outlet out(*n.type);
  const auto shards = static_cast<std::uint64_t>(std::min(a.shards.value, kShardsMax));
  const auto index = static_cast<std::uint64_t>(std::min(a.index.value, kShardsMax - 1));
  saved<own_part> part({shards, index, {}});
  if (shards > 1 && shards <= kStrideMax && are_free(*n.inputs[0]))
    return strided_loop(out, std::move(part), std::move(in));
  return shard_loop(out, std::move(part), std::move(in));
}

const element_type* sharded_type(const node& n, std::string& why) {
  auto& a = n.as<shard_arguments>();
  if (a.shards.is_hint() != a.index.is_hint()) {
    why = "both arguments are hint, or none is: write shard(hint, hint)";
    return nullptr;
  }
  if (a.shards.is_hint()) return same_type(n, why);
  if (a.index.value >= 0 && a.index.value < a.shards.value) return same_type(n, why);
  why = "of " + std::to_string(a.shards.value) + " shards the indices are 0 to " + std::to_string(a.shards.value - 1) +
        ", and index is " + std::to_string(a.index.value);
  return nullptr;
}

}  // namespace

const op_info shard_op{
    .name = "shard",
    .doc = "one of n parts: every n-th element",
    .arguments = arguments_of<shard_arguments>,
    .type = sharded_type,
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false,
                         .skips_inputs = true},
              .size =
                  [](const node& n) {
                    auto& a = n.as<shard_arguments>();
                    if (a.shards.is_hint()) return cardinality();
                    return cardinality_of(*n.inputs[0]).without(a.index.value).in_groups(a.shards.value, false);
                  },
              .seeks = [](const node& n) { return !n.as<shard_arguments>().shards.is_hint() && seeks_with_inputs(n); },
              .members = member_use::passed},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_shard},
};

preserving shard(shard_count shards, shard_index index) {
  return {shard_op, arguments::of(shard_arguments{shards, index})};
}

}  // namespace sluice::lib
