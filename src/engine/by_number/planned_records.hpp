// SPDX-License-Identifier: Apache-2.0
// The files of a reader whose records have numbers (bagz), as they were when the plan was built: their number of records
// makes the plan seek.
// Thread: immutable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct record_file {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::string path;
  std::uint64_t records = kUnknown;
  std::uint64_t size_bytes = kUnknown;
};

/// The largest number of records in all files of a plan.
inline constexpr std::uint64_t kPlannedRecordsMax = std::uint64_t{1} << 62;

struct planned_records {
  std::string path;  ///< the argument that these files belong to
  std::vector<record_file> files{};
  std::vector<std::uint64_t> ends{};  ///< for each file the number of records up to its end
  status why{};                       ///< why the file could not be read; it then has no records

  std::uint64_t total() const { return ends.empty() ? 0 : ends.back(); }
  std::uint64_t begin_of(std::size_t file) const { return file == 0 ? 0 : ends[file - 1]; }
  /// The file that has this record. REQUIRES: number < total().
  std::size_t file_of(std::uint64_t number) const {
    return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), number) - ends.begin());
  }
  /// Errors: data_loss: too many records.
  status add(record_file file) {
    if (file.records > kPlannedRecordsMax - total())
      return data_loss_error("the files have more than 2^62 records").in_file(file.path);
    ends.push_back(total() + file.records);
    files.push_back(std::move(file));
    return {};
  }
};

/// Returns the error of listing the files of a pattern, with its place.
inline status unlisted(const status& why, const std::string& pattern) {
  return (why.code() == status_code::not_found ? not_found_error("no file matches this pattern") : why)
      .in_file(pattern);
}

/// Returns an entry for a path whose file could not be read.
inline std::shared_ptr<const planned_records> unread_records(const std::string& path, status why) {
  auto none = std::make_shared<planned_records>();
  none->path = path;
  none->why = std::move(why);
  return none;
}

/// Returns the records of the node's present path, or the entry with the reason why its file could not be read; null
/// before the file was read.
template <class Arguments> std::shared_ptr<const planned_records> found_of(const node& n) {
  const auto& a = n.as<Arguments>();
  return a.planned.of && a.path.is_given && a.planned.of->path == a.path.value ? a.planned.of : nullptr;
}
/// Returns the records of the node if they were found for its present path; otherwise null.
template <class Arguments> std::shared_ptr<const planned_records> planned_of(const node& n) {
  auto found = found_of<Arguments>(n);
  return found && found->why.ok() ? found : nullptr;
}
template <class Arguments> cardinality size_of_planned(const node& n) {
  const auto planned = planned_of<Arguments>(n);
  return planned ? cardinality::of_many(planned->total()) : cardinality();
}
/// Throws why the file could not be read.
template <class Arguments> bool seeks_if_planned(const node& n) {
  if (planned_of<Arguments>(n)) return true;
  if (const auto found = found_of<Arguments>(n)) throw_status(found->why.in_stage(n.op->name));
  return false;
}

}  // namespace sluice::lib
