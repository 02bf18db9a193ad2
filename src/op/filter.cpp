// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/filter.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "element/batches/blocks.hpp"
#include "engine/held/kept_texts.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/excluded_elements.hpp"
#include "engine/lowering/fused_stage.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/node_history.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {
namespace {

/// Finds the elements that a condition keeps by their numbers only.
class numbers_kept {
 public:
  /// `near`: the distance up to which elements are requested together with those between them.
  numbers_kept(const stage_function& condition, std::uint64_t seed, std::uint64_t near)
      : condition_(condition.for_input(type_of<std::int64_t>())), seed_(seed), near_(near) {}

  /// Sets the number of elements to skip from the ordinal `from` on, and lowers that of the elements to request then.
  void restrict(demand& d, std::uint64_t from) {
    const demand next = after(from);
    d.skip = next.skip;
    d.elements = std::min(d.elements, next.elements);
  }

 private:
  static constexpr std::uint32_t kAtOnce = 1024;

  /// Returns the number of elements to skip from the ordinal `from` on, and to request then. The first of these is kept,
  /// unless none of the next kTestedMost is.
  demand after(std::uint64_t from) {
    constexpr std::uint64_t kTestedMost = 1 << 16;
    if (from < first_ || from >= end_) test(from);
    std::uint64_t skipped = 0;
    while (at_of(from + skipped) == kept_ && skipped < kTestedMost) {
      skipped = end_ - from;
      test(end_);
    }
    if (at_of(from + skipped) == kept_) return {.skip = skipped, .elements = 1};
    const std::uint32_t begin = at_of(from + skipped);
    std::uint32_t last = begin;
    while (last + 1 != kept_ && ordinal(last + 1) - ordinal(last) <= near_) ++last;
    return {.skip = ordinal(begin) - from, .elements = static_cast<std::uint32_t>(ordinal(last) - ordinal(begin) + 1)};
  }
  std::uint64_t ordinal(std::uint32_t i) const { return first_ + static_cast<std::uint64_t>(numbers_[i]); }
  /// Returns the index of the first kept number from this ordinal on.
  std::uint32_t at_of(std::uint64_t from) const {
    const auto* begin = numbers_.data();
    return static_cast<std::uint32_t>(std::lower_bound(begin, begin + kept_, static_cast<std::int64_t>(from - first_)) -
                                      begin);
  }
  void test(std::uint64_t from) {
    std::iota(numbers_.begin(), numbers_.end(), 0);
    const block all(nullptr, &type_of<std::int64_t>(), reinterpret_cast<char*>(numbers_.data()), kAtOnce);
    const predicate_function::outcome tested =
        static_cast<const predicate_function&>(*condition_).keep(all, {from, seed_});
    kept_ = tested.kept;
    first_ = from;
    end_ = from + tested.seen;
    if (tested.why.ok()) return;
    // The element at which the condition fails is requested, so that the filter reports the error.
    numbers_[kept_++] = tested.seen;
    ++end_;
  }

  function_ptr condition_;
  std::uint64_t seed_, near_;
  std::array<std::int64_t, kAtOnce> numbers_{};  ///< the kept numbers, from first_ on
  std::uint32_t kept_ = 0;
  std::uint64_t first_ = 0, end_ = 0;
};

// Works in place: kept elements move to the front of the view, which is passed on. Skipped elements are tested too,
// because only a test shows which elements exist. `numbers`: selects what is requested from a source that skips at a
// constant cost; null: all elements are. `excluded`: those that are dropped without a test.
erased_stream filter_loop(outlet out, erased_stream in, function_ptr function, std::uint64_t seed,
                          std::unique_ptr<numbers_kept> numbers, excluded_elements excluded, error_gate gate) {
  auto& keep = static_cast<const predicate_function&>(*function);
  for (;;) {
    for (;;) {
      demand wanted{excluded.from(in.consumed()), out.ask(), out.wanted_bytes()};
      if (numbers) numbers->restrict(wanted, in.consumed());
      auto b = co_await in.next_block(wanted);
      if (!b) break;
      predicate_function::outcome k = keep.keep(b, {in.consumed() - b.size(), seed});
      block kept = b.first(k.kept);
      if (!k.why.ok()) {
        out.hold(kept);
        status why = gate.located(k.why, in.consumed() - b.size() + k.seen);
        co_await fail(std::move(why));
      }
      if (kept) co_yield kept;
    }
    if (keep.draws) break;
    auto over = out.again();
    co_await over;
  }
}

/// The loop of a stage that drops bad elements: the next demand tests the rest of their view.
erased_stream filter_tolerant_loop(outlet out, erased_stream in, function_ptr function, std::uint64_t seed,
                                   error_gate gate) {
  auto& keep = static_cast<const predicate_function&>(*function);
  in.may_go_back();
  kept_texts texts(gate, in.type());
  while (auto b = co_await in.next_block({0, out.ask(), out.wanted_bytes()})) {
    texts.note(b);
    std::uint32_t looked_at = 0;  // the index in `texts` of the next input
    while (b) {
      // The rest of the view after a bad element serves another demand, which may be smaller than the first.
      block whole = b, part = b.first(std::min(b.size(), out.ask()));
      predicate_function::outcome k = keep.keep(part, {in.consumed() - whole.size(), seed});
      block kept = part.first(k.kept);
      std::uint32_t seen = k.seen;
      in.hold_from(in.consumed() - (whole.size() - seen));  // a resume reads the rest of this view again
      if (kept) co_yield kept;
      if (!k.why.ok()) {
        auto settled = gate.settle(out, k.why, in.consumed() - whole.size() + seen, texts.of(looked_at + seen));
        co_await settled;
        in.hold_from(in.consumed() - (whole.size() - ++seen));
      }
      if (seen == whole.size()) break;
      looked_at += seen;
      b = tail_of(whole, seen);
    }
  }
}

erased_stream open_filter(const node& n, open_context& context) {
  outlet out(*n.type);
  auto& a = n.as<filter_arguments>();
  const function_ptr& function = a.function.value;
  std::uint64_t seed = function->draws ? context.seed_of(n, a.options.seed.value) : 0;
  error_gate gate = context.gate(n);
  erased_stream in = context.open(n.inputs[0]);
  std::unique_ptr<numbers_kept> numbers;
  if (n.history && n.history->selects_by_number && n.inputs[0]->op->shape == op_info::source && !gate.skips()) {
    // Numbers cost less to build than to skip.
    const std::uint64_t near = n.type->kind == kind::scalar ? 64 : 8;
    numbers = std::make_unique<numbers_kept>(*function, seed, near);
  }
  if (gate.skips()) return filter_tolerant_loop(out, std::move(in), function, seed, std::move(gate));
  return filter_loop(out, std::move(in), function, seed, std::move(numbers), excluded_elements(n), std::move(gate));
}

}  // namespace

const op_info filter_op{
    .name = "filter",
    .doc = "the elements for which a predicate is true",
    .arguments = arguments_of<filter_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<filter_arguments>().function.value, why); },
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false},
              .members = member_use::passed},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_filter,
                 .work =
                     [](const node& n) {
                       auto& a = n.as<filter_arguments>();
                       return node_work{a.function.value, true, false, order::deterministic, a.options.seed.value};
                     }},
};

}  // namespace sluice::lib
