// SPDX-License-Identifier: Apache-2.0
// Receives the places of a file's elements from the stage that reads it, in a run that builds an index
// (run_context::places).
// Thread: the stage's until the run has ended, then the caller's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/status.hpp"
#include "sluice/format/record_index.hpp"

namespace sluice::lib {

/// Follows the name of a file or an operator.
inline constexpr const char* kHasNoIndex =
    "has no index: only tfrecord, lines, csv, jsonl, tar, webdataset and fixed_length use one";

class element_places {
 public:
  /// `every`: as for index_builder.
  explicit element_places(std::uint64_t every) : places_(every) {}
  /// Called by the stage when the file is open. Errors: unimplemented: its elements cannot be indexed.
  status begin(const std::string& path, const file_info& file, std::string_view kind, compression by);
  index_builder& places() { return places_; }
  /// The places from which a compressed file is inflated.
  seek_point_builder& points() { return points_; }
  /// The memory of what was found so far.
  std::size_t memory_bytes() const { return places_.memory_bytes() + points_.memory_bytes(); }
  /// Frees what was found. The inflater may still refer to points().
  void drop() {
    places_ = index_builder();
    points_.stop();
  }
  /// `plain_bytes`: of a compressed file; otherwise 0.
  void end(std::uint64_t elements, std::uint64_t plain_bytes);

  const std::string& path() const { return path_; }
  bool has_ended() const { return has_ended_; }
  const record_index& index() const { return index_; }

 private:
  std::string path_;
  record_index index_;
  index_builder places_;
  seek_point_builder points_;
  bool has_ended_ = false;
};

}  // namespace sluice::lib
