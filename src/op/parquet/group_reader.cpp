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

group_size group_reader::size_of(std::size_t group, std::uint64_t chunk_bytes) {
  group_size size;
  size.group = group;
  size.rows = file_->rows(group);
  const std::uint64_t bytes = file_->decoded_bytes(group, columns_);
  size.row_bytes = std::max<std::uint64_t>(bytes / std::max<std::uint64_t>(size.rows, 1), 1);
  std::uint64_t at_once = 0;
  {
    mutex_lock lock(memory_mutex_);
    at_once = std::clamp<std::uint64_t>(memory_->budget_bytes() / 64, kDecodedBytesLeast, kDecodedBytes);
  }
  size.rows_at_once = static_cast<std::size_t>(std::clamp<std::uint64_t>(at_once / size.row_bytes, 1, kDecodedRowsMax));
  size.chunk_bytes = chunk_bytes;
  size.buffers = unused_buffers();
  return size;
}

std::size_t group_reader::unused_buffers() const {
  for (std::size_t n = 0;; ++n)
    if (std::ranges::none_of(groups_, [&](const open_group& g) { return g.is_begun() && g.size().buffers == n; }))
      return n;
}

std::unique_ptr<parquet_rows> group_reader::read(const group_size& size, std::vector<file_part> parts) {
  return file_->read(size.group, columns_, std::move(parts), *this, size.rows_at_once);
}

status group_reader::begin(std::size_t group, std::vector<file_part> parts) {
  try {
    close();
    const group_size size = size_of(group);
    auto rows = read(size, std::move(parts));
    current().begin(size, false);
    current().open(std::move(rows));
    return {};
  } catch (...) { return current_exception_status(); }
}

void group_reader::close() {
  for (open_group& g : groups_) g.close();
  ahead_ = 0;
  was_ahead_ = false;
}

void group_reader::end_group(std::size_t next) {
  const open_group& ended = current();
  if (!ended.is_begun() || ended.next_row() != ended.size().rows) decodes_ = 0;
  current().close();
  was_ahead_ = false;
  if (ahead_ == 0 || ahead(1).size().group != next) return;
  first_ = (first_ + 1) % kGroups;
  --ahead_;
}

status group_reader::decode() {
  ++decodes_;
  was_ahead_ = current().has_ahead();
  return current().decode();
}

bool group_reader::has_room_ahead(const group_size& more) {
  std::uint64_t expected = more.chunk_bytes, pieces = 1, largest = more.decoded_bytes();
  for (std::size_t i = 1; i <= ahead_; ++i) {
    if (!ahead(i).is_decoding_ahead()) continue;
    expected += ahead(i).size().chunk_bytes;
    largest = std::max(largest, ahead(i).size().decoded_bytes());
    ++pieces;
  }
  mutex_lock lock(memory_mutex_);
  // The other half of the budget is for what the stages need; and these rows may take as much as those before them.
  const std::size_t spared = memory_->budget_bytes() / 2, needed = memory_->bytes();
  if (more.chunk_bytes >= spared) return false;  // the number for an invalid range would overflow
  expected += pieces * std::max<std::uint64_t>(largest, needed / (ahead_ + 1));
  return expected < spared && memory_->has_room_for(needed + spared + static_cast<std::size_t>(expected));
}

bool group_reader::begin_ahead() {
  open_group& open = current();
  // The first rows may be all that the consumer wants.
  if (decodes_ < 2 || open.has_ahead() || open.is_decoded()) return false;
  group_size more = open.size();
  more.chunk_bytes = 0;
  if (!has_room_ahead(more)) return false;
  open.begin_ahead();
  return true;
}

std::size_t group_reader::parts(std::size_t workers) const {
  if (current().size().decoded_bytes() < kDecodedPartBytesMin) return 1;
  return std::clamp<std::size_t>(std::min(workers, columns_.size()), 1, kDecodedPartsMax);
}

const open_group* group_reader::last_before_next(std::size_t ahead_most) const {
  if (decodes_ < 2 || !current().is_decoded() || ahead_ >= std::min(ahead_most, kGroupsAheadMax)) return nullptr;
  return &ahead(ahead_);
}

bool group_reader::add_ahead(std::size_t group, std::uint64_t bytes) {
  const group_size size = size_of(group, bytes);
  if (!has_room_ahead(size)) return false;
  open_group& added = ahead(++ahead_);
  added.begin(size, true);
  mutex_lock lock(unread_mutex_);
  unread_.push_back(&added);
  return true;
}

bool group_reader::begin_reading() {
  mutex_lock lock(unread_mutex_);
  return !unread_.empty() && !std::exchange(is_reading_, true);
}

open_group* group_reader::next_to_read() {
  mutex_lock lock(unread_mutex_);
  is_reading_ = !unread_.empty();
  if (unread_.empty()) return nullptr;
  open_group* next = unread_.front();
  unread_.erase(unread_.begin());
  return next;
}

void group_reader::decode_first(open_group& g, std::vector<file_part> parts) noexcept {
  try {
    g.open(read(g.size(), std::move(parts)));
  } catch (...) { return g.fail_ahead(current_exception_status()); }
  g.decode_ahead();
}

bool group_reader::is_decoding_ahead() const {
  return std::ranges::any_of(groups_, [](const open_group& g) { return g.is_decoding_ahead(); });
}

status group_reader::append(column& to, std::uint64_t n) {
  const ArrowArray part = current().part_of(n);
  status why = append_arrow(to, schema_, part, 0, static_cast<std::size_t>(n));
  if (why.ok()) pass(n);
  return why;
}

status group_reader::append(batch_storage& to, std::uint64_t n) {
  const ArrowArray part = current().part_of(n);
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
