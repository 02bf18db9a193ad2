// SPDX-License-Identifier: Apache-2.0
// The places of a CSV file's delimiters, quotes and line ends: found 64 bytes at a time, before any field is examined.
//
//   csv_tape tape(',', true);
//   tape.go_to(window_offset);                   // entries before it are forgotten
//   bool more = tape.extend(window, offset);     // indexes the next piece of the window
//   tape[0], tape[1] …                           // bytes of the window
//
// Thread: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace sluice::lib {

class csv_tape {
 public:
  /// Indexed at once: what is read again a moment later is still in the core's first cache.
  static constexpr std::size_t kPieceBytes = std::size_t{16} << 10;
  /// Of a row that is longer, so much more than there is: it is looked at again from its start.
  static constexpr std::size_t kPieceBytesMax = std::size_t{1} << 20;
  /// More entries than a row may have. Those of a piece more fit into its 20 MiB.
  static constexpr std::size_t kRowEntriesMax = std::size_t{4} << 20;

  /// `quotes`: '"' is an entry, too.
  csv_tape(char delimiter, bool quotes) : delimiter_(delimiter), quotes_(quotes) {}

  /// Places are counted from this byte of the file.
  void go_to(std::uint64_t offset);
  /// Indexes more of the window that begins where go_to() went. Returns false if all of it is indexed.
  bool extend(std::string_view window);

  /// The number of bytes from there that are indexed.
  std::size_t indexed_bytes() const noexcept { return static_cast<std::size_t>(end_ - base_ - from_); }
  std::size_t size() const noexcept { return count_ - head_; }
  const std::uint32_t* entries() const noexcept { return entries_.get() + head_; }
  /// Subtract this from an entry to get its place in the window.
  std::uint32_t shift() const noexcept { return from_; }

 private:
  /// At this number of entries the tape allocates room for the largest possible number: unused pages take no memory,
  /// and copying to a larger room would take twice as much.
  static constexpr std::size_t kEntriesUsual = std::size_t{1} << 20;

  void make_room(std::size_t n);

  char delimiter_;
  bool quotes_;
  std::unique_ptr<std::uint32_t[]> entries_{};  ///< bytes behind base_; not initialised beyond count_
  std::size_t head_ = 0, count_ = 0, capacity_ = 0;
  std::uint64_t base_ = 0, end_ = 0;  ///< of the file
  std::uint32_t from_ = 0;            ///< where go_to() went, behind base_
};

}  // namespace sluice::lib
