// SPDX-License-Identifier: Apache-2.0
// Splits text into lines.
//
//   lines_scan s = scan_lines({window, n}, last, views, 256);
//
// A line ends at `\n`. Empty lines are kept; a last line without `\n` is kept. Every `\r` is dropped, also one inside a
// line, as tf.data does: such lines are closed up in place, so the window must be the caller's to write. As in tf.data,
// what follows the last `\n` is no line where it is nothing but `\r`.
// Thread: pure functions over the caller's window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sluice/element/slice.hpp"

namespace sluice::lib {

struct lines_scan {
  std::size_t lines = 0;  ///< views written, or lines passed over
  std::size_t used_bytes =
      0;  ///< with their line ends. Fewer than the window: out is full, or the rest is no whole line
};

/// Writes up to `lines_max` views to `out`. With `last`, what follows the last `\n` is a line too, unless it is
/// empty or nothing but `\r`, which is then used up.
/// No line and lines_max > 0: the window holds no whole line; more of it is needed. `searched`: so many bytes at the
/// window's front are known to have no `\n`, from a call before that found no line.
lines_scan scan_lines(std::span<char> window, bool last, std::string_view* out, std::size_t lines_max,
                      std::size_t searched = 0);

/// As above, for a window inside `owner`: builds lines in uninitialised room at `out`, taking their references on
/// `owner` in one operation.
lines_scan scan_lines(std::span<char> window, bool last, buffer& owner, line* out, std::size_t lines_max,
                      std::size_t searched = 0);

/// Counts up to `lines_max` lines without giving them out.
lines_scan pass_over_lines(std::string_view window, bool last, std::size_t lines_max, std::size_t searched = 0);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::scan_lines;

}  // namespace sluice
