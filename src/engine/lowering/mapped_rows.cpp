// SPDX-License-Identifier: Apache-2.0
// The stages of maps and parsers whose outputs are rows of a batch (engine/batching/row_landing.hpp).
#include <algorithm>
#include <memory>
#include <utility>

#include "ahead/open_channel.hpp"
#include "element/batches/blocks.hpp"
#include "element/tensors/row_fit.hpp"
#include "engine/held/kept_texts.hpp"
#include "engine/lowering/mapped_stage.hpp"
#include "engine/lowering/slot_errors.hpp"
#include "engine/lowering/slot_rows.hpp"
#include "engine/lowering/types.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

namespace {

/// The number of rows that are built at a time where rows may be dropped or skipped: the memory of skipped rows is not
/// charged.
constexpr std::uint32_t kRowsSkippedAtOnce = 128;

/// Returns the receipts of the rows that f built from the first elements of `in`, up to the first whose call fails.
block land_rows(outlet& out, const block& in, const block_function& f, column& rows, element_place at, applied& a) {
  const landed_row each{estimated_row_bytes(in, rows)};
  a = f.append_rows(in, rows, at);
  auto* to = reinterpret_cast<landed_row*>(out.room(in.size()));
  std::fill_n(to, a.done, each);
  return out.made(a.done);
}

/// The map_loop whose outputs are rows of the consumer's columns.
erased_stream map_rows_loop(outlet out, one_to_one, erased_stream in, function_ptr function, std::uint64_t seed,
                            error_gate gate, std::shared_ptr<row_landing> landing) {
  auto& f = static_cast<const block_function&>(*function);
  while (auto b = co_await in.next_block({0, std::min(out.wanted(), kRowsAtOnceInSlots), out.wanted_bytes()})) {
    applied a;
    const std::uint64_t first = in.consumed() - b.size();
    block made = land_rows(out, b, f, *landing->rows, {first, seed}, a);
    if (!a.why.ok()) {
      out.hold(made);
      co_await fail(gate.located(a.why, first + a.done));
    }
    co_yield made;
  }
}

/// The loop of rows that drops bad elements.
erased_stream map_rows_tolerant_loop(outlet out, erased_stream in, function_ptr function, std::uint64_t seed,
                                     error_gate gate, std::shared_ptr<row_landing> landing) {
  auto& f = static_cast<const block_function&>(*function);
  in.may_go_back();
  kept_texts texts(gate, in.type());
  while (auto b = co_await in.next_block({0, std::min(out.ask(), kRowsSkippedAtOnce), out.wanted_bytes()})) {
    texts.note(b);
    std::uint32_t looked_at = 0;  // the index in `texts` of the next input
    while (b) {
      // Skipped rows are built too, because only building shows which ones are good. They are then removed, so no later
      // row is built together with them.
      const std::uint64_t to_pass = out.to_pass();
      block whole = b, part = b.first(std::min(
                           {b.size(), kRowsSkippedAtOnce,
                            to_pass ? static_cast<std::uint32_t>(std::min<std::uint64_t>(to_pass, kRowsSkippedAtOnce))
                                    : out.wanted()}));
      column& rows = *landing->rows;
      const std::size_t before = rows.rows();
      applied a;
      block made = land_rows(out, part, f, rows, {in.consumed() - whole.size(), seed}, a);
      if (to_pass) rows.truncate(before);
      std::uint32_t seen = a.done;
      in.hold_from(in.consumed() - (whole.size() - seen));
      if (made) co_yield made;
      if (!a.why.ok()) {
        auto settled = gate.settle(out, a.why, in.consumed() - whole.size() + seen, texts.of(looked_at + seen));
        co_await settled;
        in.hold_from(in.consumed() - (whole.size() - ++seen));
      }
      if (seen == whole.size()) break;
      looked_at += seen;
      b = tail_of(whole, seen);
    }
  }
}

/// Builds rows on several workers.
class rows_computation final : public slot_computation {
 public:
  rows_computation(const element_type& row, function_ptr f, std::uint64_t seed, error_gate gate,
                   std::shared_ptr<row_landing> landing)
      : row_(row), function_(std::move(f)), seed_(seed), gate_(std::move(gate)), landing_(std::move(landing)) {}
  bool awaits() const override { return false; }

  task<void> compute(slot_supply& ring, ring_slot* slot) const override {
    slot_rows rows(ring, slot, row_, landing_->rows_of_batch);
    kept_texts texts(gate_, slot->input.type());
    texts.note(slot->input.begin() + slot->input_at * slot->input.type().size, slot->count);
    while (!rows.is_done()) {
      const status why = rows.build([this](const block& in, column& to, std::uint64_t ordinal) {
        return function().append_rows(in, to, {ordinal, seed_});
      });
      if (!why.ok()) {
        if (!drop_or_fail(slot, rows.seen(), why, gate_, texts.of(rows.seen()))) break;
        rows.pass_input();
      }
      if (rows.is_cut_short()) break;
    }
    rows.finish_part();
    co_return;
  }
  std::uint32_t most_here() const override {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(kRowsAtOnceInSlots, landing_->at_once));
  }
  block compute_here(outlet& out, block inputs, std::uint64_t first, status& why) const override {
    auto append = [&](column& rows) {
      applied a = function().append_rows(inputs, rows, {first, seed_});
      if (!a.why.ok()) a.why = gate_.located(a.why, first + a.done);
      return a;
    };
    return rows_built_here(out, inputs, row_, *landing_, append, why);
  }

 private:
  const block_function& function() const { return static_cast<const block_function&>(*function_); }

  const element_type& row_;
  const function_ptr function_;
  const std::uint64_t seed_;
  const error_gate gate_;
  const std::shared_ptr<row_landing> landing_;
};

/// Opens the stage that builds rows ahead of the consumer.
erased_stream open_rows_ahead(const node& n, open_context& context, const function_ptr& f, const map_options& o,
                              std::shared_ptr<row_landing> landing) {
  error_gate gate = context.gate(n);
  const bool skips = gate.skips();
  erased_stream in = context.open(n.inputs[0]);
  const std::uint64_t seed = f->draws ? context.seed_of(n, o.seed.value) : 0;
  channel_memory memory = context.memory_of(n, gate.label());
  channel_options options;
  options.follows = {&context.live(n, o.parallelism, context.tuned_parallelism()),
                     [](std::int64_t most) { return slot_supply::limits{static_cast<std::uint32_t>(most)}; }};
  options.pump.may_drop = skips;
  options.direct_where_light = !skips;
  options.group = landing->rows_of_batch;
  landing->is_ahead = true;
  options.pump.computation = std::make_shared<rows_computation>(*n.type, f, seed, std::move(gate), std::move(landing));
  return open_channel(std::move(memory), std::move(in), type_of<built_row>(), std::move(options)).out;
}

}  // namespace

erased_stream open_mapped_rows(const node& n, open_context& context, const function_ptr& f, const map_options& o,
                               std::shared_ptr<row_landing> landing) {
  auto* function = dynamic_cast<const block_function*>(f.get());
  if (!function || !function->appends_rows || !can_stack(*n.type)) return {};
  if (!context.on_demand && !is_on_demand(o.parallelism, context.order_of(o.order))) {
    if (context.order_of(o.order) == order::sloppy || row_fit::stacked(*n.type).may_refuse()) return {};
    return open_rows_ahead(n, context, f, o, std::move(landing));
  }
  error_gate gate = context.gate(n);
  const bool skips = gate.skips();
  erased_stream in = context.open(n.inputs[0]);
  outlet out(landed_row_type());
  std::uint64_t seed = f->draws ? context.seed_of(n, o.seed.value) : 0;
  if (skips) return map_rows_tolerant_loop(out, std::move(in), f, seed, std::move(gate), std::move(landing));
  return map_rows_loop(out, one_to_one{true}, std::move(in), f, seed, std::move(gate), std::move(landing));
}

}  // namespace sluice::lib
