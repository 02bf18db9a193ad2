// SPDX-License-Identifier: Apache-2.0
#include "tuner/baselines.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sluice::lib::test {
namespace {

/// A stage of a chain, the last one first: its own time, and its parallelism (0: none).
struct chain_stage {
  std::uint64_t path = 0;
  double self = 0, parallelism = 0;
};
using chain = std::vector<chain_stage>;

/// The probability that a buffer of n is empty (M/M/1/n), times the time of the producer.
double wait_time(double y, double x, double n) {
  if (y <= 0) return 0;
  if (x <= 0) return y;
  if (std::abs(x - y) < 1e-12) return y / (n + 1);
  if (x > y) {
    const double r = y / x;
    return y * std::pow(r, n) * (1 - r) / (1 - std::pow(r, n + 1));
  }
  const double r = x / y;
  return y * (1 - r) / (1 - std::pow(r, n + 1));
}

/// tf.data's Output(): the time until the root has the next element. Its consumer takes no time.
double output_of(const chain& c, std::size_t i = 0, double input_time = 0) {
  if (i == c.size()) return 0;
  const chain_stage& s = c[i];
  if (s.parallelism == 0) return s.self + output_of(c, i + 1, input_time + s.self);
  const double own = s.self / s.parallelism;
  return own + wait_time(output_of(c, i + 1, input_time + own), input_time, s.parallelism);
}

chain chain_of(const figures& f, const observation& now) {
  chain c;
  for (std::size_t i = 0; i != f.stages.size(); ++i) {
    const stage_figures& s = f.stages[i];
    chain_stage& t = c.emplace_back(chain_stage{s.path, s.calls > 0 ? s.call : s.own, 0});
    for (const knob_report& k : now.sites[i].knobs)
      if (k.name == "parallelism") t.parallelism = static_cast<double>(k.value);
  }
  return c;
}

/// Looks like tf.data: after 10 ms, then at intervals that double up to 60 s.
class periodic : public tuning_policy {
 public:
  explicit periodic(unsigned cores) : cores_(cores) {}
  decision look(const observation& now) final {
    decision d;
    if (!begin_) begin_ = now;
    const figures f = figures_between(*begin_, now);
    chain c = chain_of(f, now);
    if (f.elements > 0) {
      choose(c, f);
      for (const chain_stage& s : c)
        if (s.parallelism > 0) d.set.push_back({s.path, "parallelism", std::llround(std::max(1.0, s.parallelism))});
      ++steps_;
      period_ = std::min<duration>(2 * period_, std::chrono::seconds(60));
    }
    d.next = period_;
    return d;
  }
  tuning_report report() const final {
    tuning_report r;
    r.steps = steps_;
    return r;
  }

 protected:
  virtual void choose(chain& c, const figures& f) const = 0;
  double most() const { return cores_; }
  static double total_processing(const chain& c) {
    double sum = 0;
    for (const chain_stage& s : c) sum += s.self;
    return sum;
  }

 private:
  const unsigned cores_;
  std::optional<observation> begin_;
  duration period_ = std::chrono::milliseconds(10);
  std::uint64_t steps_ = 0;
};

class hill_climb final : public periodic {
 public:
  using periodic::periodic;
  void choose(chain& c, const figures&) const override {
    for (chain_stage& s : c) s.parallelism = s.parallelism > 0 ? 1 : 0;
    for (;;) {
      const double now = output_of(c);
      chain_stage* best = nullptr;
      double gain = 1e-9;
      for (chain_stage& s : c) {
        if (s.parallelism == 0 || s.parallelism >= most()) continue;
        ++s.parallelism;
        if (const double g = now - output_of(c); g > gain) best = &s, gain = g;
        --s.parallelism;
      }
      if (!best || now < total_processing(c) / most()) return;
      ++best->parallelism;
    }
  }
};

class gradient_descent final : public periodic {
 public:
  using periodic::periodic;
  void choose(chain& c, const figures&) const override {
    for (chain_stage& s : c) s.parallelism = s.parallelism > 0 ? 1 : 0;
    double before = output_of(c);
    for (int round = 0; round != 1000; ++round) {
      std::vector<double> slopes(c.size(), 0);
      double steepest = 1e-12;
      for (std::size_t i = 0; i != c.size(); ++i) {
        if (c[i].parallelism == 0) continue;
        chain more = c;
        more[i].parallelism += 0.01;
        slopes[i] = (before - output_of(more)) / 0.01;
        steepest = std::max(steepest, std::abs(slopes[i]));
      }
      for (std::size_t i = 0; i != c.size(); ++i)
        if (c[i].parallelism > 0)
          c[i].parallelism = std::clamp(c[i].parallelism + 0.1 * slopes[i] / steepest, 1.0, most());
      const double after = output_of(c);
      if (std::abs(before - after) < 1e-7) return;
      before = after;
    }
  }
};

class max_parallelism final : public periodic {
 public:
  using periodic::periodic;
  void choose(chain& c, const figures&) const override {
    for (chain_stage& s : c)
      if (s.parallelism > 0) s.parallelism = most();
  }
};

class stage_based final : public periodic {
 public:
  using periodic::periodic;
  void choose(chain& c, const figures& f) const override {
    for (chain_stage& s : c) s.parallelism = s.parallelism > 0 ? 1 : 0;
    const double target = std::max(f.consumer, 1e-6);
    for (;;) {
      auto time = [](const chain_stage& s) { return s.self / std::max(1.0, s.parallelism); };
      auto slowest = std::max_element(c.begin(), c.end(), [&](auto& a, auto& b) { return time(a) < time(b); });
      if (time(*slowest) <= target || slowest->parallelism == 0 || slowest->parallelism >= most()) return;
      ++slowest->parallelism;
    }
  }
};

class nothing final : public tuning_policy {
 public:
  decision look(const observation&) override { return {.set = {}, .next = std::chrono::seconds(1)}; }
  tuning_report report() const override { return {}; }
};

template <class P> policy_maker maker() {
  return [](unsigned cores) { return std::make_unique<P>(cores); };
}

}  // namespace

const std::vector<baseline>& all_baselines() {
  static const std::vector<baseline> all = {{"hill climb", maker<hill_climb>()},
                                            {"gradient", maker<gradient_descent>()},
                                            {"max", maker<max_parallelism>()},
                                            {"stage-based", maker<stage_based>()}};
  return all;
}

std::unique_ptr<tuning_policy> no_policy(unsigned) { return std::make_unique<nothing>(); }

}  // namespace sluice::lib::test
