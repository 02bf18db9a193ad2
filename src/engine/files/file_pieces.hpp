// SPDX-License-Identifier: Apache-2.0
// Reads a file from its beginning, decompressed, one piece after another. A plan infers its element type from the
// first pieces, or from all of them.
//
//   file_pieces file(path, compression::automatic, limits);
//   for (std::string bytes; file.more(bytes);) …              // appends a piece
//
// Thread: blocks. It is used while a plan is built, never in a run.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "sluice/base/field_types.hpp"
#include "sluice/base/status.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {

class file_pieces {
 public:
  /// The size of a piece, before decompression and after it.
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  file_pieces(std::string path, compression packed, inflate_limits limits);
  /// The first bytes of a stream that cannot be read twice. `is_all`: no bytes follow.
  file_pieces(std::string name, std::string bytes, bool is_all, compression packed);

  /// Appends the next piece. Returns false if nothing is left, or cannot be read.
  bool more(std::string& to);
  /// Returns true if the pieces up to now are the whole file.
  bool is_all() const { return is_all_; }
  /// Returns why nothing follows the pieces up to now, with the file's name; ok: it ends there, or more can be read.
  const status& why() const { return why_; }
  /// Returns true if the pieces are from bytes that the caller gave.
  bool is_given() const { return is_given_; }
  const std::string& path() const { return path_; }
  /// The number of bytes that more() has appended.
  std::uint64_t read_bytes() const { return read_bytes_; }

 private:
  bool read_packed();
  bool inflate_into(std::string& to);

  std::string path_;
  compression packed_;
  inflate_limits limits_;
  std::optional<std::ifstream> local_{};
  std::optional<inflater> inflater_{};
  std::string input_{};       ///< bytes of the file that are not decompressed yet
  std::uint64_t offset_ = 0;  ///< the place in the file after `input_`
  bool is_read_ = false;      ///< no bytes of the file follow `input_`
  bool is_given_ = false;     ///< the file is `input_` alone, which may lack its end
  bool is_open_ = false, is_all_ = false;
  status why_{};
  std::uint64_t read_bytes_ = 0;
};

}  // namespace sluice::lib
