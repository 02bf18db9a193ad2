// SPDX-License-Identifier: Apache-2.0
// Computes in float like TensorFlow, so that the same neighbors are chosen.
#include "format/image/resize_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice::lib::detail {
namespace {

/// The neighbors of one output before they are laid out.
struct neighbours {
  int start = 0;
  std::vector<float> weights;
};

float triangle(float x) { return std::max(0.0f, 1.0f - x); }

float keys_cubic(float x) {
  if (x >= 2.0f) return 0.0f;
  if (x >= 1.0f) return ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f;
  return (1.5f * x - 2.5f) * x * x + 1.0f;
}

void normalise(std::vector<float>& weights) {
  float sum = 0;
  for (float w : weights) sum += w;
  if (std::abs(sum) < 1000.0f * std::numeric_limits<float>::min()) return;
  const float inverse = 1.0f / sum;
  for (float& w : weights) w *= inverse;
}

/// Widens the kernel as the image gets smaller. At the border only pixels inside the image count.
template <class Kernel>
void antialiased(int in, float position, float radius, float kernel_scale, Kernel kernel, neighbours& n) {
  const int first = std::clamp(static_cast<int>(std::ceil(position - radius * kernel_scale - 0.5f)), 0, in - 1);
  const int last = std::clamp(static_cast<int>(std::floor(position + radius * kernel_scale - 0.5f)), 0, in - 1);
  const float inverse = 1.0f / kernel_scale;
  n.start = first;
  for (int i = first; i <= last; ++i)
    n.weights.push_back(kernel(std::abs((static_cast<float>(i) + 0.5f - position) * inverse)));
  normalise(n.weights);
}

void two_nearest(int in, float position, neighbours& n) {
  const float at = position - 0.5f, below = std::floor(at), part = at - below;
  const int low = std::max(static_cast<int>(below), 0), high = std::min(static_cast<int>(std::ceil(at)), in - 1);
  n.start = low;
  if (low == high) n.weights = {1.0f};
  else n.weights = {1.0f - part, part};
}

/// TensorFlow reads the kernel from a table of 1,024 steps.
void four_nearest(int in, float position, neighbours& n) {
  constexpr float kSteps = 1024;
  const float at = position - 0.5f, below = std::floor(at);
  const float part = std::nearbyint((at - below) * kSteps) / kSteps;
  const int low = static_cast<int>(below);
  n.start = std::clamp(low - 1, 0, in - 1);
  for (int i = n.start; i <= low + 2 && i < in; ++i)
    n.weights.push_back(keys_cubic(std::abs(static_cast<float>(i - low) - part)));
  normalise(n.weights);
}

void covered(int in, int output, float scale, neighbours& n) {
  const float from = static_cast<float>(output) * scale, to = static_cast<float>(output + 1) * scale;
  n.start = std::min(static_cast<int>(std::floor(from)), in - 1);
  const int end = static_cast<int>(std::ceil(to));
  for (int i = n.start; i < end; ++i) {
    const float left = static_cast<float>(i);
    const float part = std::min(left + 1, to) - std::max(left, from);
    // Rounding may put the end after the last pixel, which then also gets the missing weight.
    if (i < in) n.weights.push_back(part / scale);
    else n.weights.back() += part / scale;
  }
}

}  // namespace

int resize_weights::begin() const noexcept { return *std::min_element(starts.begin(), starts.end()); }
int resize_weights::end() const noexcept { return *std::max_element(starts.begin(), starts.end()) + taps; }

resize_weights make_resize_weights(int in, int out, resize_method method, bool antialias) {
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  // TensorFlow inverts the scale when it avoids aliasing.
  const float inverted = 1.0f / (static_cast<float>(out) / static_cast<float>(in));
  const float kernel_scale = std::max(inverted, 1.0f);
  std::vector<neighbours> found(static_cast<std::size_t>(out));
  resize_weights w;
  for (int i = 0; i != out; ++i) {
    neighbours& n = found[static_cast<std::size_t>(i)];
    const float centre = static_cast<float>(i) + 0.5f;
    if (method == resize_method::area) covered(in, i, scale, n);
    else if (antialias && method == resize_method::bilinear)
      antialiased(in, centre * inverted, 1.0f, kernel_scale, triangle, n);
    else if (antialias) antialiased(in, centre * inverted, 2.0f, kernel_scale, keys_cubic, n);
    else if (method == resize_method::bilinear) two_nearest(in, centre * scale, n);
    else four_nearest(in, centre * scale, n);
    w.taps = std::max(w.taps, static_cast<int>(n.weights.size()));
  }
  w.starts.resize(found.size());
  w.weights.assign(found.size() * static_cast<std::size_t>(w.taps), 0.0f);
  for (std::size_t i = 0; i != found.size(); ++i) {
    // Near the end the taps begin earlier, with weights of 0.
    w.starts[i] = std::min(found[i].start, in - w.taps);
    std::copy(found[i].weights.begin(), found[i].weights.end(),
              w.weights.begin() + static_cast<std::ptrdiff_t>(i) * w.taps + (found[i].start - w.starts[i]));
  }
  return w;
}

std::vector<int> nearest_inputs(int in, int out) {
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  std::vector<int> inputs(static_cast<std::size_t>(out));
  for (int i = 0; i != out; ++i)
    inputs[static_cast<std::size_t>(i)] =
        std::clamp(static_cast<int>(std::floor((static_cast<float>(i) + 0.5f) * scale)), 0, in - 1);
  return inputs;
}

}  // namespace sluice::lib::detail
