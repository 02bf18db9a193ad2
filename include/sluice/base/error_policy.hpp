// SPDX-License-Identifier: Apache-2.0
// Error policies: the effect of a bad element in a stage. An element is bad if its computation fails or its bytes are
//   damaged. The policy is set for a run (iterate_options), for stages (plan/on_error.hpp, in plan text `map(parse,
//   on_error=skip)`), or for all stages upstream of a call (op/ignore_errors.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace sluice::lib {

enum class error_policy : std::uint8_t {
  stop,  ///< a bad element ends the stream with its error
  skip,  ///< a bad element is dropped and counted
};

/// The number of bad elements that may be dropped: a number ≥ 0, or no limit. Not part of fingerprints, since it
/// changes no element, so a run that exceeded its limit may be resumed with a higher one.
struct error_limit {
  static constexpr std::int64_t kNone = -1;
  std::int64_t value = kNone;
  constexpr error_limit() = default;
  constexpr error_limit(std::int64_t v) : value(v) {}  // NOLINT: numbers are written as numbers
  constexpr bool is_given() const { return value != kNone; }
  /// The limit; without one, a number that no count of errors exceeds.
  constexpr std::uint64_t most() const { return is_given() ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0}; }
};

/// The file for dropped bad elements and their errors (docs/errors.md, Quarantine). Not part of fingerprints.
struct quarantine {
  /// Empty: bad elements are not stored. JSON lines if it ends in .jsonl or .json, else TFRecords.
  std::string path{};
  quarantine() = default;
  explicit quarantine(std::string p) : path(std::move(p)) {}
  bool is_given() const { return !path.empty(); }
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::error_policy;
using lib::quarantine;

}  // namespace sluice
