// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/merge.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "ahead/any_input.hpp"
#include "element/batches/blocks.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "sluice/coro/detail/input_set.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// The inputs of the elements since the last mark. Each choice is one number, (elements << kInputBits | input).
constexpr unsigned kInputBits = 20;
constexpr std::uint64_t kInputMask = (1u << kInputBits) - 1;

struct merge_choices {
  decision_log log;
  std::deque<std::uint64_t> replay;

  void save(position_writer& w) {
    w.number(replay.size());
    for (std::uint64_t c : replay) w.number(c);
    w.log(log.here());
  }
  void load(position_reader& r) {
    for (int part = 0; part != 2; ++part)
      for (std::size_t n = r.count(); n; --n) replay.push_back(r.number());
  }
  /// Logs a choice. A replayed choice is not logged again, because a mark taken before it contains it in `replay`.
  void note(std::size_t input, std::uint64_t elements) {
    if (replay.empty()) return log.add(elements << kInputBits | input);
    std::uint64_t replayed = replay.front() >> kInputBits;
    if (elements >= replayed) replay.pop_front();
    else replay.front() = (replayed - elements) << kInputBits | input;
  }
};

erased_stream merge_loop(outlet out, may_suspend, saved<merge_choices> choices, input_set in, any_input any) {
  for (;;) {
    std::size_t chosen = 0;
    std::uint32_t most = out.ask();
    if (!choices->replay.empty()) {
      std::uint64_t c = choices->replay.front();
      chosen = static_cast<std::size_t>(c & kInputMask);
      most = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, c >> kInputBits));
      if (chosen >= in.size() || most == 0) co_await fail(damaged_position());
      bool more = co_await in[chosen].ready({0, most, out.wanted_bytes()});
      if (!more) co_await fail(damaged_position());
    } else {
      auto choosing = any.next(in, {0, most, out.wanted_bytes()});
      chosen = co_await choosing;
      if (chosen == any_input::kNone) break;
      if (in[chosen].left() == 0) continue;  // the input has ended and is not chosen again
    }
    block b = in[chosen].take(std::min(most, in[chosen].left()));
    choices->note(chosen, b.size());
    co_yield b;
    // the delivered elements are destroyed now, because this input may not be asked again for long
    tail_of(b, b.size());
  }
}

erased_stream open_merge(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<merge_choices> choices;
  any_input any(context.run, context.memory_of(n, "merge"), n.inputs.size());
  return merge_loop(out, may_suspend{}, std::move(choices), context.open_inputs(n), std::move(any));
}

const element_type* merged_type(const node& n, std::string& why) {
  if (n.inputs.size() > kInputMask) {
    why = "takes at most " + std::to_string(kInputMask) + " inputs";
    return nullptr;
  }
  return type_of_inputs(n, n.inputs.size(), why);
}

}  // namespace

const op_info merge_op{
    .name = "merge",
    .doc = "the elements of all inputs, in the order of their arrival",
    .shape = op_info::combine,
    .type = merged_type,
    .spec = [](const node& n) { return spec_of_inputs(n, n.inputs.size()); },
    .facts = {.always = {.forwards = true, .may_fail = false, .is_live = true},
              .size =
                  [](const node& n) {
                    cardinality all = cardinality::of(0);
                    for (const node_ptr& input : n.inputs) all = all.and_then(cardinality_of(*input));
                    return all;
                  }},
    .splits = {.rule = split_rule::one_after_another},
    .lowering = {.open = open_merge},
};

}  // namespace sluice::lib
