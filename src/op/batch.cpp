// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/batch.hpp"

#include "engine/batching/batch_in_making.hpp"
#include "engine/batching/grouping.hpp"
#include "engine/batching/row_batches.hpp"
#include "engine/batching/row_landing.hpp"
#include "engine/batching/timed_batches.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// Rows that the input appends are charged after they arrive. The number requested at a time is limited: at first
/// because their size is unknown, later to about kLandedBytes.
constexpr std::uint64_t kLandedFirst = 8, kLandedMax = 1024, kLandedBytes = 256 << 10;
constexpr std::uint64_t kLandedBatchBytes = 16 << 20;

/// Returns the number of rows of `batches` batches. It cannot overflow: one batch may have any size, but several are
/// requested together only if they are small.
std::uint64_t wanted_rows(std::uint32_t batches, std::uint64_t rows) { return batches == 1 ? rows : batches * rows; }

/// Charges the columns with the rows that have landed. `at_once`: the number of rows that may land with the next
/// request. Errors: resource_exhausted, after which the rows are dropped.
status charge_landed(held_memory& memory, batch_in_making& part, std::size_t made_bytes, std::uint64_t& at_once) {
  const std::size_t bytes = part.bytes();
  at_once = std::clamp<std::uint64_t>(kLandedBytes * part.rows() / (bytes + 1), 1, kLandedMax);
  status fits = memory.resize(made_bytes + bytes);
  if (!fits.ok()) part.take();
  return fits;
}

/// Accepts the rows of `b`, which have landed or were built ahead, until the batch is full.
status take_landed(const row_landing& landing, held_memory& memory, batch_in_making& part, std::size_t made_bytes,
                   block& b, std::uint64_t& at_once) {
  if (landing.is_ahead && b.as<built_row>()->part) part.append_built(b);
  else b.drop_front(b.size());
  return charge_landed(memory, part, made_bytes, at_once);
}

/// `landing`: for an input that appends rows itself; else null.
erased_stream batch_loop(outlet out, const element_type* row_type, erased_stream in,
                         std::shared_ptr<row_landing> landing, std::uint64_t rows, bool drop_remainder,
                         held_memory memory) {
  in.may_go_back();
  const element_type& row = *row_type;
  batch_in_making part(row, rows);
  std::uint64_t landed_at_once = kLandedFirst;
  const std::uint64_t batches_at_once = std::max<std::uint64_t>(kGroupedPerRequest / rows, 1);
  const std::uint64_t rows_at_once = grouped_at_once(row), passed_max = demand::kAll / rows;
  bool continues = false;  // the stage was restarted and will be again: a batch's memory stays charged in between
  for (bool ended = false;;) {
    auto batches_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(batches_at_once, out.wanted()));
    auto* to = reinterpret_cast<batch_storage*>(out.room(batches_max));
    std::uint32_t made = 0;
    std::size_t made_bytes = 0;
    while (made == 0 && !ended) {
      std::uint64_t passed = out.pass(passed_max), rows_to_pass = 0;
      if (passed) {  // whole batches are skipped as rows; the rows collected so far belong to the first
        rows_to_pass = passed * rows - part.rows();
        part.take();
      }
      demand d;
      d.skip = rows_to_pass;
      d.elements = static_cast<std::uint32_t>(std::min(wanted_rows(batches_max, rows) - part.rows(), rows_at_once));
      if (landing) {
        const std::size_t foreseen = std::min(rows, batch_in_making::kRowsReserved) * row.size;
        landing->at_once = landed_at_once;
        landing->rows = &part.columns(!memory.has_room_for(made_bytes + part.bytes() + foreseen));
        const std::uint64_t most =
            landing->is_ahead ? demand::kAll : std::min<std::uint64_t>(d.elements, landed_at_once);
        d.elements = static_cast<std::uint32_t>(std::min<std::uint64_t>(part.missing(), most));
      }
      auto b = co_await in.next_block(d);
      if (!b) {
        ended = true;
        std::uint64_t gone = passed * rows - (passed ? in.skip_left() : 0);
        std::uint64_t whole = drop_remainder ? gone / rows : (gone + rows - 1) / rows;
        out.unpass(passed - std::min(passed, whole));
        made_bytes += part.bytes();
        if (part.rows() && !drop_remainder) ::new (static_cast<void*>(to + made++)) batch_storage(part.take());
        part.take();
      }
      status fits;
      while (b && fits.ok()) {
        if (landing) {
          fits = take_landed(*landing, memory, part, made_bytes, b, landed_at_once);
        } else {
          auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(b.size(), part.missing()));
          fits = charge_growth(memory, part, made_bytes, b, n, in.consumed() - b.size());
          if (fits.ok()) part.append(b, n);
        }
        if (!fits.ok()) break;
        if (part.missing() == 0) {
          made_bytes += part.bytes();
          ::new (static_cast<void*>(to + made++)) batch_storage(part.take());
        }
      }
      out.hold(out.made(made));
      if (fits.ok() && (made || !continues)) fits = memory.resize(made_bytes + part.bytes());
      if (!fits.ok()) co_await fail(std::move(fits));
    }
    in.hold_from(in.consumed() - part.rows());
    if (made) co_yield out.made(made);
    if (!ended) continue;
    if (!continues) memory.shrink_by(memory.bytes());
    auto over = out.again();
    co_await over;
    continues = true;
    ended = false;
  }
}

erased_stream open_batch(const node& n, open_context& context) {
  auto& a = n.as<batch_arguments>();
  outlet out(*n.type);
  const auto rows = std::min(static_cast<std::uint64_t>(a.size.value), demand::kAll);  // both mean all elements
  error_gate gate = context.gate(n);
  if (a.options.timeout.is_given())
    return timed_batches(out, context.open(n.inputs[0]), context.memory_of(n, "batch's input"), rows,
                         duration(a.options.timeout.value), context.run, std::move(gate));
  // Rows are compared before they are stacked if rows that do not stack are dropped.
  auto maker = std::make_unique<batch_maker>(*n.inputs[0]->type);
  if (gate.skips() && maker->may_refuse())
    return row_batches_loop(out, context.open(n.inputs[0]), std::move(maker), rows, a.options.drop_remainder,
                            context.run, std::move(gate));
  auto landing = std::make_shared<row_landing>();
  landing->rows_of_batch = rows;
  // The columns of a large batch are allocated before rows arrive; landed rows are charged afterwards.
  const bool is_large = rows > kLandedBatchBytes / n.inputs[0]->type->size;
  erased_stream in = is_large ? erased_stream() : context.open_rows(n.inputs[0], landing);
  if (!in) {
    landing = nullptr;
    in = context.open(n.inputs[0]);
  }
  held_memory memory(context.run, gate.line(purpose::batch), gate.label(), "a batch", "lower its size");
  return batch_loop(out, n.inputs[0]->type, std::move(in), std::move(landing), rows, a.options.drop_remainder,
                    std::move(memory));
}

}  // namespace

const op_info batch_op{
    .name = "batch",
    .doc = "n elements become one, stored by column",
    .arguments = arguments_of<batch_arguments>,
    .type = [](const node& n, std::string& why) -> const element_type* {
      auto& o = n.as<batch_arguments>().options;
      if (o.timeout.is_given() && o.drop_remainder)
        return why = "with a timeout any batch may have fewer rows, so drop_remainder has no effect", nullptr;
      const element_type* t = batched_of(n.inputs[0]->type);
      if (!t)
        why = "rows of " + n.inputs[0]->type->name +
              " cannot be stacked (numbers, texts, tensors, arrays and structs of them can)";
      return t;
    },
    .spec =
        [](const node& n) {
          auto& a = n.as<batch_arguments>();
          return spec_of_batches(n, a.size, a.options.drop_remainder);
        },
    .facts = {.always = {.outputs = output_count::one_per_group, .keeps_order = true},
              .refine = [](const node& n,
                           stage_facts& f) { f.is_live = n.as<batch_arguments>().options.timeout.is_given(); },
              .size =
                  [](const node& n) {
                    auto& a = n.as<batch_arguments>();
                    if (a.options.timeout.is_given()) return batches_of_any_size(n);
                    return cardinality_of(*n.inputs[0]).in_groups(a.size, a.options.drop_remainder);
                  },
              .rows =
                  [](const node& n) {
                    auto& a = n.as<batch_arguments>();
                    return rows_in_batches(n, a.size, a.options.drop_remainder);
                  },
              .seeks = [](const node& n) { return !n.as<batch_arguments>().options.timeout.is_given(); },
              .members = member_use::stacked},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_batch},
};

batch_verb batch(count size, batch_options o) { return batch_verb(batch_arguments{size, o}); }

}  // namespace sluice::lib
