// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/shuffle.hpp"

#include "coro/long_work.hpp"
#include "coro/trace_log.hpp"
#include "engine/held/held_elements.hpp"
#include "engine/held/held_fetch.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "op/shuffle/next_buffer.hpp"
#include "op/shuffle/shuffle_table.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/node_history.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

namespace {

/// The number of elements moved before other tasks run: some 100 µs, if each is a cache miss.
constexpr std::uint64_t kMovedAtOnce = 4096;

/// The values in a position, whatever the buffer's size. The table is computed from them (shuffle_table.hpp).
struct shuffle_place {
  std::uint64_t draws = 0;
  std::uint64_t total = shuffle_table::kUnknown;  ///< the input's length, once it has ended
  const next_buffer* next = nullptr;              ///< not saved: what is read while the buffer empties

  void save(position_writer& w) {
    w.number(draws);
    w.number(total + 1);
  }
  void load(position_reader& r) {
    draws = r.number();
    total = r.number() - 1;
  }
  bool may_wait() const { return next && next->may_wait(); }
};

/// Fills the buffer of a new run with the first elements, in order. It takes no more memory than they need, because a
/// buffer "larger than any input" is a common way to request a perfect shuffle. `held` may have the first ones already.
task<void> fill(erased_stream& in, shuffle_table& table, held_elements& held, shuffle_place& place) {
  table.filled(held.size());
  while (table.missing()) {
    auto wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(table.missing(), 1024));
    auto b = co_await in.try_next_block({0, wanted});
    if (!b.why.ok()) co_await fail(std::move(b.why));
    if (!b.view) {
      place.total = in.consumed();
      table.shorten(place.total);
      break;
    }
    std::uint32_t n = b.view.size();
    status fits = held.add(b.view, n);
    if (!fits.ok()) co_await fail(std::move(fits));
    table.filled(n);
  }
}

/// Lists the elements that a resumed run fetches. The table knows which elements the buffer held, and in which slots.
class buffer_fetch final : public fetch_list {
 public:
  buffer_fetch(shuffle_table& table, held_elements& held) : table_(table), held_(held), first_(table.held_from()) {}

  std::uint64_t elements() const override { return table_.held() - table_.to_remove(); }
  std::uint64_t first() const override { return first_; }
  std::uint64_t next() const override { return table_.next(); }
  std::uint64_t next_run(std::uint64_t from, std::vector<held_place>& places) override {
    from = table_.next_run(from, places_);
    places.clear();
    for (std::uint32_t place : places_) places.push_back({&held_, place});
    return from;
  }

 private:
  shuffle_table& table_;
  held_elements& held_;
  const std::uint64_t first_;
  std::vector<std::uint32_t> places_;
};

/// Repeats the draws on the emptying buffer: the last element fills each hole.
task<void> remove_again(shuffle_table& table, held_elements& held) {
  auto remove = [&](std::uint64_t from, std::uint64_t to) {
    for (; from != to; ++from) {
      auto last = static_cast<std::uint32_t>(table.held() - 1);
      std::uint32_t hole = table.remove();
      if (hole != last) held.fill_hole(hole, last);
    }
    return true;
  };
  long_work work;
  auto removing = in_steps(work, table.to_remove(), kMovedAtOnce, remove);
  co_await removing;
}

/// Restores the buffer after a resume. The memory of all slots is charged before any element is in them.
task<void> fetch(erased_stream& in, shuffle_table& table, held_elements& held, held_memory& memory,
                 const shuffle_place& place) {
  const std::uint64_t places = std::min(table.missing(), place.total);
  status fits = held.make_places(places);
  if (!fits.ok()) co_await fail(std::move(fits));
  const std::size_t looking_bytes = places / 4 + 1;  // used by look_back while it runs
  fits = memory.change(looking_bytes, 0);
  if (!fits.ok()) co_await fail(std::move(fits));
  auto looking = table.look_back(place.draws, place.total);
  co_await looking;
  memory.shrink_by(looking_bytes);
  buffer_fetch list(table, held);
  auto fetching = fetch_held(in, list, memory);
  co_await fetching;
  auto removing = remove_again(table, held);
  co_await removing;
  held.all_built(table.held());
}

// A separate function, because g++ 12 destroys both sides of a ?: between tasks inside a coroutine
// (docs/internals/hazards.md).
task<void> start_filling(bool fresh, erased_stream& in, shuffle_table& table, held_elements& held, held_memory& memory,
                         shuffle_place& place) {
  if (fresh) return fill(in, table, held, place);
  return fetch(in, table, held, memory, place);
}

void trace_fill(std::string_view stage, std::uint64_t elements, time_point began, time_point now) {
  const std::string name = "fill " + std::string(stage);
  trace_span({nullptr, name}, trace_group::fill, began, now, elements);
}

erased_stream shuffle_loop(outlet out, saved<shuffle_place> place, erased_stream in, std::uint64_t size,
                           std::uint64_t seed, std::shared_ptr<run_context> run, error_gate gate,
                           std::unique_ptr<next_buffer> next) {
  held_memory memory(run, gate.line(purpose::shuffle), gate.label(), "the buffer",
                     "lower buffer_size, or cycle_length if it is inside an interleave");
  shuffle_table table(seed, size);
  held_elements held(out.type(), memory, sizeof(std::uint64_t));
  status fits_already = next ? next->move_elements_to(held) : status();
  in.hold_from(in.consumed() - held.size());  // the elements to fetch are held from here on, so no mark may pass them
  if (!fits_already.ok()) co_await fail(std::move(fits_already));
  bool fresh = place->draws == 0 && place->total == shuffle_table::kUnknown;
  const time_point began = run->time->now();
  auto filling = start_filling(fresh, in, table, held, memory, *place);
  co_await filling;
  if (tracing()) trace_fill(gate.label(), table.held(), began, run->time->now());
  in.hold_from(table.held_from());
  std::vector<std::uint32_t> drawn;
  std::uint32_t seen_tick = run->tick.load(std::memory_order_relaxed);
  while (place->total == shuffle_table::kUnknown) {
    if (std::uint32_t t = run->tick.load(std::memory_order_relaxed); t != seen_tick) {  // older marks are not needed
      seen_tick = t;
      in.hold_from(table.held_from());
    }
    auto b = co_await in.next_block({0, out.wanted(), out.wanted_bytes()});
    if (!b) {
      if (in.skip_left()) co_await fail(shorter_input(in.consumed(), table.next(), memory.label()));
      place->total = table.next();
      table.ended();
      break;
    }
    std::uint32_t n = b.size();
    drawn.resize(n);
    for (std::uint32_t i = 0; i != n; ++i) drawn[i] = table.exchange();
    status fits = held.exchange(drawn.data(), b, out.room(n));
    place->draws += n;
    block made = out.made(n);
    if (!fits.ok()) {
      out.hold(made);
      co_await fail(std::move(fits));
    }
    co_yield made;
  }
  block_fit fit(out.type());
  place->next = next.get();
  while (held.size()) {  // the input has ended: the buffer empties, and the last element fills each hole
    auto n = static_cast<std::uint32_t>(std::min<std::size_t>(fit.at_most(out.ask()), held.size()));
    if (next) {
      auto filling_next = next->fill(n);
      co_await filling_next;
    }
    drawn.resize(n);
    for (std::uint32_t i = 0; i != n; ++i) drawn[i] = table.remove();
    held.take(drawn.data(), n, out.room(n));
    place->draws += n;
    in.hold_from(table.held_from());
    block made = out.made(n);
    fit.made(made, out.wanted_bytes());
    co_yield made;
  }
  if (next) next->leave();
}

erased_stream open_shuffle(const node& n, open_context& context) {
  auto& a = n.as<shuffle_arguments>();
  std::uint64_t seed = context.seed_of(n, a.options.seed.value, !a.options.reshuffle_each_iteration);
  outlet out(*n.type);
  saved<shuffle_place> place;
  const auto size = static_cast<std::uint64_t>(a.buffer_size.value);
  std::unique_ptr<next_buffer> next;
  if (n.history && n.history->overlaps_epochs && context.epoch.links)
    next = std::make_unique<next_buffer>(context, n.inputs[0], context.gate(n), size);
  context.epoch = {};
  erased_stream in = next ? next->take_input() : erased_stream();
  if (!in) in = context.open(n.inputs[0]);
  return shuffle_loop(out, std::move(place), std::move(in), size, seed, context.run, context.gate(n), std::move(next));
}

}  // namespace

const op_info shuffle_op{
    .name = "shuffle",
    .doc = "a random order within a buffer of n elements",
    .arguments = arguments_of<shuffle_arguments>,
    .type = same_type,
    .facts = {.always = {.outputs = output_count::one_per_input, .forwards = true, .draws = true, .may_fail = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .rows = [](const node& n) { return row_cardinality_of(*n.inputs[0]); },
              .members = member_use::passed},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_shuffle},
};

preserving shuffle(count buffer_size, shuffle_options o) {
  return {shuffle_op, arguments::of(shuffle_arguments{buffer_size, o})};
}

}  // namespace sluice::lib
