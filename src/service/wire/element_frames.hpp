// SPDX-License-Identifier: Apache-2.0
// The frames in which a worker sends the elements of a split.
//
//   frame_maker frames(type, first);
//   frames.add(block);                                   // appended to the frame
//   if (frames.bytes() >= kFrameBytes) send(frames.take());
//   send(end_frame(elements));                           // or failure_frame(at, why)
//
//   result<element_frame> f = element_frame::read(bytes);
//   if (f->what == element_frame::elements) f->parse(owner, slab);
//
// Shape:  one byte for the kind; the ordinal of the first element in the split, a varint; for elements their number, a
//         varint, and then the elements (serialise_elements), so that texts are slices of the frame that has arrived; for a
//         failure the status as JSON; for an end with dropped elements a JSON list of these; for bad elements that the
//         consumer stores see wire/dropped_frames.hpp. Blocks that were added one after the other are one after the other: number,
//         size in bytes (4 bytes, little-endian), elements.
// Errors: data_loss: damaged bytes, with the place.
// Thread: not safe for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/element/slice.hpp"

namespace sluice::lib {

/// A frame is sent when it has this number of bytes.
inline constexpr std::size_t kFrameBytes = std::size_t{256} << 10;

class frame_maker {
 public:
  /// `first`: the ordinal of the first element.
  frame_maker(const element_type& type, std::uint64_t first) : type_(type), next_(first) {}
  void add(const block& elements);
  std::size_t bytes() const { return bytes_.size(); }
  /// The frame, until add(), take() or clear().
  std::string_view view() const { return bytes_; }
  void clear() { bytes_.clear(); }  // keeps its memory for the next frame
  bool empty() const { return bytes_.empty(); }
  /// The ordinal of the next element.
  std::uint64_t next() const { return next_; }
  slice take();

 private:
  const element_type& type_;
  std::uint64_t next_;
  std::string bytes_{};
};
/// A frame that shows that the worker lives.
std::string keepalive_frame();
/// Bad elements that a stage of a worker has dropped in a split.
struct dropped_elements {
  std::string stage;
  std::uint64_t errors = 0;
  status first;
};
/// `elements`: the number of elements of the whole split.
std::string end_frame(std::uint64_t elements, const std::vector<dropped_elements>& dropped = {});
/// `at`: the ordinal of the element that could not be made.
std::string failure_frame(std::uint64_t at, const status& why);

struct element_frame {
  /// packed: see wire/packed_frames.hpp; only for consumers that have asked for it.
  /// dropped: only for consumers that have asked for it.
  enum kind : char { elements = 1, end = 2, failure = 3, keepalive = 4, packed = 5, dropped_ones = 6 } what = end;
  std::uint64_t first = 0;  ///< for an end: the number of elements of the split; for dropped_ones: of the first of them
  std::string_view rest = {};  ///< of the bytes that were read
  status why = {};             ///< for a failure

  /// Errors: also for a packed frame, which is unpacked before.
  static result<element_frame> read(std::string_view bytes);
  /// For an end: what the worker has dropped in the split.
  std::vector<dropped_elements> dropped() const;
  /// Builds the elements behind those of `to`. `owner`: the buffer that `rest` is a part of; null: texts are copied.
  status parse(buffer* owner, slab& to) const;
};

void append_frame_number(std::uint64_t n, std::string& to);
/// Removes a varint from the front. Returns false if there is none.
bool take_frame_number(std::string_view& from, std::uint64_t& n);

/// A status as JSON, with its place.
std::string status_json(const status& why);
/// Reads `to` from its JSON. Errors: returns invalid_argument: not a status. An unknown code is `unknown`.
status read_status(std::string_view text, status& to);

}  // namespace sluice::lib
