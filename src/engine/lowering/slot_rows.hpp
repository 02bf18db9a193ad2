// SPDX-License-Identifier: Apache-2.0
// The rows that a task builds ahead of a batch (engine/batching/row_landing.hpp), from the inputs of a slot.
//
//   slot_rows rows(ring, slot, row_type, landing.rows_of_batch);
//   while (!rows.is_done() && rows.build(append).ok() && !rows.is_cut_short()) {}
//   rows.finish_part();
//
// Thread: the task of the slot.
#pragma once

#include <absl/functional/function_ref.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "ahead/slot_supply.hpp"
#include "element/batches/blocks.hpp"
#include "engine/batching/row_landing.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

/// The number of rows that are built at a time. Their memory is charged after each call, so a consumer that knows their
/// size asks for fewer of large ones.
inline constexpr std::uint32_t kRowsAtOnceInSlots = 1024;

/// Returns the estimated size of a row: it is not measured, but taken as that of its input and of its values.
inline std::uint32_t estimated_row_bytes(const block& in, const column& rows) {
  const std::size_t bytes = in.type().footprint ? in.type().footprint(in.type(), in.data(), in.size()) / in.size() : 0;
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes + rows.type().size, ~std::uint32_t{0}));
}

/// Builds rows on the consumer's own thread, and returns their receipts. Rows that the consumer skips do not land in its
/// columns. `append`: appends rows for the inputs, up to the first whose call fails.
inline block rows_built_here(outlet& out, const block& inputs, const element_type& row, row_landing& landing,
                             absl::FunctionRef<applied(column&)> append, status& why) {
  const bool lands = out.to_pass() == 0;
  auto part = lands ? nullptr : std::make_unique<batch_storage>();
  column& rows = lands ? *landing.rows : part->make_rows(row);
  const std::uint32_t each = estimated_row_bytes(inputs, rows);
  applied a = append(rows);
  why = std::move(a.why);
  auto* to = reinterpret_cast<built_row*>(out.room(inputs.size()));
  if (!lands && a.done) make_receipts(std::move(part), to);
  for (std::uint32_t i = 0; lands && i != a.done; ++i)
    ::new (static_cast<void*>(to + i)) built_row(nullptr, 0, each, false);
  return out.made(a.done);
}

/// Builds the rows of a slot in parts, which end where the batches of the consumer end.
class slot_rows {
 public:
  slot_rows(slot_supply& ring, ring_slot* slot, const element_type& row, std::uint64_t rows_of_batch)
      : ring_(ring),
        slot_(slot),
        row_(row),
        rows_of_batch_(rows_of_batch),
        receipts_(reinterpret_cast<built_row*>(slot->output.reserve(slot->count))),
        made_bytes_(payload_bytes(slot->input)) {}

  bool is_done() const { return seen_ == slot_->count; }
  std::uint32_t seen() const { return seen_; }
  /// Appends rows for the next inputs. Returns the error of the next input after them.
  /// `append`: appends rows for a block of inputs, the first of which has this ordinal.
  status build(absl::FunctionRef<applied(const block&, column&, std::uint64_t ordinal)> append) {
    const std::uint64_t ordinal = slot_->first + seen_, to_end = rows_of_batch_ - ordinal % rows_of_batch_;
    const std::uint32_t left = slot_->count - seen_;
    if (!part_) {
      part_ = std::make_unique<batch_storage>();
      part_->make_rows(row_).reserve(std::min<std::uint64_t>(left, to_end));
    }
    const element_type& in = slot_->input.type();
    const std::uint32_t fit = ring_.memory().elements_that_fit(in, slot_->output.type(), kRowsAtOnceInSlots * kChecks);
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>({left, to_end, std::max(fit / kChecks, 1u)}));
    const block inputs(&slot_->input, &in, slot_->input.begin() + (slot_->input_at + seen_) * in.size, n);
    column& rows = part_->rows_column();
    const std::size_t before = rows.rows();
    applied a;
    try {
      a = append(inputs, rows, ordinal);
    } catch (...) {
      rows.truncate(before);
      finish_part();
      throw;
    }
    seen_ += a.done;
    if (a.done == to_end) finish_part();
    return a.why;
  }
  void pass_input() { ++seen_; }
  /// Leaves the rest of the inputs for another round if the ring has no room for more rows.
  bool is_cut_short() {
    const std::size_t n = receipts_made_ + (part_ ? static_cast<std::size_t>(part_->rows()) : 0);
    const std::size_t bytes = made_bytes_ + (part_ ? part_->memory_bytes() : 0);
    if (n == 0 || is_done() || ring_.has_room(slot_, bytes, bytes / n)) return false;
    ring_.cut_short(slot_, seen_);
    return true;
  }
  void finish_part() {
    if (!part_ || part_->rows() == 0) return;
    const auto n = static_cast<std::size_t>(part_->rows());
    made_bytes_ += part_->memory_bytes();
    make_receipts(std::move(part_), receipts_ + receipts_made_);
    slot_->output.set_live(0, receipts_made_ += n);
  }

 private:
  static constexpr std::uint32_t kChecks = 8;  ///< the memory of a block's rows is measured this many times

  slot_supply& ring_;
  ring_slot* const slot_;
  const element_type& row_;
  const std::uint64_t rows_of_batch_;
  built_row* const receipts_;
  std::size_t receipts_made_ = 0;
  std::size_t made_bytes_;  ///< of the inputs and of finished parts
  std::unique_ptr<batch_storage> part_;
  std::uint32_t seen_ = 0;
};

}  // namespace sluice::lib
