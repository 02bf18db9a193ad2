// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "tuner/allocation.hpp"

namespace sluice::lib {
namespace {

/// More calls whose throughput is less than this much higher are not worth their memory.
constexpr double kSameThroughput = 1.03;
/// Reads that take this much longer than those beside few others wait for each other; and the room for reads that differ.
constexpr double kSlowedReads = 1.2, kReadHeadroom = 1.1;

double error_of(const std::vector<scaling_point>& points, const scaling& law, double& first) {
  // The time of one call alone, by least squares of the relative errors.
  double sum = 0, squares = 0;
  for (const scaling_point& p : points) {
    const double x = law.factor(p.running) / p.call;
    sum += x;
    squares += x * x;
  }
  first = sum / squares;
  double error = 0;
  for (const scaling_point& p : points) error += std::pow(1 - first * law.factor(p.running) / p.call, 2);
  return error;
}

/// Twice the standard error of the difference between the shortest and the longest time. A setting of few calls may have seen
/// none of the slow ones, so both have the larger deviation.
double doubt_of(const scaling_point& a, const scaling_point& b) {
  if (a.calls <= 0 || b.calls <= 0) return 0;
  return 2 * std::max(a.deviation, b.deviation) * std::sqrt(1 / a.calls + 1 / b.calls);
}

}  // namespace

scaling fit_scaling(const std::vector<scaling_point>& points) {
  scaling best;
  const auto [few, many] = std::minmax_element(points.begin(), points.end(),
                                               [](const auto& a, const auto& b) { return a.running < b.running; });
  if (points.size() < 2 || many->running < 1.2 * few->running) return best;
  const auto [fast, slow] =
      std::minmax_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.call < b.call; });
  const double doubt = doubt_of(*fast, *slow);
  if (doubt > 0 && slow->call - fast->call <= doubt) return best;
  double first = 0, least = error_of(points, best, first);
  // Both coefficients are small numbers: a search of their logarithms needs no derivatives, and cannot leave the range.
  for (int s = 0; s <= 40; ++s) {
    for (int k = 0; k <= (points.size() > 2 ? 30 : 0); ++k) {
      scaling law{.sigma = s ? std::pow(10, -4 + s * 0.1) : 0, .kappa = k ? std::pow(10, -6 + k * 0.15) : 0};
      double alone = 0;
      const double error = error_of(points, law, alone);
      if (error >= least - 1e-6) continue;
      least = error;
      best = law;
      first = alone;
    }
  }
  // Asymptotic bounds: if more calls were not faster, the throughput is that of the knee.
  double throughput = 0, fastest = few->call;
  for (const scaling_point& p : points) {
    throughput = std::max(throughput, p.running / p.call);
    fastest = std::min(fastest, p.call);
  }
  for (const scaling_point& p : points) {
    const bool is_saturated = p.running / p.call * kSameThroughput >= throughput && p.running * 1.2 < many->running;
    if (is_saturated) best.useful = std::min(best.useful, p.running);
  }
  if (many->call > 1.5 * fastest && throughput > 0) best.useful = std::min(best.useful, 1.1 * throughput * fastest);
  return best;
}

read_scaling fit_reads(const std::vector<scaling_point>& points) {
  read_scaling found;
  double most = 0, slowest = 0;
  for (const scaling_point& p : points) {
    most = std::max(most, p.running / p.call);
    slowest = std::max(slowest, p.call);
    found.alone = found.alone > 0 ? std::min(found.alone, p.call) : p.call;
  }
  if (points.size() < 2) return found;
  found.useful = fit_scaling(points).useful;
  // Little's law: this number of reads, each as fast as one beside few others, is as many per second.
  if (slowest > kSlowedReads * found.alone) found.useful = std::min(found.useful, kReadHeadroom * most * found.alone);
  return found;
}

}  // namespace sluice::lib
