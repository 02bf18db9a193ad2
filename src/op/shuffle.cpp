// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/shuffle.hpp"

#include "coro/long_work.hpp"
#include "element/blocks.hpp"
#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "op/shuffle_buffer.hpp"
#include "op/shuffle_table.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

namespace {

/// Elements between two breaths: some 100 µs, where each is a miss of the cache.
constexpr std::uint64_t kMovedAtOnce = 4096;

/// All that a position holds, whatever the buffer's size: the table is found again from these (shuffle_table.hpp).
struct shuffle_place {
  std::uint64_t draws = 0;
  std::uint64_t total = shuffle_table::kUnknown;  ///< the input's length, once it has ended

  void save(position_writer& w) {
    w.number(draws);
    w.number(total + 1);
  }
  void load(position_reader& r) {
    draws = r.number();
    total = r.number() - 1;
  }
};

/// The first fill of a fresh run: the first elements, in order, as many as there are. Takes no more memory than they do:
/// a buffer "larger than any input" is a common way to ask for a perfect shuffle.
task<void> fill(erased_stream& in, shuffle_table& table, shuffle_buffer& held, shuffle_place& place) {
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
    status fits = held.append(b.view);
    if (!fits.ok()) co_await fail(std::move(fits));
    table.filled(n);
  }
}

/// While a resumed run fetches, only those places are built whose elements have been fetched, and so are older than the next
/// one. An error or a stop in between destroys these, and no others.
class fetched_so_far {
 public:
  fetched_so_far(const shuffle_table& table, shuffle_buffer& held) : table_(table), held_(held) {}
  fetched_so_far(const fetched_so_far&) = delete;
  ~fetched_so_far() {
    if (complete_ || held_.destroys_nothing()) return;
    for (std::uint32_t i = 0; i != table_.held(); ++i)
      if (table_.ordinal(i) < next_) held_.destroy(i);
  }
  void reach(std::uint64_t next) { next_ = next; }
  /// All are there, and the buffer's own from now on.
  void complete() {
    complete_ = true;
    held_.all_built(table_.held());
  }

 private:
  const shuffle_table& table_;
  shuffle_buffer& held_;
  std::uint64_t next_ = 0;
  bool complete_ = false;
};

/// After a resume: fetches what the table says the buffer holds, in input order, each into its place, and passes over the
/// rest of the input until where it was.
task<void> fetch_held(erased_stream& in, shuffle_table& table, shuffle_buffer& held, fetched_so_far& fetched) {
  long_work work;
  std::vector<std::uint32_t> places;
  std::uint64_t left = table.held() - table.to_remove();
  // What is held reaches far back, and the next resume wants marks all along it.
  std::uint64_t mark_every = (table.next() - in.consumed()) / 16 + 1, mark_at = in.consumed();
  for (std::uint64_t at = table.held_from(); at < table.next();) {
    at = table.next_run(at, places);
    co_await work.breath();
    if (places.empty()) continue;
    if (at < in.consumed()) break;  // the input was restored behind what is held
    if (in.consumed() >= mark_at) {
      mark_at = in.consumed() + mark_every;
      in.stage()->env->request_marks();
    }
    held.expect(places.size());
    auto b = co_await in.try_next_block({at - in.consumed(), static_cast<std::uint32_t>(places.size())});
    if (!b.why.ok()) co_await fail(std::move(b.why));
    if (!b.view) break;  // the input has become shorter
    at += b.view.size();
    left -= b.view.size();
    status fits = held.build(b.view, places.data());
    fetched.reach(at);
    if (!fits.ok()) co_await fail(std::move(fits));
  }
  if (left || table.next() < in.consumed()) co_await fail(damaged_position());
  in.pass_over(table.next() - in.consumed());
}

/// The draws that were made on the emptying buffer, once more: the last element fills each hole.
task<void> remove_again(shuffle_table& table, shuffle_buffer& held) {
  auto remove = [&](std::uint64_t from, std::uint64_t to) {
    for (; from != to; ++from) {
      auto last = static_cast<std::uint32_t>(table.held() - 1);
      std::uint32_t hole = table.remove();
      if (hole != last && table.ordinal(hole) != shuffle_table::kUnknown) held.move(hole, last);
    }
    return true;
  };
  long_work work;
  auto removing = in_steps(work, table.to_remove(), kMovedAtOnce, remove);
  co_await removing;
}

/// After a resume. All that the places take is charged before there is anything in them.
task<void> fetch(erased_stream& in, shuffle_table& table, shuffle_buffer& held, const shuffle_place& place) {
  status fits = held.make_places(std::min(table.missing(), place.total));
  if (!fits.ok()) co_await fail(std::move(fits));
  auto looking = table.look_back(place.draws, place.total);
  co_await looking;
  fetched_so_far fetched(table, held);
  auto fetching = fetch_held(in, table, held, fetched);
  co_await fetching;
  auto removing = remove_again(table, held);
  co_await removing;
  fetched.complete();
}

// A function of its own: g++ 12 destroys both sides of a ?: between tasks inside a coroutine (docs/hazards.md).
task<void> start_filling(bool fresh, erased_stream& in, shuffle_table& table, shuffle_buffer& held,
                         shuffle_place& place) {
  if (fresh) return fill(in, table, held, place);
  return fetch(in, table, held, place);
}

erased_stream shuffle_loop(outlet out, saved<shuffle_place> place, erased_stream in, std::uint64_t size,
                           std::uint64_t seed, std::shared_ptr<run_context> run, error_gate gate) {
  const element_type& type = out.type();
  in.hold_from(in.consumed());  // what is fetched is held from the first on; a mark must not overtake it
  shuffle_buffer held(type, run, gate);
  shuffle_table table(seed, size);
  bool fresh = place->draws == 0 && place->total == shuffle_table::kUnknown;
  auto filling = start_filling(fresh, in, table, held, *place);
  co_await filling;
  in.hold_from(table.held_from());
  std::vector<std::uint32_t> drawn;
  std::uint32_t seen_tick = run->tick.load(std::memory_order_relaxed);
  while (place->total == shuffle_table::kUnknown) {
    if (std::uint32_t t = run->tick.load(std::memory_order_relaxed);
        t != seen_tick) {  // marks further back are not needed
      seen_tick = t;
      in.hold_from(table.held_from());
    }
    auto b = co_await in.next_block({0, out.wanted(), out.wanted_bytes()});
    if (!b) {
      place->total = table.next();
      table.ended();
      break;
    }
    std::uint32_t n = b.size();
    held.compact(b);
    std::size_t more = held.owned_bytes(b.data(), n);
    drawn.resize(n);
    for (std::uint32_t i = 0; i != n; ++i) drawn[i] = table.exchange();
    char* to = out.room(n);
    type.exchange(type, to, held.at(0), b.data(), drawn.data(), n);
    b.forget_front(n);
    place->draws += n;
    block made = out.made(n);
    status fits = held.charge(more, held.owned_bytes(to, n));
    if (!fits.ok()) {
      out.hold(made);
      co_await fail(std::move(fits));
    }
    co_yield made;
  }
  block_fit fit(type);
  while (held.size()) {  // no more input: the buffer empties, the last element filling each hole
    auto n = static_cast<std::uint32_t>(std::min<std::size_t>(fit.at_most(out.ask()), held.size()));
    char* to = out.room(n);
    for (std::uint32_t i = 0; i != n; ++i) {
      std::uint32_t slot = table.remove();
      std::size_t last = held.size() - 1;
      relocate(type, to + i * type.size, held.at(slot), 1);
      if (slot != last) relocate(type, held.at(slot), held.at(last), 1);
      held.removed_last();
    }
    place->draws += n;
    in.hold_from(table.held_from());
    block made = out.made(n);
    fit.made(made, out.wanted_bytes());
    held.released(held.owned_bytes(to, n));
    co_yield made;
  }
}

erased_stream open_shuffle(const node& n, open_context& context) {
  auto& a = n.as<shuffle_arguments>();
  std::uint64_t seed = context.seed_of(n, a.options.seed.value, !a.options.reshuffle_each_iteration);
  outlet out(*n.type);
  saved<shuffle_place> place;
  return shuffle_loop(out, std::move(place), context.open(n.inputs[0]), static_cast<std::uint64_t>(a.buffer_size.value),
                      seed, context.run, context.gate(n));
}

}  // namespace

const op_info shuffle_op{
    .name = "shuffle",
    .doc = "a random order, as far as a buffer of n elements reaches",
    .arguments = arguments_of<shuffle_arguments>,
    .type = same_type,
    .open = open_shuffle,
    .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
};

preserving shuffle(count buffer_size, shuffle_options o) {
  return {shuffle_op, arguments::of(shuffle_arguments{buffer_size, o})};
}

}  // namespace sluice::lib
