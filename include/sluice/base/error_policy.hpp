// SPDX-License-Identifier: Apache-2.0
// What a stage does with an element that fails. Said for a run (iterate_options), for stages (plan/on_error.hpp, in plan text
// `map(parse, on_error=skip)`), or for all stages upstream of a place (op/ignore_errors.hpp).
#pragma once

#include <cstdint>

namespace sluice::lib {

/// What a bad element does: end the stream, or be counted and passed over.
enum class error_policy : std::uint8_t { stop, skip };

/// How many bad elements may be passed over: at least 0, or any number. Left out of fingerprints, since it changes no element:
/// a run that had too many may be resumed with a higher limit.
struct error_limit {
  static constexpr std::int64_t kNone = -1;
  std::int64_t value = kNone;
  constexpr error_limit() = default;
  constexpr error_limit(std::int64_t v) : value(v) {}  // NOLINT: numbers are written as numbers
  constexpr bool is_given() const { return value != kNone; }
  /// As a number that no count of errors exceeds where there is no limit.
  constexpr std::uint64_t most() const { return is_given() ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0}; }
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::error_policy;

}  // namespace sluice
