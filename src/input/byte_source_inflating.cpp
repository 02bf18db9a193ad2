// SPDX-License-Identifier: Apache-2.0
// The part of byte_source that finds the compression of a file, and inflates it.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "input/byte_source.hpp"

namespace sluice::lib {

task<void> byte_source::guess_compression() {
  auto reading = more(kCompressionMagicBytes);
  co_await reading;
  if (may_be_compressed(window().view())) {
    auto looking = more(kCompressionGuessBytes);
    co_await looking;
  }
  compression_ = detect_compression(window().view().substr(0, kCompressionGuessBytes), path_);
}

status byte_source::start_inflating() {
  status fits = memory_.hold_inflater(inflater::kBytes);
  if (!fits.ok()) return fits;
  is_compressed_ = true;
  inflate_limits limits = inflated_;
  limits.held_max = inflater::kBytes;
  inflater_ = std::make_unique<inflater>(compression_, limits);
  make_ranges(raw_bytes_);
  if (!can_seek_ || (advice_.keep_read && end_ != 0)) {  // bytes that were examined must not be read again
    raw_begin_ = begin_;
    raw_end_ = end_;
    raw_offset_ = end_ - begin_;
    raw_last_ = last_;
    raw_ = std::move(buffer_);
  }
  buffer_ = {};  // it may be as small as the file, and then the file would be inflated in small pieces
  begin_ = end_ = 0;
  offset_ = 0;
  last_ = false;
  return {};
}

status byte_source::inflate_some() {
  inflate_step s;
  do {
    std::string_view raw(raw_ ? raw_.get()->data() + raw_begin_ : nullptr, raw_end_ - raw_begin_);
    std::size_t room = std::min(buffer_.get()->capacity() - end_, kStepBytes);
    s = inflater_->step(raw, raw_last_, buffer_.get()->data() + end_, room);
    raw_begin_ += s.consumed;
    end_ += s.produced;
    if (s.wants_bytes == 0) break;
    s.why = memory_.hold_inflater(s.wants_bytes);
    inflater_->allow(s.wants_bytes);
  } while (s.why.ok());
  if (s.ended) {
    last_ = true;
    inflater_.reset();
    raw_ = buffer_ref();
    memory_.drop_inflater();
  }
  return s.why.in_file(path_, raw_offset_ - (raw_end_ - raw_begin_));
}

status byte_source::refresh_raw() {
  std::size_t unread = raw_end_ - raw_begin_;
  if (!raw_) {
    status why = memory_.make_buffer(std::max<std::size_t>(1, readable(0, raw_bytes_)), raw_);
    if (!why.ok()) return why.in_file(path_, raw_offset_);
  }
  if (unread) std::memmove(raw_.get()->data(), raw_.get()->data() + raw_begin_, unread);
  raw_begin_ = 0;
  raw_end_ = unread;
  return {};
}

}  // namespace sluice::lib
