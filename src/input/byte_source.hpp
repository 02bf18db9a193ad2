// SPDX-License-Identifier: Apache-2.0
// The bytes of one file, plain or inflated, as a byte window that moves forward through the file.
//
// What a listing of the run returned about the file is believed until the first read (runtime/known_files.hpp).
// The file ends where it ended when it was opened: bytes that are appended later are not read. A file that becomes
// shorter is an error after the elements before its new end: data_loss, with the offset of that end. Byte streams,
// which are standard input ("-") and FIFOs, have no size, cannot be read again, and end when their writers close them.
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

#include "input/input_memory.hpp"
#include "input/range_reader.hpp"
#include "runtime/sites/size_estimate.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/io/files.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

struct byte_source_options {
  std::string path;
  sluice::lib::compression compression = compression::automatic;
  std::size_t read_bytes = 256 << 10;
  /// The number of reads in flight for ranges of read_bytes, if reads must be waited for; may change during reading.
  /// Null: one.
  const live_knob* reads_in_flight = nullptr;
  /// That knob's value as long as nobody has set it: the file may then say how many. 0: it is as the plan says.
  std::int64_t reads_untouched = 0;
  size_estimate* sizes = nullptr;  ///< of the files that the same stage reads; null: none is kept
  inflate_limits inflated = {};    ///< what a compressed file may become
  page_cache cache = page_cache::keep;
  std::uint64_t epoch = 0;  ///< the number of the pass over the data that reads the file
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
  /// `stage`: who reads, for the ledger's reports.
  byte_source(std::shared_ptr<run_context> run, const std::string& stage, byte_source_options o);
  byte_source(const byte_source&) = delete;
  ~byte_source();

  /// Opens the file, notes it in the run's table of inputs and goes to `offset` (of the decompressed bytes).
  task<void> open(std::uint64_t offset);
  byte_window window() const;
  buffer& owner() { return *buffer_.get(); }
  const std::string& path() const { return path_; }
  bool compressed() const { return is_compressed_; }
  /// Returns the number of bytes read from the file since the last call.
  std::uint64_t take_read_bytes() { return std::exchange(read_bytes_total_, 0); }
  bool has_bytes() const { return begin_ != end_; }

  /// Moves the window's start n bytes on, beyond its end too where the size is known.
  void consume(std::uint64_t n);
  /// Moves the window's start on to `offset`, by reading where there is no other way. Errors: data_loss: the file ends before.
  task<void> go_to(std::uint64_t offset);
  /// Called at the file's end: checks that the bytes skipped without reading still exist.
  status check_end() const;
  /// Decompresses a compressed file to its end, to verify its checksum. Reads nothing else.
  task<void> finish();
  /// Makes the window at least `needed` bytes long, or the last. Returns false if that has to be awaited, because the
  /// page cache does not have it or because it is more than a megabyte of work; the window may have grown.
  bool try_more(std::size_t needed, status& why) { return fill_window(needed, why) == filled::enough; }
  task<void> more(std::size_t needed);
  /// Nothing is asked for the moment. Where memory is short, gives back what can be read again: an interleave may have
  /// thousands of files open, and reads one of them.
  void rest();

 private:
  /// `head_bytes`: that may be read with it; 0: none.
  /// `room_bytes`: of the buffer that it will be read into first, if that can be made ready meanwhile.
  task<void> open_file(std::optional<file_info> known, std::size_t head_bytes, std::size_t room_bytes);
  /// The file is open: how it is to be read, and what of its beginning was read with the opening, by whom ever.
  void take_file(std::shared_ptr<file> opened, buffer_ref head, std::size_t head_bytes);
  /// If the file was opened before it was asked for, it is open afterwards.
  task<void> take_opened_early();
  void open_next_early(bool waited);
  /// Returns how many bytes may be read together with the opening of a file that is read from its beginning.
  std::size_t head_wanted() const;
  /// `size_bytes`: of the file; 0: it is not known.
  std::size_t room_wanted(std::uint64_t size_bytes) const;
  /// Returns the mean size of this stage's files so far; 0 if there were none.
  std::size_t expected_bytes() const { return sizes_ ? sizes_->each_bytes() : 0; }
  bool fits_first_read(std::size_t room_bytes) const;
  /// Opens it and reads its first bytes. If the file is another one by now, it is not open afterwards, and all is as before.
  task<void> open_as_listed(file_info known);
  /// Reads of `bytes` from now on; what was read ahead is left.
  void make_ranges(std::size_t bytes);
  status note_opened(std::uint64_t offset);
  task<void> guess_compression();
  status start_inflating();
  /// Returns how many of the bytes from `at` on may be read into `room`: none beyond the size that the file had when it
  /// was opened.
  std::size_t readable(std::uint64_t at, std::size_t room) const {
    return size_ == provenance::kUnknown ? room : static_cast<std::size_t>(std::min<std::uint64_t>(room, size_ - at));
  }
  status cut_short(std::uint64_t at) const;
  ready_read try_read();
  bool enough(std::size_t needed) const { return end_ - begin_ >= needed || last_; }
  enum class filled : std::uint8_t { enough, must_wait, continues };
  /// As try_more; `goes_on` after a megabyte of work: the caller gives way to others and looks for a stop. With an
  /// error `enough`.
  filled fill_window(std::size_t needed, status& why);
  /// Room behind the window for at least one read; keeps the unread bytes. If these are many, move_some() is still to
  /// bring them from the buffer before.
  status make_room(std::size_t needed);
  /// Returns how many bytes it has moved.
  std::size_t move_some();
  /// Takes up n bytes that were read behind the window, or behind the compressed bytes; 0: there are no more.
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
  const std::string stage_;
  bool at_beginning_ = false;  ///< nothing was waited for yet, of a file behind which others may be opened early
  std::shared_ptr<file> file_;
  std::optional<range_reader> ranges_;  ///< once the file is open
  bool noted_ = false;                  ///< the run's table of inputs has it as open
  std::uint64_t size_ =
      provenance::kUnknown;  ///< of the file when it was opened; unknown of a stream, and of some objects
  bool can_seek_ = true;     ///< not in a stream
  bool jumped_ = false;      ///< the window's bytes before offset_ were not read
  buffer_ref buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< the window, in buffer_
  std::uint64_t offset_ = 0;         ///< of the byte at begin_
  bool last_ = false;
  buffer_ref outgrown_;  ///< the buffer before, while unread bytes are moved out of it: the window has only those moved
  std::size_t outgrown_begin_ = 0, outgrown_end_ = 0;
  bool is_compressed_ = false;
  std::unique_ptr<inflater> inflater_;  ///< until its stream has ended
  buffer_ref raw_;                      ///< compressed bytes
  std::size_t raw_begin_ = 0, raw_end_ = 0;
  std::uint64_t raw_offset_ = 0;  ///< where in the file the next read starts
  bool raw_last_ = false;
};

}  // namespace sluice::lib
