// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/sample_from_datasets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/inner/mixing.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "expr/functions/numbers.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib {
namespace {

/// Draws inputs in proportion to their weights, among the inputs that have not ended.
class weighted_draws {
 public:
  weighted_draws(std::vector<double> weights, std::uint64_t seed) : weights_(std::move(weights)), seed_(seed) {}

  std::size_t operator()(const mixing_state& s, std::span<std::uint32_t> to, status&) {
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
    return to.size();
  }

 private:
  static constexpr std::size_t kAtOnce = 256;

  /// Returns the input to which each number among the sums belongs. A few sums are compared one by one, because no
  /// processor predicts the branches of a search.
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
  /// Computes the sums of the weights up to each input that may be drawn.
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
    // An input for a forged position, in which only inputs without weight are open.
    among_.push_back(static_cast<std::uint32_t>(std::find(s.ended.begin(), s.ended.end(), 0) - s.ended.begin()));
    sums_.push_back(1);
  }

  std::vector<double> weights_;
  std::uint64_t seed_;
  std::vector<std::uint8_t> ended_;  ///< the inputs that had ended when the sums were computed
  std::vector<std::uint32_t> among_;
  std::vector<double> sums_;
};

/// Draws by weights that are a function of the step.
class stepped_draws {
 public:
  stepped_draws(function_ptr function, std::uint64_t seed)
      : function_(std::move(function)), list_(*function_->out), seed_(seed) {}

  std::size_t operator()(const mixing_state& s, std::span<std::uint32_t> to, status& why) const {
    auto& f = static_cast<const block_function&>(*function_);
    std::vector<std::int64_t> steps(std::min(to.size(), kStepsAtOnce));
    std::iota(steps.begin(), steps.end(), static_cast<std::int64_t>(s.step));
    slab made(list_);
    const auto asked = static_cast<std::uint32_t>(steps.size());
    const block in(nullptr, &type_of<std::int64_t>(), reinterpret_cast<char*>(steps.data()), asked);
    char* rows = made.reserve(asked);
    applied a = f.apply(in, rows, {s.step, 0});
    made.set_live(0, a.done);
    std::size_t chosen = 0;
    for (; chosen != a.done; ++chosen) {
      status bad = choose(s, s.step + chosen, rows + chosen * list_.size, to[chosen]);
      if (bad.ok()) continue;
      a.why = std::move(bad);
      break;
    }
    why = std::move(a.why);
    return chosen;
  }

 private:
  static constexpr std::size_t kStepsAtOnce = 64;

  status choose(const mixing_state& s, std::uint64_t step, const char* row, std::uint32_t& chosen) const {
    std::size_t n = list_.extent;
    const void* items = row;
    if (list_.kind == kind::list) items = list_.items(list_, row, n);
    if (n != s.ended.size())
      return invalid_argument_error("weights_at gives a weight for each dataset, and there are " + std::to_string(n) +
                                    " for " + std::to_string(s.ended.size()));
    std::vector<double> sums(n);
    double all = 0, sum = 0;
    for (std::size_t i = 0; i != n; ++i) {
      const double w = number_at(*list_.element, items, i);
      if (!(w >= 0) || !std::isfinite(w)) return invalid_argument_error("weights are finite numbers of at least 0");
      all += w;
      sums[i] = sum += s.has_ended(i) ? 0 : w;
    }
    if (!(all > 0 && std::isfinite(all)))
      return invalid_argument_error("the weights' sum must be more than 0, and finite");
    if (sum == 0)  // the inputs with weight have ended: the others are equally likely
      for (std::size_t i = 0; i != n; ++i) sums[i] = sum += s.has_ended(i) ? 0 : 1;
    const double at = random_source(derive(seed_, step)).uniform() * sum;
    chosen = static_cast<std::uint32_t>(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin());
    // The number was rounded up to the sum: the last input that may be drawn is chosen.
    while (chosen == n || s.has_ended(chosen)) --chosen;
    return {};
  }
  static double number_at(const element_type& t, const void* items, std::size_t i) {
    return expressions::with_number(expressions::number_of(t), [&]<class N>(std::type_identity<N>) {
      N value{};
      std::memcpy(&value, static_cast<const char*>(items) + i * sizeof value, sizeof value);
      return static_cast<double>(value);
    });
  }

  function_ptr function_;
  const element_type& list_;
  std::uint64_t seed_;
};

erased_stream open_sample(const node& n, open_context& context) {
  outlet out(*n.type);
  auto& o = n.as<sample_from_datasets_arguments>().options;
  const std::uint64_t seed = context.seed_of(n, o.seed.value, !o.reshuffle_each_iteration);
  if (o.weights_at.value)
    return mixing_loop(out, saved<mixing_state>(), context.open_inputs(n), stepped_draws(o.weights_at.value, seed),
                       o.stop_on_empty_dataset, context.gate(n));
  std::vector<double> weights = o.weights;
  if (weights.empty()) weights.assign(n.inputs.size(), 1);
  mixing_state start;
  for (double w : weights) start.ended.push_back(w == 0);
  saved<mixing_state> st(std::move(start));
  return mixing_loop(out, std::move(st), context.open_inputs(n), weighted_draws(std::move(weights), seed),
                     o.stop_on_empty_dataset, context.gate(n));
}

/// Returns true for a list or an array of numbers.
bool are_weights(const element_type& t) {
  if (t.kind != kind::array && !(t.kind == kind::list && t.items)) return false;
  return expressions::number_of(*t.element) != expressions::number::none;
}

const element_type* sampled_type(const node& n, std::string& why) {
  auto& weights = n.as<sample_from_datasets_arguments>().options.weights;
  if (const function_ptr& f = n.as<sample_from_datasets_arguments>().options.weights_at.value) {
    if (!weights.empty()) return why = "weights and weights_at exclude each other", nullptr;
    if (!are_weights(*f->out))
      return why = "weights_at gives a list of numbers, one for each dataset, and this one " + f->out->name, nullptr;
  }
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
  if (!std::isfinite(sum)) return why = "the weights' sum must be finite", nullptr;
  return type_of_inputs(n, n.inputs.size(), why);
}

/// Returns the sum of the inputs that can be drawn. With stop_on_empty_dataset it is unknown, unless there is only one.
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
  if (can_be_drawn == 0) return cardinality::of(0);
  if (all_are_endless) return cardinality::forever();
  if (o.stop_on_empty_dataset && can_be_drawn != 1) return {};
  return one_is_endless ? cardinality::forever() : all;
}

}  // namespace

const op_info sample_from_datasets_op{
    .name = "sample_from_datasets",
    .doc = "elements of several datasets, each from one drawn at random",
    .shape = op_info::combine,
    .arguments = arguments_of<sample_from_datasets_arguments>,
    .inputs_behind_list = 0,
    .type = sampled_type,
    .spec = [](const node& n) { return spec_of_inputs(n, n.inputs.size()); },
    .facts = {.always = {.forwards = true, .draws = true, .may_fail = false}, .size = sampled_size},
    .splits = {.rule = split_rule::together},
    // Version 0 drew other inputs from the same seed.
    .lowering = {.open = open_sample, .state_version = 1, .state_version_oldest = 1},
};

node_ptr sampled_from(std::vector<node_ptr> datasets, sample_from_datasets_options o) {
  return make_combine(sample_from_datasets_op, arguments::of(sample_from_datasets_arguments{std::move(o)}),
                      std::move(datasets));
}

}  // namespace sluice::lib
