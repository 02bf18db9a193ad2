// SPDX-License-Identifier: Apache-2.0
// Makes gzip, a piece at a time.
//
//   deflater gz;
//   gz.append(bytes, out);               // some of it is in `out` now
//   gz.end_member(out);                  // all of it is: what was appended can be read back
//   gz.append(more, out);                // a second member of the same file
//
// A file may have any number of members; gunzip, zlib's gzread and format/inflate.hpp read them as one stream. Files whose
// names end in .gz should have one at least: end_member() without a byte before it makes an empty one.
// Owns:   kBytes of state.  Thread: none; one deflater per file.
// Cost:   some 300 to 500 MB/s of a core; about 5 % larger than `gzip -6`.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace sluice::lib {

class deflater {
 public:
  /// What one takes.
  static constexpr std::size_t kBytes = std::size_t{560} << 10;
  deflater();
  deflater(deflater&&) noexcept;
  deflater& operator=(deflater&&) noexcept;
  ~deflater();

  /// Errors: std::bad_alloc.
  void append(std::string_view plain, std::string& out);
  void end_member(std::string& out);
  /// Was anything appended since the last end_member()?
  bool is_in_member() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::deflater;

}  // namespace sluice
