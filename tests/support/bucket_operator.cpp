// SPDX-License-Identifier: Apache-2.0
#include "support/bucket_operator.hpp"

#include <deque>
#include <vector>

#include "engine/held/held_elements.hpp"
#include "engine/held/held_ordinals.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib::test {
namespace {

struct bucket_arguments {
  function_arg<bucket_key> key = {};
  count buckets = {};
  count size = {};
};

struct bucket_state {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  std::vector<held_ordinals> ordinals;  ///< of each bucket
  std::uint64_t next = 0;               ///< the element that comes in next
  std::uint64_t leaving = kNone;        ///< the bucket that is being given out

  void save(position_writer& w) {
    w.number(next);
    w.number(leaving + 1);
    w.number(ordinals.size());
    for (const held_ordinals& o : ordinals) o.save(w);
  }
  void load(position_reader& r) {
    next = r.number();
    leaving = r.number() - 1;
    ordinals.assign(r.count(), {});
    for (held_ordinals& o : ordinals) o.load(r);
  }
  std::uint64_t oldest() const {
    std::uint64_t lowest = next;
    for (const held_ordinals& o : ordinals)
      if (o.size()) lowest = std::min(lowest, o.at(0));
    return lowest;
  }
};

task<void> fetch_buckets(erased_stream& in, bucket_state& state, std::deque<held_elements>& held, held_memory& memory) {
  std::vector<ordinals_fetch::part> parts;
  for (std::size_t i = 0; i != held.size(); ++i) parts.push_back({&state.ordinals[i], &held[i]});
  ordinals_fetch list(std::move(parts), state.next);
  status fits = list.make_places();
  if (!fits.ok()) co_await fail(std::move(fits));
  auto fetching = fetch_held(in, list, memory);
  co_await fetching;
  list.all_built();
}

erased_stream bucket_loop(outlet out, saved<bucket_state> state, erased_stream in,
                          std::shared_ptr<const bucket_key> key, std::uint64_t buckets, std::uint64_t size,
                          std::shared_ptr<run_context> run, error_gate gate) {
  in.hold_from(in.consumed());
  held_memory memory(std::move(run), gate.line(purpose::window), gate.label(), "the buckets", "lower their size");
  std::deque<held_elements> held;
  for (std::uint64_t i = 0; i != buckets; ++i) held.emplace_back(in.type(), memory, sizeof(std::uint64_t));
  if (state->ordinals.empty()) {
    state->ordinals.resize(buckets);
    state->next = in.consumed();
  }
  if (state->ordinals.size() != buckets) co_await fail(damaged_position());
  auto fetching = fetch_buckets(in, *state, held, memory);
  co_await fetching;
  for (bool ended = false;;) {
    std::uint64_t& b = state->leaving;
    while (b < buckets && held[b].size()) {
      std::uint32_t n = out.wanted_of(std::min<std::uint64_t>(held[b].size(), out.ask()));
      held[b].move_front(n, out.room(n));
      state->ordinals[b].drop_front(n);
      in.hold_from(state->oldest());
      co_yield out.made(n);
    }
    b = bucket_state::kNone;
    if (ended) {
      for (std::uint64_t i = 0; i != buckets && b == bucket_state::kNone; ++i)
        if (held[i].size()) b = i;
      if (b == bucket_state::kNone) break;
      continue;
    }
    bool more = co_await in.ready({0, out.wanted(), out.wanted_bytes()});
    ended = !more;
    if (ended && in.skip_left()) co_await fail(shorter_input(in.consumed(), state->next, memory.label()));
    while (b == bucket_state::kNone && in.left()) {
      std::uint64_t to = static_cast<std::uint64_t>(key->of(in.peek().data())) % buckets;
      block one = in.take(1);
      status fits = held[to].add(one, 1);
      if (!fits.ok()) co_await fail(std::move(fits));
      state->ordinals[to].add(state->next++);
      if (held[to].size() == size) b = to;
    }
  }
}

erased_stream open_buckets(const node& n, open_context& context) {
  auto& a = n.as<bucket_arguments>();
  outlet out(*n.type);
  saved<bucket_state> state;
  auto key = std::dynamic_pointer_cast<const bucket_key>(a.key.value);
  return bucket_loop(out, std::move(state), context.open(n.inputs[0]), std::move(key),
                     static_cast<std::uint64_t>(a.buckets.value), static_cast<std::uint64_t>(a.size.value), context.run,
                     context.gate(n));
}

const op_info kBuckets{.name = "in_buckets",
                       .doc = "",
                       .arguments = arguments_of<bucket_arguments>,
                       .type = same_type,
                       .lowering = {.open = open_buckets}};

}  // namespace

std::span<const op_info* const> operators_with_buckets() {
  static const std::vector<const op_info*> all = [] {
    std::vector<const op_info*> some(operators().begin(), operators().end());
    some.push_back(&kBuckets);
    return some;
  }();
  return all;
}

node_ptr make_buckets(const node_ptr& in, std::shared_ptr<bucket_key> key, std::int64_t buckets, std::int64_t size) {
  bucket_arguments a;
  a.key = function_arg<bucket_key>(std::move(key));
  a.buckets = buckets;
  a.size = size;
  return make_stage(kBuckets, arguments::of(std::move(a)), in);
}

}  // namespace sluice::lib::test
