// SPDX-License-Identifier: Apache-2.0
// The index of a file of elements: how many there are, and where some of them begin.
//
//   result<record_index> index = read_index(bytes);            // the bytes of train.tfrecord.sluice-index
//   if (index.ok() && index->elements > 1'000'000) …
//   std::string bytes = index_bytes(*index);
//
// An index is a file of its own, FILE.sluice-index. Readers use it to skip elements without reading them
// (engine/by_number/used_index.hpp); write_index() (pipeline/index_file.hpp) and `sluice index` build it. It is valid for one
// state of its file, which is identified by the size and by the ETag or the time of modification.
//
// Format. "sluice index" 2 | kind | size of the file | time of modification, 8 bytes | ETag | plain bytes | elements |
//   number of places | for each place the number of elements and of bytes since the place before | number of seek points |
//   for each the distance of in_bytes and of out_bytes from the point before | used bits, plus 8 if it is within a member,
//   and then: checksum, 4 bytes | bytes of the member | window | crc32c of all, 4 bytes.
//   Numbers are LEB128; texts follow their lengths. Places are offsets in the plain file.
// Size:   unless the number of elements between two places is given, one place for each 32 KiB of the file; smaller files
//   have 8,192, but none closer than 256 bytes. At most 40 KiB plus 0.02 %, and the points of a compressed file.
// Errors: data_loss: the bytes are damaged, or are no index. failed_precondition: another version wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/file_info.hpp"
#include "sluice/base/index_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/format/seek_points.hpp"

namespace sluice::lib {

struct index_place {
  std::uint64_t element = 0;  ///< its number in the file
  std::uint64_t offset = 0;   ///< in the plain file
  friend bool operator==(const index_place&, const index_place&) = default;
};

struct record_index {
  /// The framing of the elements, as the reader names it: "tfrecord", "lines"; by kind_in(), if the file is compressed.
  std::string kind;
  std::uint64_t size_bytes = 0;  ///< of the file
  std::int64_t modified_ns = 0;
  std::string version;              ///< the ETag or the generation of an object
  std::uint64_t plain_bytes = 0;    ///< of a compressed file; of others 0
  std::uint64_t elements = 0;       ///< in the whole file
  std::vector<index_place> places;  ///< ascending; without that of the first element
  std::vector<seek_point> points;   ///< of a compressed file; none: it is one member of a format without others
  friend bool operator==(const record_index&, const record_index&) = default;

  /// Returns why the index does not belong to this state of the file and this framing; "" if it does.
  std::string difference_from(const file_info& file, std::string_view kind) const;
};

/// Returns the kind of elements in a compressed file: "lines in gzip"; `kind` itself for compression::none.
std::string kind_in(std::string_view kind, compression by);

std::string index_bytes(const record_index& index);
result<record_index> read_index(std::string_view bytes);

/// Collects the places while a file is read.
class index_builder {
 public:
  /// `every`: the number of elements between two places; 0: chosen by the bytes between them.
  explicit index_builder(std::uint64_t every = 0) : every_(every) {}
  /// `size_bytes`: of the file, if it is not compressed; otherwise 0.
  void begin(std::uint64_t size_bytes);
  /// Returns how many elements from element `at` on may be found before the next call of add().
  std::uint64_t until_next(std::uint64_t at) const { return every_ != 0 ? every_ - at % every_ : at_once_; }
  /// The elements before this one have been found, and it begins at `offset`, if it exists.
  void add(std::uint64_t element, std::uint64_t offset);
  /// The memory of the places.
  std::size_t memory_bytes() const { return places_.capacity() * sizeof(index_place); }
  /// Moves the places to `to`, for a file with this number of elements.
  void finish(std::uint64_t elements, record_index& to);

 private:
  std::uint64_t every_;
  std::uint64_t spacing_bytes_ = 0;
  std::uint64_t at_once_ = 1;
  index_place before_;  ///< the last one that add() received
  std::vector<index_place> places_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::index_bytes;
using lib::index_place;
using lib::read_index;
using lib::record_index;

}  // namespace sluice
