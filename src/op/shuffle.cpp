// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/shuffle.hpp"
#include "element/blocks.hpp"
#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/task.hpp"

#include "op/shuffle_table.hpp"
#include "runtime/held_memory.hpp"

namespace sluice::lib {

template <> const field_list& fields_of<shuffle_options>() { return make_field_list<shuffle_options>(); }

namespace {

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

/// The payloads, and what they are charged for.
class held_elements {
 public:
  held_elements(const element_type& type, std::shared_ptr<run_context> run, const error_gate& gate)
      : slots_(type),
        memory_(std::move(run), purpose::shuffle, gate.label(), "the buffer",
                "lower buffer_size, or cycle_length where it stands in an interleave") {}

  char* at(std::size_t slot) { return slots_.begin() + slot * slots_.type().size; }
  /// Room for one more at the end of the table; live once filled() says so.
  char* append(std::size_t n) { return slots_.extend(n); }
  void appended(std::size_t n) { slots_.add_live(n); }
  void removed_last() { slots_.set_live(0, slots_.size() - 1); }
  std::size_t size() const { return slots_.size(); }
  slab& slots() { return slots_; }

  /// Elements that are to be held for long own just their own bytes.
  void take_over(const block& in) {
    const element_type& t = in.type();
    if (t.compact) t.compact(t, in.data(), in.size());
  }
  /// With what it takes to hold them one by one: the table's ordinal, and a buffer of their own.
  std::size_t bytes_of(const void* elements, std::size_t n) const {
    const element_type& t = slots_.type();
    std::size_t each = t.size + sizeof(std::uint64_t) + (t.compact ? buffer::kOverheadBytes : 0);
    return n * each + (t.footprint ? t.footprint(t, elements, n) : 0);
  }
  /// Room for n more may mean to move all there are: for that long they take twice the memory.
  status can_grow_by(std::size_t n) {
    if (slots_.size() + n <= slots_.capacity()) return {};
    std::size_t moved = slots_.size() * (slots_.type().size + sizeof(std::uint64_t));
    status fits = memory_.resize(memory_.bytes() + moved);
    memory_.shrink_by(moved);
    return fits;
  }
  void released(std::size_t bytes) { memory_.shrink_by(bytes); }
  /// A position says that so many were held: they fitted the budget then.
  status could_hold(std::uint64_t n) {
    std::uint64_t each = slots_.type().size + sizeof(std::uint64_t);
    if (n <= memory_.budget_bytes() / each) return {};
    return memory_.refused();
  }
  /// The bytes held have become more, or fewer.
  status account(std::size_t more, std::size_t fewer) { return memory_.resize(memory_.bytes() + more - fewer); }

 private:
  slab slots_;
  held_memory memory_;
};

/// The first fill of a fresh run: the first elements, in order, as many as there are. Takes no more memory than they do:
/// a buffer "larger than any input" is a common way to ask for a perfect shuffle.
task<void> fill(erased_stream& in, shuffle_table& table, held_elements& held, shuffle_place& place) {
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
    status fits = held.can_grow_by(n);
    if (!fits.ok()) co_await fail(std::move(fits));
    held.take_over(b.view);
    fits = held.account(held.bytes_of(b.view.data(), n), 0);
    b.view.move_front(held.append(n), n);
    held.appended(n);
    table.filled(n);
    if (!fits.ok()) co_await fail(std::move(fits));
  }
}

/// After a resume: fetches what the table says the buffer holds, in input order, and passes over the rest.
task<void> fetch(erased_stream& in, shuffle_table& table, held_elements& held) {
  const element_type& type = in.type();
  slab fetched(type);
  std::vector<std::uint32_t> by_ordinal = table.slots_by_ordinal();
  std::size_t i = 0;
  // What is held reaches far back, and the next resume wants marks all along it.
  std::uint64_t mark_every = (table.next() - in.consumed()) / 16 + 1, mark_at = in.consumed();
  while (i < by_ordinal.size()) {
    if (in.consumed() >= mark_at) {
      mark_at = in.consumed() + mark_every;
      in.stage()->env->request_marks();
    }
    std::uint64_t first = table.ordinal(by_ordinal[i]);
    if (first < in.consumed()) co_await fail(damaged_position());  // the input was restored behind what is held
    std::uint32_t run = 1;                                         // neighbours in the input are fetched together
    while (i + run < by_ordinal.size() && run < 1024 && table.ordinal(by_ordinal[i + run]) == first + run) ++run;
    auto b = co_await in.try_next_block({first - in.consumed(), run});
    if (!b.why.ok()) co_await fail(std::move(b.why));
    if (!b.view) break;
    held.take_over(b.view);
    status fits = held.account(held.bytes_of(b.view.data(), b.view.size()), 0);
    std::uint32_t n = b.view.size();
    b.view.move_front(fetched.extend(n), n);
    fetched.add_live(n);
    i += n;
    if (!fits.ok()) co_await fail(std::move(fits));
  }
  if (i < by_ordinal.size()) co_await fail(damaged_position());  // the input has become shorter
  char* to = held.append(i);
  for (std::size_t k = 0; k != i; ++k)
    relocate(type, to + by_ordinal[k] * type.size, fetched.begin() + k * type.size, 1);
  fetched.set_live(0, 0);
  held.appended(i);
  if (table.next() < in.consumed()) co_await fail(damaged_position());
  in.pass_over(table.next() - in.consumed());
}

// A function of its own: g++ 12 destroys both sides of a ?: between tasks inside a coroutine (docs/hazards.md).
task<void> start_filling(bool fresh, erased_stream& in, shuffle_table& table, held_elements& held,
                         shuffle_place& place) {
  if (fresh) return fill(in, table, held, place);
  return fetch(in, table, held);
}

erased_stream shuffle_stage(outlet out, saved<shuffle_place> place, erased_stream in, std::uint64_t size,
                            std::uint64_t seed, std::shared_ptr<run_context> run, error_gate gate) {
  const element_type& type = out.type();
  in.hold_from(in.consumed());  // what is fetched is held from the first on; a mark must not overtake it
  held_elements held(type, run, gate);
  bool fresh = place->draws == 0 && place->total == shuffle_table::kUnknown;
  if (!fresh) {
    status fits = held.could_hold(std::min(size, place->total));
    if (!fits.ok()) co_await fail(std::move(fits));
  }
  shuffle_table table(seed, size, place->draws, place->total);
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
    held.take_over(b);
    std::size_t more = type.footprint ? held.bytes_of(b.data(), n) : 0;
    drawn.resize(n);
    for (std::uint32_t i = 0; i != n; ++i) drawn[i] = table.exchange();
    char* to = out.room(n);
    type.exchange(type, to, held.slots().begin(), b.data(), drawn.data(), n);
    b.forget_front(n);
    place->draws += n;
    block made = out.made(n);
    if (type.footprint) {
      status fits = held.account(more, held.bytes_of(to, n));
      if (!fits.ok()) {
        out.hold(made);
        co_await fail(std::move(fits));
      }
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
    held.released(held.bytes_of(to, n));
    co_yield made;
  }
}

erased_stream open_shuffle(const node& n, open_context& context) {
  auto o = n.as<shuffle_options>();
  std::uint64_t seed = context.seed_of(n, o.seed.value, !o.reshuffle_each_iteration);
  outlet out(*n.type);
  saved<shuffle_place> place;
  return shuffle_stage(out, std::move(place), context.open(n.inputs[0]),
                       static_cast<std::uint64_t>(o.buffer_size.value), seed, context.run, context.gate(n));
}

}  // namespace

extern const op_info shuffle_op{
    .name = "shuffle",
    .doc = "a random order, as far as a buffer of n elements reaches",
    .fields = fields_of<shuffle_options>,
    .positional = 1,
    .type = same_type,
    .open = open_shuffle,
    .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
};

preserving shuffle(count buffer_size, shuffle_options o) {
  o.buffer_size = buffer_size;
  return {"shuffle", options::of(o)};
}

}  // namespace sluice::lib
