// SPDX-License-Identifier: Apache-2.0
// How much a random test does: everything, or a share where each case costs ten times as much.
//
//   for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(1000); ++seed) { CAPTURE(seed); … }
//
// SLUICE_TEST_BUDGET=small (the sanitizer lanes set it): a tenth, at least one. A number: that many times as much.
// SLUICE_TEST_SEED: where to start; the seeds of a failure are repeated by naming the first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace sluice::lib::test {

inline std::uint64_t cases(std::uint64_t usual) {
  const char* budget = std::getenv("SLUICE_TEST_BUDGET");
  if (!budget || !*budget) return usual;
  if (std::string_view(budget) == "small") return std::max<std::uint64_t>(1, usual / 10);
  return std::max<std::uint64_t>(1,
                                 static_cast<std::uint64_t>(std::strtod(budget, nullptr) * static_cast<double>(usual)));
}

inline std::uint64_t first_seed(std::uint64_t usual = 1) {
  const char* given = std::getenv("SLUICE_TEST_SEED");
  return given && *given ? std::strtoull(given, nullptr, 10) : usual;
}

}  // namespace sluice::lib::test
