// SPDX-License-Identifier: Apache-2.0
// The frames in which a worker sends the bad elements of a split that it has dropped, for the consumer's quarantine.
//
//   std::string frame = begin_dropped_frame(number);      // of the first of them in the split
//   append_dropped(element, frame);
//
//   std::string_view rest = element_frame.rest;
//   while (!rest.empty()) { dropped_view next; status why = take_dropped(rest, next); … }
//
// A frame comes after the elements that were made before these were dropped, and before the elements that were made after
// them. So the consumer counts and stores them where a plan without workers does.
// Shape:  the head of an element frame; then for each element the number of elements that it stands for, a varint, and as
//         texts (a varint and bytes) the stage, the file that stores it, the status as JSON, and, after a byte 1, the bytes
//         of the element. A byte 0: it has none.
// Errors: data_loss: damaged bytes.
// Thread: any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/base/status.hpp"

namespace sluice::lib {

/// A bad element that a stage on a worker has dropped.
struct dropped_element {
  std::string stage;  ///< whose account counts it
  std::string path;   ///< the file that stores it, as the plan or the consumer's run names it; empty: none
  status why;
  std::uint64_t times = 1;  ///< the number of elements that it stands for
  std::shared_ptr<const std::string> bytes = {};
};
/// The same, as it arrives.
struct dropped_view {
  std::string_view stage, path, bytes;
  status why;
  std::uint64_t times = 1;
  bool has_bytes = false;
};

std::string begin_dropped_frame(std::uint64_t first);
void append_dropped(const dropped_element& e, std::string& frame);
/// Removes an element from the front.
status take_dropped(std::string_view& from, dropped_view& to);

}  // namespace sluice::lib
