// SPDX-License-Identifier: Apache-2.0
#include "op/byte_source.hpp"

#include <cerrno>
#include <cstring>

namespace sluice {
namespace {

/// Compressed bytes read at once: a quarter of what they inflate to, roughly.
constexpr std::size_t kRawBytes = 64 << 10;
constexpr std::size_t kMagicBytes = 12;  // a TFRecord is known by the CRC of its first length
/// Read at once where memory is short, and will be given back before the next.
constexpr std::size_t kTightBytes = 16 << 10;
/// A window this much larger than what is left in it is worth leaving.
constexpr std::size_t kShrinkRatio = 4;

}  // namespace

byte_source::byte_source(std::shared_ptr<run_context> run, const std::string& stage, std::string path, compression c,
                         std::size_t read_bytes)
    : run_(std::move(run)),
      memory_(run_, stage),
      path_(std::move(path)),
      compression_(c),
      read_bytes_(std::max<std::size_t>(read_bytes, 4096)) {}

task<void> byte_source::open(std::uint64_t offset) {
  auto opening = files_of(*run_).open(path_);
  file_ = co_await opening;
  if (compression_ == compression::automatic) {
    auto reading = more(kMagicBytes);
    co_await reading;
    compression_ = detect_compression(window().view().substr(0, kMagicBytes));
  }
  if (compression_ != compression::none) {
    status fits = memory_.hold_inflater();
    if (!fits.ok()) co_await fail(fits.in_file(path_));
    is_compressed_ = true;
    inflater_ = std::make_unique<inflater>(compression_);
    begin_ = end_ = 0;       // what was read to look at is read again, as compressed bytes
    buffer_ = buffer_ref();  // it may be as small as the file, and so the file would be inflated in small pieces
    offset_ = 0;
    last_ = false;
    raw_offset_ = 0;
  }
  while (offset_ < offset) {
    if (begin_ == end_ && !compressed()) {
      if (offset > file_->size_bytes())
        co_await fail(data_loss_error("the file has become shorter than the checkpoint remembers").in_file(path_));
      consume(offset - offset_);
      break;
    }
    auto reading = more(1);
    co_await reading;
    if (begin_ == end_)
      co_await fail(data_loss_error("the file has become shorter than the checkpoint remembers").in_file(path_));
    consume(std::min<std::uint64_t>(end_ - begin_, offset - offset_));
  }
}

byte_window byte_source::window() const {
  byte_window w;
  if (buffer_) w.bytes = {buffer_.get()->data() + begin_, end_ - begin_};
  w.offset = offset_;
  if (!compressed() && file_) w.end = file_->size_bytes();
  w.last = last_;
  return w;
}

void byte_source::consume(std::uint64_t n) {
  offset_ += n;
  if (n <= end_ - begin_) {
    begin_ += n;
  } else {
    begin_ = end_ = 0;
    last_ = offset_ >= file_->size_bytes();
  }
}

status byte_source::make_room(std::size_t needed) {
  std::size_t unread = end_ - begin_;
  bool tight = memory_.is_tight();
  std::size_t at_once = tight ? std::min(read_bytes_, kTightBytes) : read_bytes_;
  if (!compressed()) at_once = static_cast<std::size_t>(std::min<std::uint64_t>(at_once, file_->size_bytes() + 1));
  std::size_t wanted = std::max(needed, std::min(unread + at_once, at_once * 2));
  if (buffer_ && buffer_.get()->unshared() && buffer_.get()->capacity() >= std::max(needed, unread + at_once / 2)) {
    std::memmove(buffer_.get()->data(), buffer_.get()->data() + begin_, unread);
  } else {
    std::size_t bytes = std::max(wanted, at_once);
    if (needed > at_once && !tight) bytes = std::max(bytes, needed + needed / 2);  // not one read for each large record
    buffer_ref fresh;
    status why = memory_.make_buffer(bytes, fresh);
    if (!why.ok()) return why.in_file(path_, offset_);
    if (unread) std::memcpy(fresh->data(), buffer_.get()->data() + begin_, unread);
    buffer_ = std::move(fresh);
  }
  begin_ = 0;
  end_ = unread;
  return {};
}

status byte_source::inflate_some() {
  std::string_view raw(raw_ ? raw_.get()->data() + raw_begin_ : nullptr, raw_end_ - raw_begin_);
  inflate_step s = inflater_->step(raw, raw_last_, buffer_.get()->data() + end_, buffer_.get()->capacity() - end_);
  raw_begin_ += s.consumed;
  end_ += s.produced;
  if (s.ended) {
    last_ = true;
    inflater_.reset();
    raw_ = buffer_ref();
    memory_.drop_inflater();
  }
  return s.why.in_file(path_, raw_offset_ - (raw_end_ - raw_begin_));
}

bool byte_source::try_more(std::size_t needed, status& why) {
  while (!enough(needed)) {
    if (!buffer_ || end_ == buffer_.get()->capacity() || buffer_.get()->capacity() - begin_ < needed) {
      why = make_room(needed);
      if (!why.ok()) return true;
    }
    std::ptrdiff_t n;
    if (!compressed()) {
      n = file_->try_read_at(offset_ + (end_ - begin_), buffer_.get()->data() + end_, buffer_.get()->capacity() - end_);
      if (n == -EAGAIN) return false;
      if (n >= 0) took(static_cast<std::size_t>(n));
    } else {
      std::size_t before = end_, raw_before = raw_begin_;
      why = inflate_some();
      if (!why.ok()) return true;
      if (end_ != before || last_ || raw_begin_ != raw_before) continue;
      why = refresh_raw();
      if (!why.ok()) return true;
      n = file_->try_read_at(raw_offset_, raw_.get()->data() + raw_end_, raw_.get()->capacity() - raw_end_);
      if (n == -EAGAIN) return false;
      if (n >= 0) took_raw(static_cast<std::size_t>(n));
    }
    if (n < 0) {
      why = errno_error(static_cast<int>(-n), "cannot read").in_file(path_, offset_ + (end_ - begin_));
      return true;
    }
  }
  return true;
}

void byte_source::took(std::size_t n) {
  end_ += n;
  if (n == 0 || offset_ + (end_ - begin_) >= file_->size_bytes()) last_ = true;
}

void byte_source::took_raw(std::size_t n) {
  raw_end_ += n;
  raw_offset_ += n;
  if (n == 0 || raw_offset_ >= file_->size_bytes()) raw_last_ = true;
}

status byte_source::refresh_raw() {
  std::size_t unread = raw_end_ - raw_begin_;
  if (!raw_) {
    status why = memory_.make_buffer(
        static_cast<std::size_t>(std::min<std::uint64_t>(kRawBytes, file_->size_bytes() + 1)), raw_);
    if (!why.ok()) return why.in_file(path_, raw_offset_);
  }
  if (unread) std::memmove(raw_.get()->data(), raw_.get()->data() + raw_begin_, unread);
  raw_begin_ = 0;
  raw_end_ = unread;
  return {};
}

void byte_source::rest() {
  if (!memory_.is_tight()) return;
  if (!compressed()) {
    begin_ = end_ = 0;
    buffer_ = buffer_ref();
    last_ = offset_ >= file_->size_bytes();
    return;
  }
  if (raw_ && inflater_) {
    raw_offset_ -= raw_end_ - raw_begin_;
    raw_begin_ = raw_end_ = 0;
    raw_last_ = false;
    raw_ = buffer_ref();
  }
  std::size_t unread = end_ - begin_;
  if (!buffer_ || buffer_.get()->capacity() < kTightBytes || unread > buffer_.get()->capacity() / kShrinkRatio) return;
  buffer_ref small;
  if (unread && !memory_.make_buffer(unread, small).ok()) return;
  if (unread) std::memcpy(small->data(), buffer_.get()->data() + begin_, unread);
  buffer_ = std::move(small);
  begin_ = 0;
  end_ = unread;
}

task<void> byte_source::more(std::size_t needed) {
  for (;;) {
    status why;
    bool done = try_more(needed, why);
    if (!why.ok()) co_await fail(std::move(why));
    if (done) break;
    if (!compressed()) {
      auto reading = file_->read_at(offset_ + (end_ - begin_), buffer_, end_, buffer_.get()->capacity() - end_);
      std::size_t n = co_await reading;
      took(n);
    } else {
      auto reading = file_->read_at(raw_offset_, raw_, raw_end_, raw_.get()->capacity() - raw_end_);
      std::size_t n = co_await reading;
      took_raw(n);
    }
  }
}

}  // namespace sluice
