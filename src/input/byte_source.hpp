// SPDX-License-Identifier: Apache-2.0
// The bytes of one file, plain or inflated, as a byte window that moves forward through the file.
//
// The run's listing of the file is trusted until the first read (runtime/known_files.hpp).
// A file ends at its size when it was opened: bytes that are appended later are not read. A file that becomes shorter
// is an error after the elements before its new end: data_loss, with the offset of that end. Byte streams, which are
// standard input ("-") and FIFOs, have no size, cannot be read again, and end when their writers close them.
//
// Records are slices of the window's buffer and keep it in memory. So while slices of a buffer exist, the window
// continues in another buffer, to which only the unread bytes at its end are copied. Bytes in the page cache are read
// on the calling thread, without a task; other reads are awaited, several ranges at the same time
// (input/range_reader.hpp).
// Errors: failed_precondition: the file differs from the one that the checkpoint's run has read, or a checkpoint has a
//         position in a byte stream, which cannot be read again.
// Owns:   the open file, its buffers and its inflater; their bytes are charged to the ledger.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "input/input_memory.hpp"
#include "input/range_reader.hpp"
#include "input/unread_bytes.hpp"
#include "runtime/input_state.hpp"
#include "runtime/sites/site_record.hpp"
#include "runtime/sites/size_estimate.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/index_types.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/io/files.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

struct byte_source_options {
  std::string path;
  sluice::lib::compression compression = compression::automatic;
  std::size_t read_bytes = 256 << 10;
  /// The first read, if it is smaller. Each later one is twice as large, up to read_bytes. 0: read_bytes.
  std::size_t first_read_bytes = 0;
  /// The number of reads in flight for ranges of read_bytes, if reads must be waited for; may change during reading.
  /// Null: one.
  const live_knob* reads_in_flight = nullptr;
  /// That knob's value until it is set; the file may then choose the number. 0: the plan's value applies.
  std::int64_t reads_untouched = 0;
  size_estimate* sizes = nullptr;  ///< of the files that the same stage reads; null: none is recorded
  inflate_limits inflated = {};    ///< limits on the size of an inflated file
  page_cache cache = page_cache::keep;
  std::uint64_t epoch = 0;  ///< the number of the epoch that reads the file
  file_index index = file_index::automatic;
};

struct byte_window {
  std::span<char> bytes;
  std::uint64_t offset = 0;                  ///< of the first byte, in the decompressed file
  std::uint64_t end = provenance::kUnknown;  ///< where the file ends, if known
  bool last = false;                         ///< nothing follows
  std::size_t searched = 0;                  ///< no element ends in this number of bytes: they were searched before
  std::string_view view() const { return {bytes.data(), bytes.size()}; }
};

class byte_source {
 public:
  /// `site`: the record of the reading stage, whose lines of the ledger the bytes are charged to. `stage`: its name,
  /// for errors.
  byte_source(std::shared_ptr<run_context> run, site_record& site, const std::string& stage, byte_source_options o);
  byte_source(const byte_source&) = delete;
  ~byte_source();

  /// Opens the file, to be read from `offset` (of the decompressed bytes) on, and records it in the run's table of
  /// inputs. The caller then calls go_to(offset).
  task<void> open(std::uint64_t offset);
  byte_window window() const;
  buffer& owner() { return *buffer_.get(); }
  const std::string& path() const { return path_; }
  bool compressed() const { return is_compressed_; }
  /// REQUIRES: the file is open.
  sluice::lib::compression compressed_by() const { return compression_; }
  /// Lets go_to() begin to inflate at the last of these points before its offset.
  void use_points(std::shared_ptr<const std::vector<seek_point>> points) { points_ = std::move(points); }
  /// Adds the points of the file to `to` while it is inflated. REQUIRES: compressed(), and nothing was inflated yet.
  void note_points(seek_point_builder& to);
  /// REQUIRES: the file is open.
  const file_info& info() const { return file_->info(); }
  /// Returns the number of bytes read from the file since the last call.
  std::uint64_t take_read_bytes() { return std::exchange(read_bytes_total_, 0); }
  bool has_bytes() const { return begin_ != end_; }

  /// Moves the window's start forward by n bytes, even beyond its end if the size is known.
  void consume(std::uint64_t n);
  /// Moves the window's start forward to `offset`, and reads if it cannot skip. Errors: data_loss: the file ends
  /// before, or a point is damaged.
  task<void> go_to(std::uint64_t offset);
  /// Called at the file's end: checks that the bytes skipped without reading still exist.
  status check_end() const;
  /// Decompresses a compressed file to its end, to verify its checksum. Reads nothing else.
  task<void> finish();
  /// The next element does not look at these ranges of the file, in order: the window that is made for it has unspecified
  /// bytes there. They are read all the same if that costs no more than skipping them: from objects, and if the file is
  /// compressed.
  void leave_out(std::vector<byte_range> ranges);
  /// Makes the window at least `needed` bytes long, or the last. Returns false if the caller must await the bytes,
  /// because the page cache does not have them or because the work exceeds a megabyte; the window may have grown.
  bool try_more(std::size_t needed, status& why) { return fill_window(needed, why) == filled::enough; }
  task<void> more(std::size_t needed);
  /// Called when the reader needs nothing for the moment. If memory is short, releases the bytes that can be read
  /// again: an interleave may have thousands of files open, and reads one of them.
  void rest();

 private:
  /// The number of bytes read, inflated or moved in one step, which takes a millisecond or two. Other tasks run between
  /// steps.
  static constexpr std::size_t kStepBytes = std::size_t{1} << 20;

  /// `head_bytes`: the number of bytes that may be read with the opening; 0: none. `room_bytes`: the size of the buffer
  /// for the first read, if it can be prepared meanwhile. `begins_at`: the offset of the first read, if it is known.
  task<void> open_file(std::optional<file_info> known, std::size_t head_bytes, std::size_t room_bytes,
                       std::uint64_t begins_at);
  /// Accepts an open file: decides how to read it, and uses the bytes of its beginning that were read with the opening.
  void take_file(std::shared_ptr<file> opened, buffer_ref head, std::size_t head_bytes);
  /// If the file was opened early, it is open afterwards.
  task<void> take_opened_early();
  void open_next_early(bool waited);
  /// Returns how many bytes may be read together with the opening of a file that is read from its beginning.
  std::size_t head_wanted() const;
  wait_reason waits_for() const;
  /// `size_bytes`: the size of the file; 0: unknown.
  std::size_t room_wanted(std::uint64_t size_bytes) const;
  /// Returns the mean size of this stage's files so far; 0 before the first file.
  std::size_t expected_bytes() const { return sizes_ ? sizes_->each_bytes() : 0; }
  bool fits_first_read(std::size_t room_bytes) const;
  /// Opens the file and reads its first bytes. If the file differs from the listing by now, it is not open afterwards,
  /// and the state is unchanged.
  task<void> open_as_listed(file_info known);
  /// Makes later reads have `bytes` bytes; ranges that were read ahead are discarded.
  void make_ranges(std::size_t bytes);
  status note_opened(std::uint64_t offset, const input_identity& now);
  task<void> guess_compression();
  status start_inflating();
  /// Continues at the last point before `offset`, if that is far ahead.
  status resume_inflating(std::uint64_t offset);
  /// Returns how many of the bytes from `at` on may be read into `room`: none beyond the size that the file had when it
  /// was opened.
  std::size_t readable(std::uint64_t at, std::size_t room) const {
    return size_ == provenance::kUnknown ? room : static_cast<std::size_t>(std::min<std::uint64_t>(room, size_ - at));
  }
  status cut_short(std::uint64_t at) const;
  /// The offset in the file of the next read, and the number of bytes for it, in order to have `needed` bytes. `room`: the
  /// number of bytes that fit.
  std::uint64_t next_read() const { return compressed() ? raw_offset_ : offset_ + (end_ - begin_); }
  std::size_t wanted_now(std::size_t room, std::size_t needed) const;
  /// Moves the window's end over bytes that are not looked at. Returns false if none are there.
  bool pass_unread();
  ready_read try_read(std::size_t needed);
  bool enough(std::size_t needed) const { return end_ - begin_ >= needed || last_; }
  enum class filled : std::uint8_t { enough, must_wait, continues };
  /// See try_more. Returns `continues` after a megabyte of work: the caller yields to other tasks and checks for a
  /// stop. Returns `enough` on an error.
  filled fill_window(std::size_t needed, status& why);
  /// Makes room after the window for at least one read, and retains the unread bytes. If these are many, move_some()
  /// must still copy them from the previous buffer.
  status make_room(std::size_t needed);
  /// Returns the number of bytes moved.
  std::size_t move_some();
  /// Accepts n bytes that were read after the window, or after the compressed bytes; 0: the file has no more.
  status took(std::size_t n);
  status inflate_some();
  status refresh_raw();

  std::shared_ptr<run_context> run_;
  input_memory memory_;
  std::string path_;
  compression compression_;
  inflate_limits inflated_;
  page_cache cache_;
  std::size_t read_bytes_;
  std::size_t raw_bytes_;               ///< compressed bytes that are read at once
  read_advice advice_;                  ///< the open file's
  std::uint64_t read_bytes_total_ = 0;  ///< since take_read_bytes()
  std::uint64_t epoch_;
  const live_knob* reads_in_flight_;
  std::int64_t reads_untouched_;
  size_estimate* sizes_;
  site_record& site_;
  const std::string stage_;
  bool at_beginning_ = false;  ///< no read has waited yet, and the files after this one may be opened early
  std::shared_ptr<file> file_;
  std::optional<range_reader> ranges_;  ///< once the file is open
  bool noted_ = false;                  ///< the run's table of inputs lists it as open
  std::uint64_t size_ =
      provenance::kUnknown;  ///< the file's size when it was opened; unknown for a stream, and for some objects
  bool can_seek_ = true;     ///< false for a stream
  bool jumped_ = false;      ///< the window's bytes before offset_ were not read
  buffer_ref buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< the window, in buffer_
  std::uint64_t offset_ = 0;         ///< the offset of the byte at begin_
  std::size_t window_bytes_ = 0;     ///< of the next window, if many bytes were skipped before it; 0: read_bytes_
  bool last_ = false;
  unread_bytes unread_;  ///< of a file that is not compressed
  /// The previous buffer, while unread bytes are moved out of it. The window has only the bytes moved so far.
  buffer_ref outgrown_;
  std::size_t outgrown_begin_ = 0, outgrown_end_ = 0;
  bool is_compressed_ = false;
  std::unique_ptr<inflater> inflater_;  ///< until its stream ends
  std::shared_ptr<const std::vector<seek_point>> points_;
  buffer_ref raw_;  ///< compressed bytes
  std::size_t raw_begin_ = 0, raw_end_ = 0;
  std::uint64_t raw_offset_ = 0;  ///< the offset in the file of the next read
  bool raw_last_ = false;
};

}  // namespace sluice::lib
