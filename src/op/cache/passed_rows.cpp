// SPDX-License-Identifier: Apache-2.0
#include "op/cache/passed_rows.hpp"

#include <algorithm>

#include "sluice/base/assert.hpp"

namespace sluice::lib {
namespace {

/// Columns of more bytes are freed when their rows are delivered.
constexpr std::size_t kBuiltBytesMax = std::size_t{1} << 20;

}  // namespace

void passed_rows::expect(bool are_wanted) {
  if (!from_) return;
  if (are_wanted) {
    from_->rows = to_->rows;
  } else {
    if (built_.memory_bytes() > kBuiltBytesMax) built_ = {};
    from_->rows = &built_.make_rows(*row_);
    from_->rows->truncate(0);
  }
  rows_before_ = from_->rows->rows();
  memory_before_ = from_->rows->memory_bytes();
  from_->at_once = to_->at_once;
  from_->rows_of_batch = to_->rows_of_batch;
}

made_elements passed_rows::received(const block& view) {
  if (!from_) return view;
  column& rows = *from_->rows;
  if (from_->is_ahead) {
    // Rows that were built ahead are in columns of their own. Receipts without such columns are of rows that have landed
    // here, which are all of the view.
    const auto* receipts = view.as<built_row>();
    for (std::uint32_t i = 0; i != view.size() && receipts[i].part;) {
      std::uint32_t n = 1;
      while (i + n != view.size() && receipts[i + n].part == receipts[i].part) ++n;
      rows.append_copies(receipts[i].part->rows_column(), receipts[i].row, n);
      i += n;
    }
  }
  SLUICE_REQUIRES(rows.rows() - rows_before_ == view.size(),
                  "the input has not appended the rows that its receipts are of");
  return {rows, rows_before_, view.size()};
}

block passed_rows::deliver(outlet& out, const made_elements& made, std::size_t first) {
  column& to = *to_->rows;
  const std::size_t n = made.size() - first;
  const bool are_there = made.rows() == &to;
  SLUICE_REQUIRES(!are_there || first == 0, "rows that are not wanted are in the consumer's columns");
  const std::size_t before = are_there ? memory_before_ : to.memory_bytes();
  if (!are_there && made.rows()) to.append_copies(*made.rows(), made.first() + first, n);
  if (!made.rows()) to.append_copies_of(static_cast<const char*>(made.objects()) + first * row_->size, n, row_->size);
  if (built_.memory_bytes() > kBuiltBytesMax) built_ = {};
  return receipts(out, n, std::max<std::size_t>(to.memory_bytes() - before, n * row_->size) / n);
}

block passed_rows::deliver(outlet& out, const element_cache& from, std::uint64_t ordinal) {
  const element_cache::copied copied = from.copy(ordinal, out.wanted(), out.wanted_bytes(), *to_->rows);
  return copied.count == 0 ? block() : receipts(out, copied.count, copied.bytes_each);
}

block passed_rows::receipts(outlet& out, std::size_t n, std::size_t bytes_each) {
  const landed_row each{static_cast<std::uint32_t>(std::min<std::size_t>(bytes_each, ~std::uint32_t{0}))};
  std::fill_n(reinterpret_cast<landed_row*>(out.room(n)), n, each);
  return out.made(n);
}

}  // namespace sluice::lib
