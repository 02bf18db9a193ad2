// SPDX-License-Identifier: Apache-2.0
// What the cases of rejection_resample and its tests share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::rejection_resample_case {

using namespace test;
using int64 = std::int64_t;
using doubles = std::vector<double>;

inline int64 class_of(int64 x, std::size_t classes) {
  return static_cast<int64>(mix(static_cast<std::uint64_t>(x)) % classes);
}

/// By a plain loop. `initial` empty: as it comes.
inline int64s resampled(const int64s& in, const doubles& target, const doubles& initial, std::uint64_t seed) {
  int64s out;
  doubles seen(target.size(), 10);
  for (std::size_t k = 0; k != in.size(); ++k) {
    const auto c = static_cast<std::size_t>(class_of(in[k], target.size()));
    ++seen[c];
    const doubles& p = initial.empty() ? seen : initial;
    double best = 0;
    for (std::size_t i = 0; i != p.size(); ++i) best = std::max(best, target[i] == 0 ? 0 : target[i] / p[i]);
    const double likely = target[c] == 0 ? 0 : target[c] / p[c] / best;
    if (random_source(derive(seed, k)).uniform() < likely) out.push_back(number_of(static_cast<int64>(c), in[k]));
  }
  return out;
}

inline doubles some_target(std::uint64_t b) { return {static_cast<double>(b % 3), 1, static_cast<double>(b % 5) / 2}; }

inline doubles some_initial(std::uint64_t b) {
  return b % 2 ? doubles{} : doubles{1, 1.0 + static_cast<double>(b % 7), 2};
}

inline auto resample_by(std::uint64_t b) {
  return rejection_resample([](int64 x) { return class_of(x, 3); }, some_target(b),
                            {.initial_dist = some_initial(b), .seed = 5});
}

}  // namespace sluice::lib::rejection_resample_case
