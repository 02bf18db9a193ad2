// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/column_input.hpp"

#include <algorithm>
#include <new>

#include "sluice/base/assert.hpp"

namespace sluice::lib {
namespace {

/// The memory of the rows that are appended with one request, about.
constexpr std::uint64_t kAppendedBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kAppendedMost = 4096, kAppendedFirst = 64;

}  // namespace

column_input::column_input(const element_type& row)
    : row_(row), landing_(std::make_shared<row_landing>()), built_(row) {
  landing_->may_lend = true;
  landing_->at_once = kAppendedFirst;
}

void column_input::before_request(const erased_stream& in) {
  if (in.left() != 0) return;
  of_view_ = 0;
  appended_ = {};  // not emptied: the bytes of texts may be shared with the columns that they come from
  landing_->rows = &appended_.make_rows(row_);
  landing_->lent = nullptr;
}

column_view column_input::rows(const char* receipts, std::uint32_t left, std::uint32_t n) {
  SLUICE_REQUIRES(n <= left && (of_view_ == 0 || left <= of_view_), "the rows are of the view");
  const column& all = landing_->lent ? *landing_->lent : appended_.rows_column();
  if (of_view_ == 0) of_view_ = left;
  const std::uint32_t row_bytes = std::launder(reinterpret_cast<const landed_row*>(receipts))->bytes;
  landing_->at_once = std::clamp<std::uint64_t>(kAppendedBytes / std::max(row_bytes, 1u), 1, kAppendedMost);
  return {&all, (landing_->lent ? landing_->lent_first : 0) + (of_view_ - left), n};
}

block column_input::built(const column_view& rows) {
  char* to = built_.reserve(rows.n);
  rows.all->make(rows.first, rows.n, to, row_.size);
  built_.set_live(0, rows.n);
  return {&built_, &row_, to, rows.n};
}

}  // namespace sluice::lib
