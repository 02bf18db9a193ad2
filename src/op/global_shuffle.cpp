// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/global_shuffle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/index_permutation.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/plain_stages.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {
namespace {

constexpr std::uint32_t kFetchedAtOnce = 1024;  // the number of elements for which the input is opened once

/// A requested element: its number in the input, and its place among the elements requested together.
struct wanted_element {
  std::uint64_t number = 0;
  std::uint32_t place = 0;
};

/// Fetches the elements of `wanted`, whose numbers ascend, into `found` in that order, up to the first that fails.
task<status> fetch_in_order(open_context context, node_ptr plan, const std::vector<wanted_element>& wanted,
                            slab& found) {
  erased_stream in = context.open(plan);
  const std::size_t element_bytes = in.type().size;
  char* to = found.reserve(wanted.size());
  for (std::size_t i = 0; i != wanted.size();) {
    std::size_t end = i + 1;  // the end of a run of consecutive numbers
    while (end != wanted.size() && wanted[end].number == wanted[end - 1].number + 1) ++end;
    demand d;
    d.skip = wanted[i].number - in.consumed();
    d.elements = static_cast<std::uint32_t>(end - i);
    auto b = co_await in.try_next_block(d);
    if (!b.why.ok()) co_return std::move(b.why);
    if (!b.view)
      co_return out_of_range_error("the input has " + std::to_string(in.consumed()) + " elements, and element " +
                                   std::to_string(wanted[i].number) +
                                   " was requested: the input is shorter than its plan declares");
    const std::uint32_t n = b.view.size();
    b.view.move_front(to + i * element_bytes, n);
    i += n;
    found.set_live(0, i);
  }
  co_return status();
}

/// Lists the elements of the places from `first` on, with ascending numbers. The numbers are spread evenly, so
/// distributing them by their highest bits almost sorts them.
void list_wanted(const index_permutation& order, std::uint64_t first, std::uint32_t n,
                 std::vector<wanted_element>& to) {
  std::array<std::uint64_t, kFetchedAtOnce> numbers;
  order.numbers(first, std::span(numbers.data(), n));
  const auto bits = static_cast<unsigned>(std::bit_width(order.size() - 1));
  const auto share_bits =
      std::min(bits, static_cast<unsigned>(std::bit_width(n - 1)));  // about as many buckets as elements
  const unsigned shift = bits - share_bits;
  std::array<std::uint32_t, kFetchedAtOnce + 1> begins{};
  for (std::uint32_t i = 0; i != n; ++i) ++begins[(numbers[i] >> shift) + 1];
  for (std::uint32_t i = 0; i != 1u << share_bits; ++i) begins[i + 1] += begins[i];
  to.resize(n);
  for (std::uint32_t i = 0; i != n; ++i) to[begins[numbers[i] >> shift]++] = {numbers[i], i};
  for (std::uint32_t i = 1; i < n; ++i) {
    const wanted_element x = to[i];
    std::uint32_t at = i;
    for (; at != 0 && to[at - 1].number > x.number; --at) to[at] = to[at - 1];
    to[at] = x;
  }
}

/// Moves the fetched elements to their places.
void put_in_place(slab& found, const std::vector<wanted_element>& wanted, char* to) {
  const element_type& t = found.type();
  char* from = found.begin();
  for (std::size_t i = 0; i != wanted.size(); ++i, from += t.size)
    t.relocate(t, to + wanted[i].place * t.size, from, 1, t.size, t.size);
  found.set_live(0, 0);
}

/// The loop for a source that builds elements by their numbers, in any order.
erased_stream picking_loop(outlet out, saved<std::uint64_t> delivered, node_ptr source, index_permutation order) {
  const std::uint64_t total = order.size();
  std::array<std::uint64_t, kFetchedAtOnce> numbers;
  while (*delivered < total) {
    *delivered += out.pass(total - *delivered);
    const std::uint32_t n = std::min(out.wanted_of(total - *delivered), kFetchedAtOnce);
    if (n == 0) break;
    order.numbers(*delivered, std::span(numbers.data(), n));
    source->op->lowering.pick(*source, std::span(numbers.data(), n), out.room(n));
    *delivered += n;
    co_yield out.made(n);
  }
}

// If one of several elements cannot be built, they are requested one by one, so that the elements before it, in this
// stage's order, are delivered.
erased_stream global_shuffle_loop(outlet out, saved<std::uint64_t> delivered, node_ptr plan, open_context context,
                                  index_permutation order, error_gate gate) {
  const element_type& type = out.type();
  const std::uint64_t total = order.size();
  block_fit fit(type, true);
  slab found(type);
  std::vector<wanted_element> wanted;
  std::uint64_t one_by_one = 0;  // the number of elements to request alone
  while (*delivered < total) {
    // Only building elements shows which of them are bad, so they are not skipped if bad ones are dropped.
    if (!gate.skips()) *delivered += out.pass(total - *delivered);
    const std::uint64_t left = total - *delivered;
    const std::uint32_t ask = std::min({gate.skips() ? out.ask() : out.wanted(), kFetchedAtOnce,
                                        static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kFetchedAtOnce))});
    const std::uint32_t n = one_by_one ? 1 : fit.at_most(ask);
    if (left == 0) break;
    list_wanted(order, *delivered, n, wanted);
    auto fetching = fetch_in_order(context, plan, wanted, found);
    status why = co_await fetching;
    if (!why.ok() && n > 1 && why.code() != status_code::cancelled) {
      one_by_one = n;
      continue;
    }
    if (one_by_one) --one_by_one;
    if (!why.ok()) {
      auto settled = gate.settle(out, why, wanted[0].number);
      co_await settled;
      ++*delivered;
      continue;
    }
    put_in_place(found, wanted, out.room(n));
    *delivered += n;
    block made = out.made(n);
    fit.made(made, out.wanted_bytes());
    co_yield made;
  }
}

erased_stream open_global_shuffle(const node& n, open_context& context) {
  auto& o = n.as<global_shuffle_arguments>().options;
  outlet out(*n.type);
  const auto total = static_cast<std::uint64_t>(cardinality_of(*n.inputs[0]).elements);
  if (total == 0) return empty_stage(out);
  const index_permutation order(total, context.seed_of(n, o.seed.value, !o.reshuffle_each_iteration));
  saved<std::uint64_t> delivered;
  if (n.inputs[0]->op->lowering.pick) return picking_loop(out, std::move(delivered), n.inputs[0], order);
  open_context inner = context;
  inner.on_demand = true;
  inner.on_error = error_policy::stop;  // this stage handles bad elements, because only it knows their places
  inner.account = nullptr;
  return global_shuffle_loop(out, std::move(delivered), n.inputs[0], std::move(inner), order, context.gate(n));
}

const element_type* globally_shuffled_type(const node& n, std::string& why) {
  cardinality there = cardinality_of(*n.inputs[0]);
  status seeks = why_not_seekable(*n.inputs[0]);
  if (!seeks.ok() && seeks.code() != status_code::failed_precondition) throw_status(std::move(seeks));
  if (!seeks.ok()) return why = "the input cannot seek: " + std::string(seeks.message()), nullptr;
  if (there.kind == cardinality::infinite) return why = "the input never ends: limit it with take(n)", nullptr;
  if (there.is_most()) return why = "the input has more elements than can be counted: limit it with take(n)", nullptr;
  if (there.kind != cardinality::exact)
    return why = "the input's number of elements is unknown: declare it with assert_cardinality(n)", nullptr;
  return same_type(n, why);
}

}  // namespace

const op_info global_shuffle_op{
    .name = "global_shuffle",
    .doc = "a random order of all elements, without a buffer",
    .arguments = arguments_of<global_shuffle_arguments>,
    .type = globally_shuffled_type,
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::one_per_input, .forwards = true, .draws = true, .may_fail = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .rows = [](const node& n) { return row_cardinality_of(*n.inputs[0]); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_global_shuffle,
                 .state_version = 1,  // 0: another order
                 .state_version_oldest = 1},
};

preserving global_shuffle(global_shuffle_options o) {
  return {global_shuffle_op, arguments::of(global_shuffle_arguments{o})};
}

}  // namespace sluice::lib
