// SPDX-License-Identifier: Apache-2.0
// The one stage behind tfrecord, lines and fixed_length: a file's window, and a format that cuts elements out of it.
#pragma once

#include <memory>
#include <string>

#include "engine/open_context.hpp"
#include "input/byte_source.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// What a format found in a window.
struct found {
  std::size_t elements = 0;      ///< built, or passed over
  std::uint64_t used_bytes = 0;  ///< when passing over, possibly more than the window has
  std::size_t needed_bytes = 0;  ///< to go on, the window must be this long (from used_bytes on)
  std::size_t searched_bytes =
      0;       ///< without an element: none ends in so many bytes; if the window has more, look on there
  status why;  ///< of the element at used_bytes
  std::uint64_t damaged_bytes = 0;  ///< after an error: how far the next element is; 0: not known
  bool ended = false;               ///< nothing more in this file
};

/// Cuts elements out of windows. Keeps no state: the file's place is an offset and an index.
class element_format {
 public:
  virtual ~element_format() = default;
  virtual found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const = 0;
  virtual found pass_over(const byte_window& w, std::uint64_t elements_max) const = 0;
  /// After damage of unknown length: where the next element may begin, in [from, to) of the window; npos: nowhere
  /// there.
  virtual std::size_t find_next(const byte_window& w, std::size_t from, std::size_t to) const;
  /// Bytes at a window's end in which an element's start could hide, when find_next found none.
  virtual std::size_t overlap_bytes() const { return 0; }
  /// Passing over does not look at the elements themselves: it counts damaged ones, too.
  virtual bool passes_over_unseen() const { return false; }
  /// Bytes before an element's start that tell whether one can begin there; shown to may_begin.
  virtual std::size_t bytes_before() const { return 0; }
  /// Can an element begin at the start of `rest`, which is not the file's? Else only the end of the file may be there:
  /// a position says so.
  virtual bool may_begin(const byte_window& rest, std::string_view before) const {
    (void)rest, (void)before;
    return true;
  }
  /// Checks the file as a whole, once it is open. `end` is kUnknown for compressed files.
  virtual status check(std::uint64_t end) const {
    (void)end;
    return {};
  }
};

/// What autotune starts with: four reads hide the time of one where a server answers in a few milliseconds.
inline constexpr std::int64_t kReadsInFlight = 4;
inline constexpr std::int64_t kReadsInFlightMax = 1024;

/// What an operator's arguments say of reading.
template <class Arguments> byte_source_options reading_with(const node& n, const open_context& context) {
  auto& a = n.as<Arguments>();
  byte_source_options reading;
  reading.path = a.path.value;
  reading.compression = a.options.compression;
  reading.read_bytes = static_cast<std::size_t>(a.options.read_bytes.value);
  reading.reads_in_flight =
      &context.knob_of(n, "reads_in_flight", a.options.reads_in_flight, kReadsInFlight, kReadsInFlightMax);
  return reading;
}

erased_stream open_file_stage(const node& n, open_context& context, byte_source_options o,
                              std::shared_ptr<const element_format> format);

}  // namespace sluice::lib
