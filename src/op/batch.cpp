// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/batch.hpp"

#include "op/engine.hpp"

namespace sluice {

template <> const field_list& fields_of<batch_options>() {
  static const field_list list = make_field_list<batch_options>();
  return list;
}

namespace {

/// Small batches are made several at a time: about so many rows for one request.
constexpr std::uint64_t kRowsPerRequest = 4096;
/// Rows asked for at once, in bytes: each stage below has its own copy of a block, and all of them should still be in
/// the core's L2 when the rows get here, where columns are gathered from them.
constexpr std::uint64_t kRequestBytes = 64 << 10;

std::uint64_t rows_at_once(const element_type& row) {
  return std::clamp<std::uint64_t>(kRequestBytes / row.size, 32, kRowsPerRequest);
}

erased_stream batch_stage_loop(outlet out, erased_stream in, std::uint64_t rows, bool drop_remainder) {
  in.may_go_back();
  const element_type& row = in.type();
  batch_storage part;  // the batch in the making; a resume fetches its rows again
  for (bool ended = false; !ended;) {
    auto batches_max = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kRowsPerRequest / rows, 1, out.wanted()));
    auto* to = reinterpret_cast<batch_storage*>(out.room(batches_max));
    std::uint32_t made = 0;
    while (made == 0 && !ended) {
      std::uint64_t passed = out.pass(kPassAll / rows), rows_to_pass = 0;
      if (passed) {  // whole batches are passed over as rows; what was collected belongs to the first of them
        rows_to_pass = passed * rows - static_cast<std::uint64_t>(part.rows);
        part = batch_storage();
      }
      demand d;
      d.skip = rows_to_pass;
      d.elements = static_cast<std::uint32_t>(
          std::min(batches_max * rows - static_cast<std::uint64_t>(part.rows), rows_at_once(row)));
      auto b = co_await in.next_block(d);
      if (!b) {
        ended = true;
        std::uint64_t gone = passed * rows - (passed ? in.skip_left() : 0);
        std::uint64_t whole = drop_remainder ? gone / rows : (gone + rows - 1) / rows;
        out.unpass(passed - std::min(passed, whole));
        if (part.rows && !drop_remainder) ::new (static_cast<void*>(to + made++)) batch_storage(std::move(part));
        part = batch_storage();
      }
      while (b) {
        if (part.rows == 0) part.reserve(row, rows);
        auto n =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(b.size(), rows - static_cast<std::uint64_t>(part.rows)));
        part.append(b, n);
        if (static_cast<std::uint64_t>(part.rows) == rows) {
          ::new (static_cast<void*>(to + made++)) batch_storage(std::move(part));
          part = batch_storage();
        }
      }
      out.hold(out.made(made));
    }
    in.hold_from(in.consumed() - static_cast<std::uint64_t>(part.rows));
    if (made) co_yield out.made(made);
  }
}

erased_stream open_batch(const node& n, open_context& context) {
  auto o = n.as<batch_options>();
  outlet out(*n.type);
  return batch_stage_loop(out, context.open(n.inputs[0]), static_cast<std::uint64_t>(o.size.value), o.drop_remainder);
}

}  // namespace

extern const op_info batch_op{
    .name = "batch",
    .doc = "n elements become one, stored by column",
    .fields = fields_of<batch_options>,
    .positional = 1,
    .type = [](const node& n, std::string& why) -> const element_type* {
      const element_type* t = batched_of(n.inputs[0]->type);
      if (!t)
        why = "rows of " + n.inputs[0]->type->name +
              " cannot be stacked (numbers, texts, arrays and structs of them can)";
      return t;
    },
    .open = open_batch,
    .size =
        [](const node& n) {
          auto o = n.as<batch_options>();
          return cardinality_of(*n.inputs[0]).in_groups(o.size, o.drop_remainder);
        },
};

batch_stage batch(count size, batch_options o) {
  o.size = size;
  return batch_stage(o);
}

}  // namespace sluice
