// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/batch_in_making.hpp"

#include "engine/batching/row_landing.hpp"

namespace sluice::lib {
namespace {

/// Returns the index of the first row that does not stack. REQUIRES: one of the n rows does not.
std::uint32_t first_that_differs(batch_in_making& part, const block& from, std::uint32_t n) {
  std::uint32_t fit = 0, differ = n;  // the number of rows known to stack, and the first that is known not to
  while (differ - fit > 1) {
    const std::uint32_t some = fit + (differ - fit) / 2;
    try {
      part.growth(from, some, true);
      fit = some;
    } catch (const error&) { differ = some; }
  }
  return fit;
}

}  // namespace

void batch_in_making::append_built(block& from) {
  const auto* receipts = from.as<built_row>();
  batch_storage& built = *receipts->part;
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(from.size(), missing()));
  std::uint32_t n = 1;
  while (n != most && receipts[n].part == &built) ++n;
  if (rows() == 0 && n == rows_ && receipts->row == 0 && n == static_cast<std::uint64_t>(built.rows())) {
    part_ = std::move(built);
  } else {
    column& to = columns(false);
    column& rows = built.rows_column();
    built.drop_front(receipts->row - rows.gone_in_front());  // rows that the consumer has skipped
    to.append_from(rows, rows.gone_in_front(), n);
    built.drop_front(n);
  }
  from.drop_front(n);
}

status charge_growth(held_memory& memory, batch_in_making& part, std::size_t made_bytes, const block& from,
                     std::uint32_t n, std::uint64_t first) try {
  std::size_t growth = part.growth(from, n, false);
  if (growth == 0) return {};
  if (!memory.has_room_for(made_bytes + part.bytes() + growth)) growth = part.growth(from, n, true);
  std::size_t bytes = made_bytes + part.bytes() + growth;
  return memory.has_room_for(bytes) ? memory.resize(bytes) : memory.refused_of(bytes);
} catch (const error& e) {
  if (e.why().code() != status_code::invalid_argument) return e.why().in_stage(memory.label());
  return e.why().in_stage(memory.label(), first + first_that_differs(part, from, n));
}

}  // namespace sluice::lib
