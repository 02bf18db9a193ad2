// SPDX-License-Identifier: Apache-2.0
#include "op/parquet/open_group.hpp"

#include <utility>

namespace sluice::lib {

void open_group::begin(const group_size& size, bool is_ahead) {
  is_begun_ = true;
  size_ = size;
  if (is_ahead) begin_ahead();
}

void open_group::close() {
  release();
  if (ahead_.release) ahead_.release(&ahead_);
  ahead_ = {};
  ahead_status_ = {};
  rows_.reset();
  next_row_ = 0;
  has_ahead_ = is_begun_ = false;
}

void open_group::release() {
  if (array_.release) array_.release(&array_);
  array_ = {};
  decoded_ = used_ = 0;
}

status open_group::decode_into(ArrowArray& to) {
  try {
    if (rows_->next(size_.rows_at_once, &to)) return {};
    return data_loss_error("a row group has fewer rows than the footer states");
  } catch (...) { return current_exception_status(); }
}

status open_group::decode() {
  release();
  status why;
  if (has_ahead_) {
    has_ahead_ = false;
    array_ = std::exchange(ahead_, {});
    why = std::move(ahead_status_);
  } else why = decode_into(array_);
  if (why.ok()) decoded_ = static_cast<std::uint64_t>(array_.length);
  return why;
}

void open_group::pass(std::uint64_t n) {
  used_ += n;
  next_row_ += n;
}

ArrowArray open_group::part_of(std::uint64_t n) const {
  ArrowArray part = array_;
  part.release = nullptr;
  part.offset += static_cast<std::int64_t>(used_);
  part.length = static_cast<std::int64_t>(n);
  return part;
}

void open_group::begin_ahead() {
  has_ahead_ = true;
  is_ahead_done_.store(false, std::memory_order_relaxed);  // the other thread learns of the call by a lock
}

void open_group::decode_ahead() noexcept { end_ahead(decode_into(ahead_)); }

void open_group::end_ahead(status why) noexcept {
  ahead_status_ = std::move(why);
  is_ahead_done_.store(true, std::memory_order_release);
}

}  // namespace sluice::lib
