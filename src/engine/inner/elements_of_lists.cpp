// SPDX-License-Identifier: Apache-2.0
#include "engine/inner/elements_of_lists.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "engine/lowering/open_context.hpp"
#include "expr/functions/numbers.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// The number of the next element, and its index in the list of the next input.
struct place_in_lists {
  std::uint64_t number = 0;
  std::uint64_t in_list = 0;
  bool ended = false;
};

/// An element's input, and its index in the list.
struct flat_place {
  std::uint64_t input = 0, in_list = 0;
};

/// Returns a member of index_map's result, which may be any type of whole number.
std::int64_t whole_number_at(const member& m, const char* pair) {
  return expressions::with_number(expressions::number_of(*m.type), [&]<class N>(std::type_identity<N>) {
    N value{};
    std::memcpy(&value, pair + m.offset, sizeof value);
    return static_cast<std::int64_t>(value);
  });
}

status place_of(const function_ptr& index_map, std::uint64_t number, flat_place& place) {
  auto& f = static_cast<const block_function&>(*index_map);
  auto index = static_cast<std::int64_t>(number);
  alignas(std::int64_t) char said[2 * sizeof(std::int64_t)];
  applied a = f.apply(block(nullptr, &type_of<std::int64_t>(), reinterpret_cast<char*>(&index), 1), said, {number, 0});
  if (a.done == 0)
    return invalid_argument_error("index_map fails for " + std::to_string(number) + ": " +
                                  std::string(a.why.message()));
  const std::int64_t input = whole_number_at(f.out->members[0], said),
                     in_list = whole_number_at(f.out->members[1], said);
  if (input < 0 || in_list < 0)
    return invalid_argument_error("index_map returned (" + std::to_string(input) + ", " + std::to_string(in_list) +
                                  ") for " + std::to_string(number) + ": places must not be negative");
  place = {static_cast<std::uint64_t>(input), static_cast<std::uint64_t>(in_list)};
  return {};
}

std::string place_text(std::uint64_t number, std::uint64_t input) {
  return "index_map returned that element " + std::to_string(number) + " is in the list of input " +
         std::to_string(input);
}
status list_too_short(std::uint64_t number, const made_list& list, std::uint64_t in_list) {
  return invalid_argument_error(place_text(number, list.input()) + " at place " + std::to_string(in_list) +
                                ", and the list has " + std::to_string(list.size()) + " elements");
}
status before_delivered(std::uint64_t number, const flat_place& p, std::uint64_t next) {
  return invalid_argument_error(place_text(number, p.input) + ", and the next input is " + std::to_string(next) +
                                ": places do not go back");
}
status no_such_input(std::uint64_t number, std::uint64_t input, std::uint64_t there) {
  return invalid_argument_error(place_text(number, input) + ", and there are " + std::to_string(there) + " inputs");
}
status other_cardinality(std::uint64_t total, std::uint64_t there, bool has_ended) {
  return failed_precondition_error("the declared cardinality is " + std::to_string(total) + ", and there are " +
                                   (has_ended ? std::to_string(there) : "more") + " elements");
}

/// A move to the place that index_map returns.
struct index_move {
  std::uint64_t skipped = 0;   ///< inputs before the one whose list has the place
  bool is_unchecked = false;   ///< that list was not made yet
  bool is_after_last = false;  ///< the place is behind the last element, to verify that none follows
};

/// Moves to the place of the next element, or behind that of the last one if all have been passed.
status move_by_index(const list_rule& rule, place_in_lists& st, made_list& list, std::uint64_t next_input,
                     index_move& move) {
  move = {.is_after_last = st.number == rule.total};
  const std::uint64_t number = st.number - (move.is_after_last ? 1 : 0);
  flat_place p;
  status why = place_of(rule.index_map, number, p);
  if (!why.ok()) return why;
  st.in_list = p.in_list + (move.is_after_last ? 1 : 0);
  if (list.exists() && p.input == list.input()) {
    if (p.in_list >= list.size()) return list_too_short(number, list, p.in_list);
    if (st.in_list != list.size()) return {};
    st.in_list = 0;
    return list.forget(), status();
  }
  list.forget();
  if (p.input < next_input) return before_delivered(number, p, next_input);
  move.skipped = p.input - next_input;
  move.is_unchecked = true;
  return {};
}

/// Begins at the place in a new list, which is not in it. Errors: the list is too short for it.
status begin_after(const made_list& list, place_in_lists& st, const index_move& move) {
  const bool is_end = move.is_after_last && st.in_list == list.size();
  if (!is_end && move.is_unchecked) {
    const std::uint64_t after = move.is_after_last ? 1 : 0;
    return list_too_short(st.number - after, list, st.in_list - after);
  }
  if (!is_end && st.in_list) return damaged_position();
  st.in_list = 0;
  return {};
}

/// Returns the error where the inputs end before the one of the place. `missing`: further inputs before that one.
status ended_before(const list_rule& rule, const place_in_lists& st, const index_move& move, std::uint64_t inputs,
                    std::uint64_t missing) {
  const std::uint64_t after = move.is_after_last ? 1 : 0;
  const bool is_first_missing = missing == 0 && st.in_list == after;  // then the place is right, and the size is not
  return is_first_missing ? other_cardinality(rule.total, st.number - after, true)
                          : no_such_input(st.number - after, inputs + missing, inputs);
}

/// Copies up to `most` elements of the list. Returns their number.
std::uint32_t give_of(made_list& list, place_in_lists& st, const list_rule& rule, std::uint32_t most, char* to) {
  std::uint64_t n = std::min<std::uint64_t>(most, list.size() - st.in_list);
  n = std::min(n, rule.total - st.number);
  list.copy(st.in_list, static_cast<std::uint32_t>(n), to);
  st.number += n;
  st.in_list += n;
  if (st.in_list == list.size()) {
    list.forget();
    st.in_list = 0;
  }
  return static_cast<std::uint32_t>(n);
}

// Elements are copied from lists into blocks. A position within a list is its input's position and the index in the
// list, which is built again.
erased_stream elements_of_lists_loop(outlet out, saved<place_in_lists> st, erased_stream in, list_rule rule,
                                     error_gate gate) {
  in.may_go_back();
  const std::size_t element_bytes = out.type().size;
  made_list list(rule.function);
  block_fit fit(out.type(), true);
  index_move move;
  while (!st->ended) {
    if (rule.is_exact && out.to_pass() && st->number < rule.total) {
      st->number += out.pass(rule.total - st->number);
      status why = move_by_index(rule, *st, list, in.consumed(), move);
      if (!why.ok()) {
        status located = gate.located(why);
        co_await fail(std::move(located));
      }
    }
    const std::uint32_t most = fit.at_most(out.ask());
    char* to = out.room(most);
    std::uint32_t made = 0;
    bool is_over = false, is_bad = false;
    status why;
    while (made != most && why.ok()) {
      if (!list.exists()) {
        if (in.left() == 0 || move.skipped) {
          if (made) break;
          const auto asked = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, most / (list.size() + 1)));
          bool more = co_await in.ready({move.skipped, asked, out.wanted_bytes()});
          is_over = !more;
          if (is_over && move.is_unchecked) why = ended_before(rule, *st, move, in.consumed(), in.skip_left());
          if (is_over) break;
          move.skipped = 0;
        }
        const std::uint64_t ordinal = in.consumed();
        why = list.make(in.type(), in.peek().data(), ordinal);
        is_bad = !why.ok();
        if (is_bad) break;
        in.drop(1);
        if (st->in_list >= list.size()) {
          why = begin_after(list, *st, move);
          list.forget();
          move = {};
          continue;
        }
        move = {};
      }
      if (st->number >= rule.total) {
        why = other_cardinality(rule.total, st->number, false);
        break;
      }
      made += give_of(list, *st, rule, most - made, to + made * element_bytes);
    }
    in.hold_from(list.exists() ? list.input() : in.consumed());
    block given = out.made(made);
    fit.made(given, out.wanted_bytes());
    if (is_over && why.ok() && rule.is_exact && st->number != rule.total)
      why = other_cardinality(rule.total, st->number, true);
    if (!why.ok() && !(is_bad && gate.may_drop(why))) {
      out.hold(given);
      status located = is_bad ? gate.located(why, in.consumed()) : gate.located(why);
      co_await fail(std::move(located));
    }
    if (is_over) st->ended = true;
    if (given) co_yield given;
    if (!is_bad) continue;
    auto settled = gate.settle(out, why, in.consumed());
    co_await settled;
    in.drop(1);
    st->in_list = 0;
    in.hold_from(in.consumed());
  }
}

}  // namespace

status made_list::make(const element_type& in, char* element, std::uint64_t ordinal) {
  auto& f = static_cast<const block_function&>(*function_);
  char* to = made_.reserve(1);
  if (f.in_place) std::memcpy(to, element, type_.size);
  applied a = f.apply(block(nullptr, &in, f.in_place ? to : element, 1), to, {ordinal, 0});
  if (a.done == 0) return a.why;
  made_.set_live(0, 1);
  input_ = ordinal;
  std::size_t n = type_.extent;
  items_ = type_.kind == kind::list ? type_.items(type_, to, n) : to;
  size_ = n;
  return {};
}

void made_list::copy(std::uint64_t first, std::size_t n, void* to) const {
  const element_type& t = *type_.element;
  t.copy(t, to, static_cast<const char*>(items_) + first * t.size, n, t.size, t.size);
}

erased_stream elements_of_lists(const outlet& out, erased_stream in, list_rule rule, error_gate gate) {
  saved<place_in_lists> st;
  return elements_of_lists_loop(out, std::move(st), std::move(in), std::move(rule), std::move(gate));
}

}  // namespace sluice::lib
