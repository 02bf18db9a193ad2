// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/sample_from_datasets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/mixing.hpp"
#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/base/random.hpp"

namespace sluice::lib {
namespace {

/// Draws inputs in proportion to their weights, among those that have not ended.
class weighted_draws {
 public:
  weighted_draws(std::vector<double> weights, std::uint64_t seed) : weights_(std::move(weights)), seed_(seed) {}

  void operator()(const mixing_state& s, std::span<std::uint32_t> to) {
    if (s.ended != ended_) add_up(s);
    std::array<double, kAtOnce> at;
    for (std::size_t done = 0; done != to.size();) {
      const std::size_t n = std::min(to.size() - done, kAtOnce);
#if defined(__clang__)
#pragma clang loop vectorize(disable)  // products of 64 bits cost three times as much in SSE2's registers
#endif
      for (std::size_t k = 0; k != n; ++k)
        at[k] = random_source(derive(seed_, s.step + done + k)).uniform() * sums_.back();
      find(at.data(), to.data() + done, n);
      done += n;
    }
  }

 private:
  static constexpr std::size_t kAtOnce = 256;

  /// The input that each number among the sums stands for. Of a few sums all are looked at: no processor foresees which branch a
  /// search takes.
  void find(const double* at, std::uint32_t* to, std::size_t n) const {
    const auto last = static_cast<std::uint32_t>(among_.size() - 1);
    std::fill_n(to, n, 0u);
    if (last < 16) {
      for (std::uint32_t i = 0; i != last; ++i)
        for (std::size_t k = 0; k != n; ++k) to[k] += at[k] >= sums_[i];
    } else {
      for (std::size_t k = 0; k != n; ++k)
        to[k] = static_cast<std::uint32_t>(std::upper_bound(sums_.begin(), sums_.end() - 1, at[k]) - sums_.begin());
    }
    for (std::size_t k = 0; k != n; ++k) to[k] = among_[to[k]];
  }
  /// The sums of the weights up to each that may be drawn.
  void add_up(const mixing_state& s) {
    ended_ = s.ended;
    among_.clear();
    sums_.clear();
    double sum = 0;
    for (std::uint32_t i = 0; i != weights_.size(); ++i) {
      if (s.has_ended(i) || weights_[i] == 0) continue;
      among_.push_back(i);
      sums_.push_back(sum += weights_[i]);
    }
    if (!among_.empty()) return;
    // Of a position that somebody made: what has no weight is open in it.
    among_.push_back(static_cast<std::uint32_t>(std::find(s.ended.begin(), s.ended.end(), 0) - s.ended.begin()));
    sums_.push_back(1);
  }

  std::vector<double> weights_;
  std::uint64_t seed_;
  std::vector<std::uint8_t> ended_;  ///< what the sums are of
  std::vector<std::uint32_t> among_;
  std::vector<double> sums_;
};

erased_stream open_sample(const node& n, open_context& context) {
  outlet out(*n.type);
  auto& o = n.as<sample_from_datasets_arguments>().options;
  std::vector<double> weights = o.weights;
  if (weights.empty()) weights.assign(n.inputs.size(), 1);
  mixing_state start;
  for (double w : weights) start.ended.push_back(w == 0);
  saved<mixing_state> st(std::move(start));
  const std::uint64_t seed = context.seed_of(n, o.seed.value, !o.reshuffle_each_iteration);
  return mixing_loop(out, std::move(st), context.open_inputs(n), weighted_draws(std::move(weights), seed),
                     o.stop_on_empty_dataset);
}

const element_type* sampled_type(const node& n, std::string& why) {
  auto& weights = n.as<sample_from_datasets_arguments>().options.weights;
  if (!weights.empty() && weights.size() != n.inputs.size()) {
    why = "weights are one for each dataset, and there are " + std::to_string(weights.size()) + " for " +
          std::to_string(n.inputs.size());
    return nullptr;
  }
  double sum = 0;
  for (double w : weights) {
    if (!(w >= 0) || !std::isfinite(w)) return why = "weights are finite numbers of at least 0", nullptr;
    sum += w;
  }
  if (!weights.empty() && !(sum > 0 && std::isfinite(sum)))
    return why = "the weights' sum must be more than 0, and finite", nullptr;
  return type_of_inputs(n, n.inputs.size(), why);
}

/// The sum of those that can be drawn; with stop_on_empty_dataset unknown, unless it is but one.
cardinality sampled_size(const node& n) {
  auto& o = n.as<sample_from_datasets_arguments>().options;
  cardinality all = cardinality::of(0);
  bool one_is_endless = false, all_are_endless = true;
  int can_be_drawn = 0;
  for (std::size_t i = 0; i != n.inputs.size(); ++i) {
    if (!o.weights.empty() && o.weights[i] == 0) continue;
    cardinality one = cardinality_of(*n.inputs[i]);
    ++can_be_drawn;
    one_is_endless |= one.kind == cardinality::infinite;
    all_are_endless &= one.kind == cardinality::infinite;
    all = all.and_then(one);
  }
  if (all_are_endless) return cardinality::forever();
  if (o.stop_on_empty_dataset && can_be_drawn != 1) return {};
  return one_is_endless ? cardinality::forever() : all;
}

}  // namespace

const op_info sample_from_datasets_op{
    .name = "sample_from_datasets",
    .doc = "elements of several datasets, each from one that is drawn",
    .shape = op_info::combine,
    .arguments = arguments_of<sample_from_datasets_arguments>,
    .type = sampled_type,
    .open = open_sample,
    .size = sampled_size,
    .inputs_behind_list = 0,
};

node_ptr sampled_from(std::vector<node_ptr> datasets, sample_from_datasets_options o) {
  return make_combine(sample_from_datasets_op, arguments::of(sample_from_datasets_arguments{std::move(o)}),
                      std::move(datasets));
}

}  // namespace sluice::lib
