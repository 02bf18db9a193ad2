// SPDX-License-Identifier: Apache-2.0
// Splits text into lines.
//
//   lines_scan s = scan_lines({window, n}, last, views, 256);
//
// A line ends at `\n`. Empty lines are kept, and so is a last line without `\n`. Every `\r` is removed, even inside a
// line, like in tf.data. The rest of such a line is moved in place, so the caller's window must be writable. The text
// after the last `\n` is not a line if it consists only of `\r`, again like in tf.data.
// Thread: pure functions over the caller's window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sluice/element/slice.hpp"

namespace sluice::lib {

struct lines_scan {
  std::size_t lines = 0;  ///< views written, or lines skipped
  /// Including their line ends. Fewer than the window: `out` is full, or the rest is not a whole line.
  std::size_t used_bytes = 0;
};

/// Writes up to `lines_max` views to `out`. With `last`, the text after the last `\n` is a line too, unless it is empty
/// or consists only of `\r`, which is then consumed. If no line is written and lines_max > 0, the window contains no
/// whole line; more bytes are needed. `searched`: the number of bytes at the window's front without `\n`, known from an
/// earlier call that found no line.
lines_scan scan_lines(std::span<char> window, bool last, std::string_view* out, std::size_t lines_max,
                      std::size_t searched = 0);

/// Does the same for a window inside `owner`: builds lines in uninitialized room at `out`, and adds all their
/// references to `owner` in one operation.
lines_scan scan_lines(std::span<char> window, bool last, buffer& owner, line* out, std::size_t lines_max,
                      std::size_t searched = 0);

/// Counts up to `lines_max` lines without writing views.
lines_scan pass_over_lines(std::string_view window, bool last, std::size_t lines_max, std::size_t searched = 0);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::scan_lines;

}  // namespace sluice
