// SPDX-License-Identifier: Apache-2.0
#include "input/byte_source.hpp"

#include <cstring>
#include <utility>

#include "coro/long_work.hpp"
#include "coro/trace_log.hpp"
#include "input/content_digest.hpp"
#include "input/early_open.hpp"
#include "io/paths/file_router.hpp"
#include "runtime/known_files.hpp"
#include "runtime/seen_inputs.hpp"
#include "sluice/coro/this_stage.hpp"

namespace sluice::lib {
namespace {

/// The number of compressed bytes read at once: roughly a quarter of their inflated size.
constexpr std::size_t kRawBytes = 64 << 10;
/// A smaller window is not worth releasing.
constexpr std::size_t kLeftBytesMin = 16 << 10;
/// A file up to this size may be read together with its opening.
constexpr std::size_t kHeadBytesMax = 64 << 10;
/// The first window behind bytes that were skipped. Each later one is twice as large, up to that of a whole read: a reader
/// that jumps from record to record needs a few bytes at each place.
constexpr std::size_t kJumpBytes = 4 << 10;
/// Skipping fewer bytes costs no more than reading them.
constexpr std::size_t kFarBytes = 16 << 10;
/// A window this many times as large as its unread bytes is worth releasing.
constexpr std::size_t kShrinkRatio = 4;

}  // namespace

byte_source::byte_source(std::shared_ptr<run_context> run, site_record& site, const std::string& stage,
                         byte_source_options o)
    : run_(std::move(run)),
      memory_(run_, site, stage),
      path_(std::move(o.path)),
      compression_(o.compression),
      inflated_(o.inflated),
      cache_(o.cache),
      read_bytes_(std::max<std::size_t>(o.read_bytes, 4096)),
      raw_bytes_(kRawBytes),
      epoch_(o.epoch),
      reads_in_flight_(o.reads_in_flight),
      reads_untouched_(o.reads_untouched),
      sizes_(o.sizes),
      site_(site),
      stage_(stage) {
  if (o.first_read_bytes < read_bytes_) window_bytes_ = o.first_read_bytes;
}

byte_source::~byte_source() {
  if (noted_) run_->inputs->file_closed(path_);
}

task<void> byte_source::open(std::uint64_t offset) {
  const bool reads_ahead = reads_in_flight_ && reads_in_flight_->get() > 1;
  if (reads_ahead) {
    auto taking = take_opened_early();
    co_await taking;
  }
  std::optional<file_info> known;
  if (!file_) known = run_->known->take(path_);
  // Only the first read shows if the listing is true, so that read must return wanted bytes: the file's beginning,
  // unchanged.
  const bool begins = offset == 0 && (compression_ == compression::automatic || compression_ == compression::none);
  at_beginning_ = reads_ahead && begins && !file_;
  if (known && begins && !known->is_stream && known->size_bytes != 0) {
    auto opening = open_as_listed(*std::move(known));
    co_await opening;
  }
  if (!file_) {
    // A compressed file is read from its beginning, or from a point that is not known yet.
    const std::uint64_t begins_at = compression_ == compression::none ? offset : 0;
    auto opening = open_file({}, begins ? head_wanted() : 0, begins ? room_wanted(expected_bytes()) : 0, begins_at);
    co_await opening;
    if (file_->head_bytes() != 0) open_next_early(true);
  }
  auto identifying = identify_file(run_, file_);
  const input_identity now = co_await identifying;
  status fits = note_opened(offset, now);
  if (!fits.ok()) co_await fail(std::move(fits));
  if (compression_ == compression::automatic) {
    auto guessing = guess_compression();
    co_await guessing;
  }
  if (compression_ != compression::none) {
    status has_room = start_inflating();
    if (!has_room.ok()) co_await fail(has_room.in_file(path_));
  }
}

wait_reason byte_source::waits_for() const {
  return detail::is_remote(path_) ? wait_reason::network : wait_reason::disk;
}

std::size_t byte_source::head_wanted() const {
  const std::size_t expected = expected_bytes();
  return expected <= kHeadBytesMax ? expected : 0;
}

std::size_t byte_source::room_wanted(std::uint64_t size_bytes) const {
  const std::size_t first = files_of(*run_).first_read_bytes(path_);
  return size_bytes != 0 ? static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, first)) : first;
}

task<void> byte_source::open_file(std::optional<file_info> known, std::size_t head_bytes, std::size_t room_bytes,
                                  std::uint64_t begins_at) {
  open_options how;
  how.known = std::move(known);
  how.deadline = io_deadline(*run_);
  how.cache = cache_;
  // Its reads are long: each is at least as long as the file advises.
  if (begins_at != 0) how.reading = open_options::exact;
  buffer_ref head;
  if (head_bytes != 0 && memory_.make_buffer_ahead(head_bytes, head, {})) {
    how.head = head;
    how.head_bytes = head_bytes;
  } else if (room_bytes != 0 && memory_.make_buffer_ahead(room_bytes, head, {})) {
    memory_.make_ready(head);
  }
  stage_base* reader = co_await this_stage();
  const time_point began = run_->time->now();
  auto opening = files_of(*run_).open(path_, std::move(how));
  result<std::unique_ptr<file>> opened = co_await opening.as_result();
  const time_point opened_at = run_->time->now();
  const duration took = opened_at - began;
  if (reader && took > duration(0)) {
    reader->waited(took, waits_for());
    if (tracing()) trace_wait(*reader, waits_for(), began, opened_at);
  }
  if (!opened.ok()) co_await fail(opened.why());
  const std::size_t has = (*opened)->head_bytes();
  take_file(*std::move(opened), std::move(head), has);
  if (has != 0) site_.counts().rare().add_first_byte(took);
  else ranges_->first_byte_since(began);
}

/// Elements may retain a buffer for long, so a buffer must not be much larger than its elements.
bool byte_source::fits_first_read(std::size_t room_bytes) const {
  const std::uint64_t first = std::min<std::uint64_t>(size_, read_bytes_);
  return room_bytes >= first && (room_bytes / 2 <= first || room_bytes <= kHeadBytesMax);
}

void byte_source::take_file(std::shared_ptr<file> opened, buffer_ref head, std::size_t head_bytes) {
  file_ = std::move(opened);
  size_ = file_->size_bytes();
  if (sizes_ && size_ != provenance::kUnknown) sizes_->learn(static_cast<std::size_t>(size_), 1);
  can_seek_ = !file_->info().is_stream;
  advice_ = file_->advice();
  read_bytes_ = std::max(read_bytes_, advice_.first_bytes);
  raw_bytes_ = std::max(raw_bytes_, advice_.first_bytes);
  make_ranges(read_bytes_);
  last_ = size_ == 0;
  if (!head || (head_bytes == 0 && !fits_first_read(head->capacity()))) return;
  buffer_ = std::move(head);
  begin_ = 0;
  end_ = readable(0, head_bytes);
  read_bytes_total_ += end_;
  if (end_ == size_) last_ = true;
}

task<void> byte_source::take_opened_early() {
  auto taking = take_early(run_, path_, cache_);
  std::shared_ptr<early_opened> early = co_await taking;
  if (!early) co_return;
  at_beginning_ = true;
  take_file(std::move(early->from), std::move(early->head), early->head_bytes);
  open_next_early(early->waited);
}

void byte_source::open_next_early(bool waited) {
  if (!std::exchange(at_beginning_, false) || !can_seek_) return;
  early_options how;
  how.site = &site_;
  how.cache = cache_;
  how.read_bytes = read_bytes_;
  how.head_bytes = head_wanted();
  open_coming(run_, path_, stage_, how, waited);
}

task<void> byte_source::open_as_listed(file_info known) {
  const std::size_t room = room_wanted(known.size_bytes);
  auto opening = open_file(std::move(known), 0, room, 0);
  status why = co_await opening.as_result();
  if (why.ok()) {
    auto reading = more(1);
    why = co_await reading.as_result();
  }
  if (why.ok()) co_return;
  if (why.code() != status_code::failed_precondition) co_await fail(std::move(why));
  // The file has been replaced since. A file that changes during a run is not an error: its present content is read.
  ranges_.reset();
  file_.reset();
  buffer_ = {};
  begin_ = end_ = 0;
}

void byte_source::make_ranges(std::size_t bytes) {
  ranges_.emplace(run_, file_, memory_,
                  read_ahead_options{.ranges_max = can_seek_ && !advice_.in_order ? reads_in_flight_ : nullptr,
                                     .untouched = reads_untouched_,
                                     .ranges_if_untouched = advice_.reads_at_once,
                                     .waits_for = waits_for(),
                                     .counts = &site_.counts(),
                                     .waits_long = advice_.first_bytes != 0,
                                     .range_bytes = bytes,
                                     .range_bytes_max = advice_.range_bytes_max,
                                     .ahead_at_once = std::max(advice_.ahead_at_once, 1u)});
}

status byte_source::note_opened(std::uint64_t offset, const input_identity& now) {
  if (file_->info().is_stream) {
    run_->inputs->stream_opened(path_);
    if (offset == 0) return {};
    return failed_precondition_error("cannot be read again from a position inside of it").in_file(path_);
  }
  status changed = run_->inputs->file_opened(path_, epoch_, now);
  noted_ = true;
  return run_->settle_changed_input(changed.in_file(path_));
}

task<void> byte_source::go_to(std::uint64_t offset) {
  long_work work;
  unread_.clear();
  const bool seeks = !compressed() && can_seek_;
  status resumed = resume_inflating(offset);
  if (!resumed.ok()) co_await fail(resumed.in_file(path_));
  if (seeks && offset <= size_ && offset > offset_) {
    // If a file has no size, the byte before the offset shows that the file is at least that long.
    consume(offset - offset_ - (size_ == provenance::kUnknown ? 1 : 0));
  }
  while (offset_ < offset) {
    if (begin_ == end_ && (!seeks || size_ == provenance::kUnknown)) {
      auto reading = more(1);
      co_await reading;
    }
    if (begin_ == end_)
      co_await fail(data_loss_error("the file has become shorter than the checkpoint records").in_file(path_));
    consume(std::min<std::uint64_t>(end_ - begin_, offset - offset_));
    co_await work.breath();
  }
}

byte_window byte_source::window() const {
  byte_window w;
  if (buffer_) w.bytes = {buffer_.get()->data() + begin_, end_ - begin_};
  w.offset = offset_;
  if (!compressed()) w.end = size_;
  w.last = last_;
  return w;
}

void byte_source::consume(std::uint64_t n) {
  offset_ += n;
  if (n <= end_ - begin_) {
    begin_ += n;
  } else {
    const std::uint64_t skipped = n - (end_ - begin_);
    if (skipped >= kFarBytes && advice_.first_bytes == 0) window_bytes_ = kJumpBytes;
    // The next window is not larger than the last one if a quarter of that was skipped.
    else if (window_bytes_ / 2 >= kJumpBytes && skipped >= window_bytes_ / 8) window_bytes_ /= 2;
    // Elements may still use the buffer, so the next bytes must not overwrite it.
    if (buffer_ && (window_bytes_ || !buffer_.get()->unshared())) buffer_ = buffer_ref();
    begin_ = end_ = 0;
    jumped_ = true;
    last_ = offset_ >= size_;
  }
}

status byte_source::check_end() const {
  if (!jumped_ || offset_ < size_) return {};
  std::uint64_t now = file_->size_now();
  return now < size_ ? cut_short(now) : status();
}

status byte_source::cut_short(std::uint64_t at) const {
  return data_loss_error("the file was cut short while it was read: it had " + std::to_string(size_) +
                         " bytes when it was opened, and ends here now")
      .in_file(path_, at);
}

status byte_source::make_room(std::size_t needed) {
  std::size_t unread = end_ - begin_;
  bool tight = memory_.is_tight();
  std::size_t at_once = tight ? std::min(read_bytes_, memory_.tight_bytes()) : read_bytes_;
  const bool grows = window_bytes_ != 0;
  if (grows) {
    at_once = std::min(at_once, window_bytes_);
    window_bytes_ = window_bytes_ < read_bytes_ ? window_bytes_ * 2 : 0;
  }
  if (!compressed()) at_once = std::max<std::size_t>(1, readable(0, at_once));
  // Buffers have sizes of powers of two. A few bytes that are kept must not double the window: the windows of many files
  // that are read alternately fit into a cache, or do not.
  const std::size_t at_most = unread <= at_once / 8 ? at_once : at_once * 2;
  std::size_t wanted = std::max(needed, std::min(unread + at_once, at_most));
  if (!grows && buffer_ && buffer_.get()->unshared() &&
      buffer_.get()->capacity() >= std::max(needed, unread + at_once / 2)) {
    std::memmove(buffer_.get()->data(), buffer_.get()->data() + begin_, unread);
  } else {
    std::size_t bytes = std::max(wanted, at_once);
    // This avoids one read for each large record.
    if (needed > at_once && !tight) bytes = std::max(bytes, needed + needed / 2);
    buffer_ref fresh;
    status why = memory_.make_buffer(bytes, fresh);
    if (!why.ok()) return why.in_file(path_, offset_);
    outgrown_ = std::exchange(buffer_, std::move(fresh));
    outgrown_begin_ = begin_;
    outgrown_end_ = end_;
    unread = 0;
  }
  begin_ = 0;
  end_ = unread;
  return {};
}

std::size_t byte_source::move_some() {
  std::size_t n = std::min(outgrown_end_ - outgrown_begin_, kStepBytes);
  if (n) std::memcpy(buffer_.get()->data() + end_, outgrown_.get()->data() + outgrown_begin_, n);
  if (outgrown_.get()->unshared()) outgrown_->forget(outgrown_begin_, outgrown_begin_ + n);
  end_ += n;
  outgrown_begin_ += n;
  if (outgrown_begin_ == outgrown_end_) outgrown_ = buffer_ref();
  return n;
}

byte_source::filled byte_source::fill_window(std::size_t needed, status& why) {
  for (std::size_t done = 0; outgrown_ || !enough(needed);) {
    if (done >= kStepBytes) return filled::continues;
    if (outgrown_) {
      done += move_some();
      continue;
    }
    if (!buffer_ || end_ == buffer_.get()->capacity() || buffer_.get()->capacity() - begin_ < needed) {
      why = make_room(needed);
      if (!why.ok()) return filled::enough;
      continue;
    }
    if (compressed()) {
      std::size_t before = end_, raw_before = raw_begin_;
      why = inflate_some();
      if (!why.ok()) return filled::enough;
      done += (end_ - before) + (raw_begin_ - raw_before);
      if (end_ != before || last_ || raw_begin_ != raw_before) continue;
      if (raw_offset_ == size_ && !std::exchange(raw_last_, true)) continue;
      why = refresh_raw();
      if (!why.ok()) return filled::enough;
    }
    if (pass_unread()) continue;
    ready_read now = try_read(needed);
    if (now.must_wait) return filled::must_wait;
    why = now.why.ok() ? took(now.bytes) : std::move(now.why);
    if (!why.ok()) return filled::enough;
    done += now.bytes;
  }
  return filled::enough;
}

void byte_source::leave_out(std::vector<byte_range> ranges) {
  const bool is_skipped = !compressed() && can_seek_ && size_ != provenance::kUnknown && advice_.first_bytes == 0;
  if (!is_skipped) return;
  std::erase_if(ranges, [this](const byte_range& r) { return r.end > size_ || r.end - r.begin < kFarBytes; });
  unread_.set(std::move(ranges));
}

bool byte_source::pass_unread() {
  if (!unread_.is_sparse()) return false;
  const std::size_t n = unread_.unread_at(next_read(), buffer_.get()->capacity() - end_);
  if (n == 0) return false;
  end_ += n;
  jumped_ = true;
  last_ = next_read() == size_;
  return true;
}

std::size_t byte_source::wanted_now(std::size_t room, std::size_t needed) const {
  const std::uint64_t at = next_read();
  room = readable(at, room);
  if (!unread_.is_sparse()) return room;
  // The bytes behind those that are needed begin with what shows which of the others are not looked at.
  room = std::min(room, needed - (end_ - begin_) + kJumpBytes);
  return unread_.wanted_at(at, room);
}

ready_read byte_source::try_read(std::size_t needed) {
  buffer& to = compressed() ? *raw_.get() : *buffer_.get();
  const std::size_t behind = compressed() ? raw_end_ : end_;
  const std::size_t room = std::min(to.capacity() - behind, kStepBytes);
  return ranges_->try_read_at(next_read(), to.data() + behind, wanted_now(room, needed));
}

status byte_source::took(std::size_t n) {
  read_bytes_total_ += n;
  if (compressed()) {
    raw_end_ += n;
    raw_offset_ += n;
  } else {
    end_ += n;
  }
  const std::uint64_t at = next_read();
  bool& last = compressed() ? raw_last_ : last_;
  last = at == size_ || (n == 0 && size_ == provenance::kUnknown);
  return n == 0 && !last ? cut_short(at) : status();
}

void byte_source::rest() {
  if (!can_seek_ || !memory_.is_tight()) return;  // a stream cannot be read again
  ranges_->drop();
  if (!compressed()) {
    begin_ = end_ = 0;
    buffer_ = buffer_ref();
    last_ = offset_ >= size_;
    return;
  }
  if (raw_ && inflater_) {
    raw_offset_ -= raw_end_ - raw_begin_;
    raw_begin_ = raw_end_ = 0;
    raw_last_ = false;
    raw_ = buffer_ref();
  }
  std::size_t unread = end_ - begin_;
  if (!buffer_ || buffer_.get()->capacity() < kLeftBytesMin || unread > buffer_.get()->capacity() / kShrinkRatio)
    return;
  buffer_ref small;
  if (unread && !memory_.make_buffer(unread, small).ok()) return;
  if (unread) std::memcpy(small->data(), buffer_.get()->data() + begin_, unread);
  buffer_ = std::move(small);
  begin_ = 0;
  end_ = unread;
}

task<void> byte_source::more(std::size_t needed) {
  long_work work;
  for (;;) {
    status why;
    filled how = fill_window(needed, why);
    if (!why.ok()) co_await fail(std::move(why));
    if (how == filled::enough) break;
    if (how == filled::continues) {
      co_await work.breath();
      continue;
    }
    open_next_early(true);
    const bool raw = compressed();
    buffer_ref to = raw ? raw_ : buffer_;
    const std::size_t behind = raw ? raw_end_ : end_;
    const std::size_t room = wanted_now(to->capacity() - behind, needed);
    auto reading = ranges_->read_at(next_read(), std::move(to), behind, room);
    std::size_t n = co_await reading;
    why = took(n);
    if (!why.ok()) co_await fail(std::move(why));
  }
}

}  // namespace sluice::lib
