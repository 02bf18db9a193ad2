// SPDX-License-Identifier: Apache-2.0
// The bytes of one file, plain or inflated, as a window that moves forward.
//
// Records are cut out of the window's buffer and keep it alive, so a buffer that is still referred to is left behind and
// the window goes on in another one, taking along only its unread tail. What the page cache has is read on the calling
// thread, without a task; only the rest is awaited.
// Owns: the open file; buffers and an inflater, charged to the ledger.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "op/input_memory.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/fields.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/io/files.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice {

struct byte_window {
  std::span<char> bytes;
  std::uint64_t offset = 0;                  ///< of the first byte, in the decompressed file
  std::uint64_t end = provenance::kUnknown;  ///< where the file ends, if known
  bool last = false;                         ///< nothing follows
  std::string_view view() const { return {bytes.data(), bytes.size()}; }
};

class byte_source {
 public:
  /// `stage`: who reads, for the ledger's reports.
  byte_source(std::shared_ptr<run_context> run, const std::string& stage, std::string path, compression c,
              std::size_t read_bytes);
  byte_source(const byte_source&) = delete;

  /// Opens the file and goes to `offset` (of the decompressed bytes).
  task<void> open(std::uint64_t offset);
  byte_window window() const;
  buffer& owner() { return *buffer_.get(); }
  const std::string& path() const { return path_; }
  bool compressed() const { return is_compressed_; }
  bool has_bytes() const { return begin_ != end_; }

  /// Moves the window's start n bytes on, beyond its end too where the file is plain.
  void consume(std::uint64_t n);
  /// Makes the window at least `needed` bytes long, or the last. False: that has to be awaited; the window may have grown.
  bool try_more(std::size_t needed, status& why);
  task<void> more(std::size_t needed);
  /// Nothing is asked for the moment. Where memory is short, gives back what can be read again: an interleave may have
  /// thousands of files open, and reads one of them.
  void rest();

 private:
  bool enough(std::size_t needed) const { return end_ - begin_ >= needed || last_; }
  /// Room behind the window for at least one read; keeps the unread bytes.
  status make_room(std::size_t needed);
  /// Takes up n plain bytes that were read behind the window; 0: the file has ended.
  void took(std::size_t n);
  void took_raw(std::size_t n);
  status inflate_some();
  status refresh_raw();

  std::shared_ptr<run_context> run_;
  input_memory memory_;
  std::string path_;
  compression compression_;
  std::size_t read_bytes_;
  std::unique_ptr<file> file_;
  buffer_ref buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< the window, in buffer_
  std::uint64_t offset_ = 0;         ///< of the byte at begin_
  bool last_ = false;
  bool is_compressed_ = false;
  std::unique_ptr<inflater> inflater_;  ///< until its stream has ended
  buffer_ref raw_;                      ///< compressed bytes
  std::size_t raw_begin_ = 0, raw_end_ = 0;
  std::uint64_t raw_offset_ = 0;  ///< where in the file the next read starts
  bool raw_last_ = false;
};

}  // namespace sluice
