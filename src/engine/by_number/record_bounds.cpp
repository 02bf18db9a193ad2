// SPDX-License-Identifier: Apache-2.0
#include "engine/by_number/record_bounds.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice::lib {
namespace {

status damaged_bound(std::uint64_t begin, std::uint64_t end, std::uint64_t lowest, std::uint64_t highest) {
  static_assert(std::endian::native == std::endian::little);
  if (begin < lowest || begin > highest)
    return data_loss_error(absl::StrCat("the table of offsets is damaged: the record would begin at byte ", begin,
                                        ", and records are from ", lowest, " to ", highest));
  return data_loss_error(absl::StrCat("the table of offsets is damaged: the record would end at byte ", end,
                                      end < begin ? absl::StrCat(", before its beginning, which is ", begin)
                                                  : absl::StrCat(", behind the records, which end at ", highest)));
}

}  // namespace

void record_bounds::append(const char* integers, std::size_t n) {
  const std::size_t before = window_.size();
  window_.resize(before + n);
  if (table_.width == sizeof(std::uint64_t))
    return (void)std::memcpy(window_.data() + before, integers, n * sizeof(std::uint64_t));
  for (std::size_t i = 0; i != n; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, integers + i * table_.width, table_.width);
    window_[before + i] = value;
  }
}

void record_bounds::set(const record_table& table, std::string_view integers) {
  reset(table);
  first_ = 0;
  if (!table.has_begins) window_.push_back(table.lowest);
  append(integers.data(), integers.size() / table.width);
}

task<void> record_bounds::fill(placed_input& from, std::uint64_t record, std::uint64_t n) {
  const std::uint64_t end = record + std::min(n, table_.records - record);  // of the records
  // Integer k of the file is bound k, or bound k + 1 without `has_begins`.
  const std::uint64_t shift = table_.has_begins ? 0 : 1;
  const std::uint64_t begin = record < shift ? 0 : record - shift;
  const auto count = static_cast<std::size_t>(end + 1 - shift - begin);
  auto reading = from.read(table_.offset + begin * table_.width, count * table_.width, placed_input::apart);
  const buffer_ref bytes = co_await reading;
  window_.clear();
  first_ = record;
  if (record < shift) window_.push_back(table_.lowest);
  append(bytes->data(), count);
}

void record_bounds::take(const record_wish& wish, const std::string& path, record_run& to) const {
  to.first = wish.from;
  const auto at = static_cast<std::size_t>(wish.from - first_);
  const std::uint64_t begin = window_[at];
  std::uint64_t end = begin;
  for (std::size_t i = 0; i < wish.records_max && at + i + 1 < window_.size(); ++i) {
    const std::uint64_t next = window_[at + i + 1];
    if (next < end || next > table_.highest || begin < table_.lowest) {
      if (i != 0) break;  // found again after these records
      to.lost = 1;
      to.why = damaged_bound(end, next, table_.lowest, table_.highest).in_file(path, end, wish.from);
      break;
    }
    if (next - begin > wish.bytes && i != 0) break;
    to.places.push_back({end, static_cast<std::size_t>(end - begin), static_cast<std::size_t>(next - end)});
    end = next;
  }
}

task<void> read_run(placed_input& in, placed_input::read_place where, record_run& to) {
  if (to.places.empty()) co_return;
  const std::uint64_t begin = to.places.front().offset, end = to.places.back().offset + to.places.back().bytes;
  auto reading = in.read(begin, static_cast<std::size_t>(end - begin), where);
  buffer_ref bytes = co_await reading;
  to.bytes = std::move(bytes);
}

}  // namespace sluice::lib
