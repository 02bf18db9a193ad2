// SPDX-License-Identifier: Apache-2.0
// The index of a file of elements: how many there are, and where every n-th one begins.
//
//   result<record_index> index = read_index(bytes);            // the bytes of train.tfrecord.sluice-index
//   if (index.ok() && index->elements > 1'000'000) …
//   std::string bytes = index_bytes(*index);
//
// An index is a file of its own, FILE.sluice-index. Readers use it to skip elements without reading them
// (engine/by_number/used_index.hpp); write_index() (pipeline/index_file.hpp) and `sluice index` build it. It is valid for one
// state of its file, which is identified by the size and by the ETag or the time of modification.
//
// Format. "sluice index" 1 | kind | size of the file | time of modification, 8 bytes | ETag | elements | step |
//   for each place the distance from the place before | crc32c of all, 4 bytes. Numbers are LEB128; texts follow their
//   lengths. Version 1 has one place for each multiple of `step` below `elements`, except 0.
// Size:   unless the step is given, one place for about 32 to 64 KiB of the file, and up to 8,191 in any case: at most 16 KiB plus 0.01 %.
// Errors: data_loss: the bytes are damaged, or are no index. failed_precondition: another version wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/file_info.hpp"
#include "sluice/base/index_types.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

struct record_index {
  std::string kind;              ///< the framing of the elements, as the reader names it: "tfrecord", "lines"
  std::uint64_t size_bytes = 0;  ///< of the file
  std::int64_t modified_ns = 0;
  std::string version;                ///< the ETag or the generation of an object
  std::uint64_t elements = 0;         ///< in the whole file
  std::uint64_t step = 1;             ///< the number of elements between two places
  std::vector<std::uint64_t> places;  ///< the offsets of the elements step, 2·step …
  friend bool operator==(const record_index&, const record_index&) = default;

  /// Returns why the index does not belong to this state of the file and this framing; "" if it does.
  std::string difference_from(const file_info& file, std::string_view kind) const;
};

std::string index_bytes(const record_index& index);
result<record_index> read_index(std::string_view bytes);

/// Collects the places while a file is read, and halves their number when there are more than the file's length needs.
class index_builder {
 public:
  /// `every`: the number of elements between two places; 0: chosen by the length of the file.
  explicit index_builder(std::uint64_t every = 0) : step_(every == 0 ? 1 : every), is_fixed_(every != 0) {}
  /// Returns the number of elements from element `at` to the next one whose place is wanted.
  std::uint64_t until_next(std::uint64_t at) const { return step_ - at % step_; }
  /// Adds the place of the element with this number. REQUIRES: until_next() has led to it.
  void add(std::uint64_t element, std::uint64_t offset);
  /// Moves the places to `to`, for a file with this number of elements.
  void finish(std::uint64_t elements, record_index& to);

 private:
  std::uint64_t step_;
  bool is_fixed_;
  std::vector<std::uint64_t> places_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::index_bytes;
using lib::read_index;
using lib::record_index;

}  // namespace sluice
