// SPDX-License-Identifier: Apache-2.0
// The inputs of each row or column of a resized image: a number of neighbors, each with its weight.
#pragma once

#include <cstddef>
#include <vector>

#include "sluice/format/image_transforms.hpp"

namespace sluice::lib::detail {

struct resize_weights {
  int taps = 0;                ///< the number for each output; an output that needs fewer has weights of 0
  std::vector<int> starts;     ///< the first input of each output; start + taps is within the input
  std::vector<float> weights;  ///< taps of output 0, taps of output 1, …

  const float* of(std::size_t output) const noexcept {
    return weights.data() + output * static_cast<std::size_t>(taps);
  }
  /// The inputs used are in [begin, end).
  int begin() const noexcept;
  int end() const noexcept;
};

/// `in`, `out` ≥ 1. Not for the method nearest.
resize_weights make_resize_weights(int in, int out, resize_method method, bool antialias);

/// Returns the input of each output.
std::vector<int> nearest_inputs(int in, int out);

}  // namespace sluice::lib::detail
