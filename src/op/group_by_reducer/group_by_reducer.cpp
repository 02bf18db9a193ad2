// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/group_by_reducer.hpp"

#include <algorithm>
#include <utility>

#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "op/group_by_reducer/group_states.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// The number of elements requested at once. The whole input is read, so the number is large enough that hops cost
/// nothing.
constexpr std::uint32_t kTakenAtOnce = 4096;
/// The number of groups that are dropped before other tasks run.
constexpr std::uint64_t kDroppedAtOnce = 1024;

// While elements are collected, the stage is never at rest: before the first group its position is the one of its
// start. While groups are delivered, the input has ended, and its position matters only if it must be read again.
erased_stream group_by_reducer_loop(outlet out, saved<saved_groups> kept, erased_stream in, bool finishes,
                                    error_gate gate) {
  group_states& groups = *kept->groups;
  const std::uint64_t start = in.consumed();
  if (!groups.ended()) {
    in.hold_from(start);
    for (;;) {
      bool more = co_await in.ready({0, kTakenAtOnce, demand::kBytes});
      if (!more) break;
      std::uint64_t first = in.consumed();
      applied a = groups.take(block(nullptr, &in.type(), in.peek().data(), in.left()), gate.skips());
      in.drop(a.done);
      status fits = groups.charge();
      if (!fits.ok()) co_await fail(std::move(fits));
      if (a.why.ok()) continue;
      auto settled = gate.settle(out, a.why, first + a.done);
      co_await settled;
      in.drop(1);
    }
    groups.input_ended();
    std::uint64_t again = groups.take_dropped();
    if (again > groups.size()) co_await fail(damaged_position());
    for (; again; --again) {
      groups.drop_first();
      if (again % kDroppedAtOnce == 0) co_await out.breath();
    }
  }
  // With error_policy::skip a group whose finish fails is not an element, so finish is called for skipped groups, too.
  // It may consume the state, which the position at the preceding co_yield must contain, so groups are delivered one at
  // a time.
  const bool may_drop_groups = finishes && gate.skips();
  const std::size_t at_once = may_drop_groups ? 1 : kTakenAtOnce;
  block_fit fit(out.type());
  while (groups.size()) {
    std::uint64_t passed = 0;
    if (!may_drop_groups) passed = out.pass(std::min<std::uint64_t>(groups.size(), kDroppedAtOnce));
    for (std::uint64_t i = 0; i != passed; ++i) groups.drop_first();
    if (passed) {
      co_await out.breath();
      continue;
    }
    auto n = static_cast<std::uint32_t>(std::min<std::size_t>({groups.size(), fit.at_most(out.wanted()), at_once}));
    char* to = out.room(n);
    std::uint32_t made = 0;
    status why;
    while (made != n) {
      why = groups.finish_first(to + made * out.type().size);
      if (!why.ok()) break;
      groups.drop_first();
      ++made;
    }
    in.hold_from(groups.saves_states() ? in.consumed() : start);
    block all = out.made(made);
    fit.made(all, out.wanted_bytes());
    if (!why.ok() && !gate.may_drop(why)) {
      out.hold(all);
      status located = gate.located(why);
      co_await fail(std::move(located));
    }
    if (all) co_yield all;
    if (!why.ok()) {
      auto settled = gate.settle(out, why);
      co_await settled;
      groups.drop_first();
    }
  }
}

erased_stream open_group_by_reducer(const node& n, open_context& context) {
  auto& a = n.as<group_by_reducer_arguments>();
  outlet out(*n.type);
  error_gate gate = context.gate(n);
  check_can_undo(static_cast<const state_function&>(*a.function.value), gate);
  saved<saved_groups> groups(saved_groups{std::make_unique<group_states>(a, context.run, gate)});
  bool finishes = static_cast<bool>(a.options.finish);
  return group_by_reducer_loop(out, std::move(groups), context.open(n.inputs[0]), finishes, std::move(gate));
}

std::string expected(std::string_view which, const element_type& in, std::string_view gets, const element_type& is) {
  return std::string(which) + " expects " + in.name + ", and gets " + std::string(gets) + ", " + is.name;
}

/// Returns "", or why the functions do not fit together.
std::string mistake_of(const group_by_reducer_arguments& a) {
  auto& f = static_cast<const state_function&>(*a.function.value);
  const group_by_reducer_options& o = a.options;
  if (std::string broken = initial_mistake(a.initial, f); !broken.empty()) return broken;
  if (a.key.value->in != f.in) return "key takes " + a.key.value->in->name + ", and function " + f.in->name;
  if (o.init && !o.initial_state.empty()) return "init and initial_state both set the initial state";
  if (o.init && o.init.value->in != a.key.value->out)
    return expected("init", *o.init.value->in, "the key", *a.key.value->out);
  if (o.init && o.init.value->out != f.state_type)
    return "init gives " + o.init.value->out->name + ", and the state is " + f.state_type->name;
  if (o.finish && o.finish.value->in != f.state_type)
    return expected("finish", *o.finish.value->in, "the state", *f.state_type);
  return initial_state_mistake(f, o.initial_state);
}

const element_type* grouped_type(const node& n, std::string& why) {
  auto& a = n.as<group_by_reducer_arguments>();
  type_of_function(n, a.function.value, why);
  if (why.empty()) why = mistake_of(a);
  if (!why.empty()) return nullptr;
  if (a.options.finish) return a.options.finish.value->out;
  return static_cast<const state_function&>(*a.function.value).state_type;
}

}  // namespace

const op_info group_by_reducer_op{
    .name = "group_by_reducer",
    .doc = "combines the elements of each key into one",
    .arguments = arguments_of<group_by_reducer_arguments>,
    .type = grouped_type,
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_group_by_reducer},
};

}  // namespace sluice::lib
