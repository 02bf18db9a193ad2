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

/// Moves to the place of the next element according to index_map: `skipped` inputs after `next_input`, unless it is in
/// `list`.
status move_by_index(const list_rule& rule, place_in_lists& st, made_list& list, std::uint64_t next_input,
                     std::uint64_t& skipped) {
  skipped = 0;
  flat_place p;
  status why = place_of(rule.index_map, st.number, p);
  if (!why.ok()) return why;
  st.in_list = p.in_list;
  if (list.exists() && p.input == list.input())
    return p.in_list < list.size() ? status() : list_too_short(st.number, list, p.in_list);
  list.forget();
  if (p.input < next_input) return before_delivered(st.number, p, next_input);
  skipped = p.input - next_input;
  return {};
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
  std::uint64_t skipped = 0;  // inputs before the next one
  bool by_index = false;      // the index in the list was computed by index_map and not by counting
  while (!st->ended) {
    if (rule.is_exact && out.to_pass()) {
      st->number += out.pass(rule.total - std::min(rule.total, st->number));
      st->ended = st->number >= rule.total;
      if (st->ended) break;
      status why = move_by_index(rule, *st, list, in.consumed(), skipped);
      if (!why.ok()) {
        status located = gate.located(why);
        co_await fail(std::move(located));
      }
      by_index = true;
    }
    const std::uint32_t most = fit.at_most(out.ask());
    char* to = out.room(most);
    std::uint32_t made = 0;
    bool is_over = false, is_bad = false;
    status why;
    while (made != most && why.ok()) {
      if (!list.exists()) {
        if (in.left() == 0 || skipped) {
          if (made) break;
          const auto asked = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, most / (list.size() + 1)));
          bool more = co_await in.ready({skipped, asked, out.wanted_bytes()});
          is_over = !more;
          if (is_over && skipped) why = no_such_input(st->number, in.consumed() + in.skip_left(), in.consumed());
          if (is_over) break;
          skipped = 0;
        }
        const std::uint64_t ordinal = in.consumed();
        why = list.make(in.type(), in.peek().data(), ordinal);
        is_bad = !why.ok();
        if (is_bad) break;
        in.drop(1);
        if (st->in_list >= list.size()) {
          if (st->in_list || by_index)
            why = by_index ? list_too_short(st->number, list, st->in_list) : damaged_position();
          list.forget();
          continue;
        }
        by_index = false;
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
