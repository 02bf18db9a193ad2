// SPDX-License-Identifier: Apache-2.0
// The places of a CSV file's delimiters, quotes and line ends. They are found 64 bytes at a time, before any field is
// examined.
//
//   csv_tape tape(',', true);
//   tape.go_to(window_offset);                   // drops the entries before it
//   bool more = tape.extend(window, offset);     // indexes the next piece of the window
//   tape[0], tape[1] …                           // bytes of the window
//
// Thread: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "format/csv/csv_sign_index.hpp"

namespace sluice::lib {

class csv_tape {
 public:
  /// The number of bytes indexed at once: bytes that are read again a moment later are still in the core's first-level
  /// cache.
  static constexpr std::size_t kPieceBytes = std::size_t{16} << 10;
  /// The limit for the growth of a piece. A row that is longer than the indexed bytes is read again from its start.
  static constexpr std::size_t kPieceBytesMax = std::size_t{1} << 20;
  /// The largest number of entries in a row. The entries of another piece fit into the 20 MiB as well.
  static constexpr std::size_t kRowEntriesMax = std::size_t{4} << 20;

  /// `quotes`: '"' is an entry, too.
  csv_tape(char delimiter, bool quotes)
      : index_(best_csv_sign_index({.delimiter = delimiter, .quote = quotes ? '"' : delimiter})) {}

  /// Starts at this byte of the file, from which places are counted.
  void go_to(std::uint64_t offset);
  /// Starts there, and forgets all entries.
  void restart(std::uint64_t offset);
  /// Indexes more of the window that begins where go_to() went. Returns false if all of it is indexed.
  bool extend(std::string_view window);

  /// Returns the number of indexed bytes from there.
  std::size_t indexed_bytes() const noexcept { return static_cast<std::size_t>(end_ - base_ - from_); }
  std::size_t size() const noexcept { return count_ - head_; }
  const std::uint32_t* entries() const noexcept { return entries_.get() + head_; }
  /// Subtract this from an entry to get its place in the window.
  std::uint32_t shift() const noexcept { return from_; }

 private:
  /// At this number of entries the tape allocates memory for the largest possible number. Unused pages take no memory,
  /// and copying to a larger array would briefly take twice as much.
  static constexpr std::size_t kEntriesUsual = std::size_t{1} << 20;

  void make_room(std::size_t n);

  csv_sign_index index_;
  std::unique_ptr<std::uint32_t[]> entries_{};  ///< offsets from base_; not initialised after count_
  std::size_t head_ = 0, count_ = 0, capacity_ = 0;
  std::uint64_t base_ = 0, end_ = 0;  ///< offsets in the file
  std::uint32_t from_ = 0;            ///< the offset of go_to(), from base_
};

}  // namespace sluice::lib
