// SPDX-License-Identifier: Apache-2.0
// What the cases of sample_from_datasets and its tests share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::sample_from_datasets_case {

using namespace test;
using int64 = std::int64_t;

/// By a plain loop: the k-th draw falls to the datasets that have elements left, in proportion to their weights.
inline int64s sampled(const std::vector<int64s>& from, const std::vector<double>& weights, std::uint64_t seed,
                      bool stop) {
  int64s out;
  std::vector<std::size_t> at(from.size());
  std::vector<bool> ended(from.size());
  for (std::uint64_t k = 0;;) {
    double sum = 0;
    for (std::size_t i = 0; i != from.size(); ++i) sum += ended[i] ? 0 : weights[i];
    if (sum == 0) return out;
    double left = random_source(derive(seed, k)).uniform() * sum;
    std::size_t drawn = from.size();
    double so_far = 0;
    for (std::size_t i = 0; i != from.size() && drawn == from.size(); ++i) {
      if (ended[i] || weights[i] == 0) continue;
      so_far += weights[i];
      if (left < so_far) drawn = i;
    }
    if (at[drawn] != from[drawn].size()) {
      out.push_back(from[drawn][at[drawn]++]);
      ++k;
    } else {
      ended[drawn] = true;
      if (stop) return out;
    }
  }
}

/// Weights that change: of the k-th draw.
inline std::array<double, 3> stepped(int64 k) {
  return {static_cast<double>(k % 5), static_cast<double>(k % 3 + 1), static_cast<double>(k % 2)};
}

/// By a plain loop: where all that have weight have ended, the others are alike.
inline int64s sampled_by_step(const std::vector<int64s>& from, std::uint64_t seed, bool stop) {
  int64s out;
  std::vector<std::size_t> at(from.size());
  std::vector<bool> ended(from.size());
  for (std::uint64_t k = 0; std::find(ended.begin(), ended.end(), false) != ended.end();) {
    const std::array<double, 3> given = stepped(static_cast<int64>(k));
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t i = 0; i != from.size(); ++i) {
      weights.push_back(ended[i] ? 0 : given[i]);
      sum += weights.back();
    }
    for (std::size_t i = 0; i != from.size() && sum == 0; ++i) weights[i] = ended[i] ? 0 : 1;
    if (sum == 0)
      for (double w : weights) sum += w;
    const double left = random_source(derive(seed, k)).uniform() * sum;
    std::size_t drawn = from.size();
    double so_far = 0;
    for (std::size_t i = 0; i != from.size() && drawn == from.size(); ++i)
      if (weights[i] != 0 && left < (so_far += weights[i])) drawn = i;
    if (at[drawn] != from[drawn].size()) {
      out.push_back(from[drawn][at[drawn]++]);
      ++k;
    } else {
      ended[drawn] = true;
      if (stop) break;
    }
  }
  return out;
}

}  // namespace sluice::lib::sample_from_datasets_case
