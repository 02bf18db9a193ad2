// SPDX-License-Identifier: Apache-2.0
#include "format/csv/csv_tape.hpp"

#include <algorithm>

namespace sluice::lib {

void csv_tape::restart(std::uint64_t offset) {
  head_ = count_ = 0;
  base_ = end_ = offset;
  from_ = 0;
}

void csv_tape::go_to(std::uint64_t offset) {
  if (offset < base_ || offset > end_) restart(offset);
  if (offset < base_ + from_) head_ = 0;
  from_ = static_cast<std::uint32_t>(offset - base_);
  head_ = static_cast<std::size_t>(std::lower_bound(entries_.get() + head_, entries_.get() + count_, from_) -
                                   entries_.get());
}

void csv_tape::make_room(std::size_t n) {
  if (from_ != 0) {  // else the present row is longer than the indexed bytes
    for (std::size_t i = head_; i != count_; ++i) entries_[i - head_] = entries_[i] - from_;
    count_ -= head_;
    head_ = 0;
    base_ += from_;
    from_ = 0;
  }
  // allocated for a longer row before
  const bool is_large = capacity_ > kEntriesUsual && count_ + n <= kEntriesUsual / 4;
  if (count_ + n <= capacity_ && !is_large) return;
  capacity_ = is_large ? kEntriesUsual / 4 : std::max(count_ + n, 2 * capacity_);
  if (capacity_ > kEntriesUsual) capacity_ = std::max(capacity_, kRowEntriesMax + kPieceBytesMax + 8);
  auto larger = std::make_unique_for_overwrite<std::uint32_t[]>(capacity_);
  std::copy_n(entries_.get(), count_, larger.get());
  entries_ = std::move(larger);
}

bool csv_tape::extend(std::string_view window) {
  if (indexed_bytes() >= window.size()) return false;
  const std::size_t bytes = std::min(window.size() - indexed_bytes(),
                                     std::clamp(count_ != head_ ? indexed_bytes() : 0, kPieceBytes, kPieceBytesMax));
  make_room(bytes);
  const auto from = static_cast<std::uint32_t>(end_ - base_), to = from + static_cast<std::uint32_t>(bytes);
  count_ =
      static_cast<std::size_t>(index_.find(window.data(), from, to, index_, entries_.get() + count_) - entries_.get());
  end_ += bytes;
  return true;
}

}  // namespace sluice::lib
