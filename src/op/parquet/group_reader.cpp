// SPDX-License-Identifier: Apache-2.0
#include "op/parquet/group_reader.hpp"

#include <algorithm>
#include <utility>

#include "arrow/import.hpp"
#include "arrow/ipc_formats.hpp"
#include "arrow/row_type.hpp"
#include "sluice/arrow/columns.hpp"

namespace sluice::lib {
namespace {

/// The decoded size of the rows of one call: large enough that the cost of changing threads is small. With 1 MiB a scan of
/// two columns on two cores takes a fifth longer. With a small memory budget it is a part of that, because an interleave
/// opens many files.
constexpr std::uint64_t kDecodedBytes = std::uint64_t{4} << 20, kDecodedBytesLeast = std::uint64_t{1} << 20;
constexpr std::uint64_t kDecodedRowsMax = std::uint64_t{1} << 17;
/// Smaller rows are decoded by one call, which takes less time than several threads need to begin; and the most threads.
constexpr std::uint64_t kDecodedPartBytesMin = std::uint64_t{128} << 10;
constexpr std::size_t kDecodedPartsMax = 4;

}  // namespace

status group_reader::fit(std::shared_ptr<const parquet_file> file) {
  file_ = std::move(file);
  const ArrowSchema& all = file_->schema();
  status fits = check_arrow_rows(row_, all);
  if (!fits.ok()) return fits;
  const bool is_struct = row_.kind == kind::structure;
  columns_.clear();
  fields_.clear();
  for (std::int64_t k = 0; k != all.n_children; ++k) {
    const std::string_view name = arrow::ipc_name_of(*all.children[k]);
    const bool is_wanted = is_struct
                               ? std::ranges::any_of(row_.members, [&](const member& m) { return m.name == name; })
                               : all.n_children == 1 || name == "value";
    if (!is_wanted) continue;
    columns_.push_back(static_cast<std::size_t>(k));
    fields_.push_back(all.children[k]);
  }
  // Rows of optionals that the file lacks have a number, which some column shows.
  if (columns_.empty() && all.n_children != 0) {
    columns_.push_back(0);
    fields_.push_back(all.children[0]);
  }
  schema_ = all;
  schema_.n_children = static_cast<std::int64_t>(fields_.size());
  schema_.children = fields_.data();
  return {};
}

std::uint64_t group_reader::rows_before(std::size_t group) const {
  std::uint64_t rows = 0;
  for (std::size_t g = 0; g != group; ++g) rows += file_->rows(g);
  return rows;
}

group_reader::opened group_reader::open(std::size_t group, std::vector<file_part> parts) {
  opened o;
  o.group = group;
  o.size = file_->rows(group);
  o.row_bytes = std::max<std::uint64_t>(file_->decoded_bytes(group, columns_) / std::max<std::uint64_t>(o.size, 1), 1);
  std::uint64_t bytes = 0;
  {
    mutex_lock lock(memory_mutex_);
    bytes = std::clamp<std::uint64_t>(memory_->budget_bytes() / 64, kDecodedBytesLeast, kDecodedBytes);
  }
  o.rows_at_once = static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes / o.row_bytes, 1, kDecodedRowsMax));
  o.rows = file_->read(group, columns_, std::move(parts), *this, o.rows_at_once);
  return o;
}

status group_reader::begin(std::size_t group, std::vector<file_part> parts) {
  try {
    close();
    open_ = open(group, std::move(parts));
    return {};
  } catch (...) { return current_exception_status(); }
}

void group_reader::close() {
  release();
  drop_ahead();
  open_ = {};
  failure_ = {};
  next_row_ = 0;
}

/// Drops the rows and the group that were made ahead.
void group_reader::drop_ahead() {
  if (ahead_.release) ahead_.release(&ahead_);
  ahead_ = {};
  ahead_status_ = {};
  has_ahead_ = has_next_ = false;
  next_ = {};
}

void group_reader::end_group(std::size_t next) {
  if (!open_.rows || next_row_ != open_.size) decodes_ = 0;
  if (!has_next_) return close();
  release();
  open_ = {};
  next_row_ = 0;
  if (next < next_group_) return;
  // Memory that is missing for two groups may suffice for one.
  const bool is_next = next == next_group_, may_retry = ahead_status_.code() == status_code::resource_exhausted;
  if (is_next && next_.rows && !may_retry) {
    open_ = std::move(next_);
    has_next_ = false;
    return;
  }
  status why = is_next && !may_retry ? std::move(ahead_status_) : status();
  drop_ahead();
  failure_ = std::move(why);
}

status group_reader::take_failure(std::size_t group) {
  return group == next_group_ ? std::exchange(failure_, {}) : status();
}

void group_reader::release() {
  if (array_.release) array_.release(&array_);
  array_ = {};
  decoded_ = used_ = 0;
}

status group_reader::decode_into(const opened& from, ArrowArray& to) {
  try {
    if (from.rows->next(from.rows_at_once, &to)) return {};
    return data_loss_error("a row group has fewer rows than the footer states");
  } catch (...) { return current_exception_status(); }
}

status group_reader::decode() {
  release();
  ++decodes_;
  status why;
  if (has_ahead_) {
    has_ahead_ = false;
    array_ = std::exchange(ahead_, {});
    why = std::move(ahead_status_);
  } else why = decode_into(open_, array_);
  if (why.ok()) decoded_ = static_cast<std::uint64_t>(array_.length);
  return why;
}

bool group_reader::has_room_ahead(std::uint64_t bytes) {
  mutex_lock lock(memory_mutex_);
  // The other half of the budget is for what the stages need; and these rows may take as much as those before them.
  const std::size_t spared = memory_->budget_bytes() / 2, needed = memory_->bytes();
  return bytes < spared && memory_->has_room_for(2 * needed + spared + static_cast<std::size_t>(bytes));
}

bool group_reader::begin_ahead() {
  // The first rows may be all that the consumer wants.
  if (has_ahead_ || decodes_ < 2 || next_row_ + decoded() >= open_.size || !has_room_ahead(0)) return false;
  has_ahead_ = true;
  is_ahead_done_.store(false, std::memory_order_relaxed);  // the other thread learns of the call by a lock
  return true;
}

bool group_reader::begin_next(std::size_t group, std::uint64_t bytes) {
  if (!has_room_ahead(bytes)) return false;
  has_ahead_ = has_next_ = true;
  next_group_ = group;
  is_ahead_done_.store(false, std::memory_order_relaxed);  // as in begin_ahead()
  return true;
}

void group_reader::end_ahead(status why) noexcept {
  ahead_status_ = std::move(why);
  is_ahead_done_.store(true, std::memory_order_release);
}

void group_reader::decode_ahead() noexcept { end_ahead(decode_into(decoding(), ahead_)); }

std::size_t group_reader::parts(std::size_t workers) const {
  const opened& o = decoding();
  if (o.row_bytes * std::min<std::uint64_t>(o.rows_at_once, o.size) < kDecodedPartBytesMin) return 1;
  return std::clamp<std::size_t>(std::min(workers, columns_.size()), 1, kDecodedPartsMax);
}

bool group_reader::open_next(std::vector<file_part> parts) noexcept {
  try {
    next_ = open(next_group_, std::move(parts));
    return true;
  } catch (...) { end_ahead(current_exception_status()); }
  return false;
}

void group_reader::fail_ahead(status why) noexcept { end_ahead(std::move(why)); }

void group_reader::pass(std::uint64_t n) {
  used_ += n;
  next_row_ += n;
}

ArrowArray group_reader::part_of(std::uint64_t n) const {
  ArrowArray part = array_;
  part.release = nullptr;
  part.offset += static_cast<std::int64_t>(used_);
  part.length = static_cast<std::int64_t>(n);
  return part;
}

status group_reader::append(column& to, std::uint64_t n) {
  const ArrowArray part = part_of(n);
  status why = append_arrow(to, schema_, part, 0, static_cast<std::size_t>(n));
  if (why.ok()) pass(n);
  return why;
}

status group_reader::append(batch_storage& to, std::uint64_t n) {
  const ArrowArray part = part_of(n);
  status why = append_arrow_rows(to, row_, schema_, part);
  if (why.ok()) pass(n);
  return why;
}

bool group_reader::grow(std::size_t bytes) noexcept {
  mutex_lock lock(memory_mutex_);
  if (memory_->change(bytes, 0).ok()) return true;
  memory_->shrink_by(bytes);
  return false;
}

void group_reader::shrink(std::size_t bytes) noexcept {
  mutex_lock lock(memory_mutex_);
  memory_->shrink_by(bytes);
}

}  // namespace sluice::lib
