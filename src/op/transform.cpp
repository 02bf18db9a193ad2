// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/transform.hpp"

#include <algorithm>

#include "engine/lowering/open_context.hpp"
#include "engine/lowering/plain_stages.hpp"
#include "engine/lowering/types.hpp"
#include "engine/lowering/user_stage.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/element_stage.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {
namespace {

/// Returns `why`, the error of element `at`, with advice for the author of the stage.
status cannot_continue(const status& why, std::uint64_t at, const error_gate& gate, std::string_view reason) {
  std::string text(why.message());
  text.append("; error_policy::skip cannot drop the element: ").append(reason);
  const provenance& w = why.where();
  return status(why.code(), text)
      .with_cause(why.cause())
      .in_file(w.file, w.offset_bytes, w.record_index)
      .in_stage(w.stage.empty() ? gate.label() : w.stage, at);
}

/// Returns the user's coroutine that threw, from the last one to the one that reads the plan's input; null: the input
/// failed.
const stage_base* thrower(const stage_base* last) {
  for (const stage_base* s = last; s; s = s->input_stage()) {
    if (s->threw()) return s;
    const element_stage* user = element_stage::of(s);
    if (user && user->numbers_errors()) break;
  }
  return nullptr;
}

/// Reports the element at which a dead coroutine threw, and the elements missing from its state, as dropped. Returns an
/// error if they must not be dropped.
status drop_current(stage_base& last, const error_gate& gate, dropped_errors& errors) {
  status why = last.failure;
  if (!gate.may_drop(why)) return why;
  const stage_base* culprit = thrower(&last);
  if (!culprit) return why;
  element_stage* dead = element_stage::of(&last);
  if (!dead || culprit != dead || !dead->numbers_errors())
    return cannot_continue(why, provenance::kUnknown, gate,
                           "the function joins several coroutines; give each of them a transform of its own");
  std::uint64_t bad = dead->current_element();
  if (bad == provenance::kUnknown)
    return why;  // before its first element, or after the last: no element can be skipped
  element_stage::restart r = dead->after_throw();
  if (!r.safe)
    return cannot_continue(
        why, bad, gate,
        "the coroutine does not declare its state; give it a parameter `stateless`, or keep its state "
        "in a parameter saved<S> of plain values (sluice/op/transform.hpp)");
  errors.add(gate.dropped(gate.located(why, bad)));
  std::string text("dropped with element " + std::to_string(bad) + ", since the stage had not committed in between");
  std::uint64_t reported_until = std::min(bad, r.dropped_from + dropped_errors::kKeptApart);
  for (std::uint64_t i = r.dropped_from; i < reported_until; ++i)
    errors.add(gate.dropped(gate.located(status(why.code(), text), i)));
  if (reported_until < bad)
    errors.add(gate.dropped(gate.located(status(why.code(), text), reported_until), bad - reported_until));
  return {};
}

/// Under error_policy::skip each element of the input is a resume point.
void take_singly(erased_stream& made) {
  if (element_stage* user = element_stage::of(made.stage())) user->take_singly();
}

/// Runs a user's stage under error_policy::skip. After a coroutine throws it is finished, so the function is called
/// again for the rest of the input, with the saved values of the last resume point. Elements yielded before the throw
/// have been delivered.
erased_stream transform_tolerant_loop(outlet out, one_to_one, erased_stream made, function_ptr function,
                                      error_gate gate) {
  take_singly(made);
  for (;;) {
    auto got = co_await made.try_next_block({0, out.wanted(), out.wanted_bytes()});
    if (got.view) {
      co_yield got.view;
      continue;
    }
    if (got.why.ok()) break;
    dropped_errors errors;
    status why = drop_current(*made.stage(), gate, errors);
    if (!why.ok()) co_await fail(std::move(why));
    auto dropping = out.drop(std::move(errors));
    co_await dropping;
    auto& dead = static_cast<element_stage&>(*made.stage());  // only such stages drop elements
    // After a resume, skipped outputs were requested by no reader, so these skips move to the new coroutine. Skips that
    // the reader requested were already returned to it (one_to_one).
    std::uint64_t unpassed = out.to_pass() ? 0 : made.skip_left();
    erased_stream rest(std::move(dead.input()));
    erased_stream fresh = make_user_stage(function, std::move(rest), why);
    if (!fresh) co_await fail(std::move(why));
    fresh.stage()->set_identity(dead.known_as());
    if (element_stage* user = element_stage::of(fresh.stage())) dead.copy_saved_to(*user);
    take_singly(fresh);
    fresh.set_environment(out.env());
    fresh.pass_over(unpassed);
    made = std::move(fresh);
  }
}

erased_stream open_transform(const node& n, open_context& context) {
  const function_ptr& function = n.as<transform_arguments>().function.value;
  erased_stream in = context.open(n.inputs[0]);
  error_gate gate = context.gate(n);
  if (!gate.skips()) return open_user_stage(n, function, std::move(in));
  status why;
  outlet out(*n.type);
  erased_stream made = make_user_stage(function, std::move(in), why);
  if (!made) return failed_stage(out, std::move(why));
  // The record is the user's stage's, as with error_policy::stop, so that a position of either run fits the other.
  stage_identity i = identity_of(n);
  i.once_nameless = true;
  made.stage()->set_identity(i);
  erased_stream around = transform_tolerant_loop(out, one_to_one(), std::move(made), function, std::move(gate));
  around.stage()->stay_nameless();
  return around;
}

}  // namespace

const op_info transform_op{
    .name = "transform",
    .doc = "a coroutine of the user as a stage",
    .arguments = arguments_of<transform_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<transform_arguments>().function.value, why); },
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_transform},
};

}  // namespace sluice::lib
