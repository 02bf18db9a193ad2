// SPDX-License-Identifier: Apache-2.0
// The part of byte_source that finds the compression of a file, and inflates it.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "coro/long_work.hpp"
#include "format/codec/compression_suffix.hpp"
#include "input/byte_source.hpp"

namespace sluice::lib {
namespace {

/// Inflating fewer bytes costs no more than reading again from another place.
constexpr std::uint64_t kInflatedGapMin = 64 << 10;

}  // namespace

task<void> byte_source::guess_compression() {
  auto reading = more(kCompressionMagicBytes);
  co_await reading;
  if (may_be_compressed(window().view())) {
    auto looking = more(kCompressionGuessBytes);
    co_await looking;
  }
  const std::string_view first = window().view().substr(0, kCompressionGuessBytes);
  compression_ = detect_compression(first, path_);
  if (compression_ != compression::none) co_return;
  status fits = check_compression_suffix(first, path_);
  if (!fits.ok()) co_await fail(std::move(fits));
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

void byte_source::note_points(seek_point_builder& to) {
  if (inflater_) inflater_->note_points(to);
}

status byte_source::resume_inflating(std::uint64_t offset) {
  if (!points_ || !inflater_ || !can_seek_) return {};
  const seek_point* point = seek_point_before(*points_, offset);
  const std::uint64_t reached = offset_ + (end_ - begin_);
  if (!point || point->out_bytes < reached + kInflatedGapMin) return {};
  if (size_ != provenance::kUnknown && point->in_bytes >= size_)
    return data_loss_error("a place of the index is behind the file");
  inflate_limits limits = inflated_;
  limits.held_max = inflater_->held_bytes();
  inflater_ = std::make_unique<inflater>(compression_, limits);
  status why = inflater_->go_to(*point);
  if (!why.ok()) return why;
  raw_begin_ = raw_end_ = 0;
  raw_offset_ = point->in_bytes;
  raw_last_ = false;
  buffer_ = {};  // elements may still use it
  outgrown_ = {};
  begin_ = end_ = 0;
  offset_ = point->out_bytes;
  return {};
}

task<void> byte_source::finish() {
  long_work work;
  while (compressed() && !last_) {
    consume(end_ - begin_);
    auto reading = more(1);
    co_await reading;
    co_await work.breath();
  }
}

}  // namespace sluice::lib
