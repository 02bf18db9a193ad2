// SPDX-License-Identifier: Apache-2.0
#include "tuner/rates.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>

namespace sluice::lib {
namespace {

void keep_least(rate_bound& least, double seconds, double lanes, rate_bound::kind of, std::size_t stage) {
  if (seconds <= 0 || lanes / seconds >= least.rate) return;
  least = {lanes / seconds, of, stage};
}

}  // namespace

std::string time_text_of(double seconds) {
  const char* const units[] = {"s", "ms", "µs", "ns"};
  std::size_t unit = 0;
  while (seconds < 0.9995 && unit != 3) seconds *= 1000, ++unit;
  return absl::StrFormat("%.3g %s", seconds, units[unit]);
}

std::string rate_bound::text(const figures& f, double visits) const {
  if (of == kind::none) return "nothing limits it";
  const std::string each = time_text_of(1 / (rate * std::max(visits, 1e-12)));
  const std::string& name = f.stages[stage].name;
  switch (of) {
    case kind::consumer: return absl::StrCat("the consumer takes one per ", each);
    case kind::task: return absl::StrCat(name, " makes one per ", each);
    case kind::parallel: return absl::StrCat("as many as ", name, " may have make one per ", each);
    case kind::workers: return absl::StrCat("all workers together make one per ", each);
    case kind::none: break;
  }
  return {};
}

const tunable_knob* rate_model::knob(const stage_figures& s, std::string_view name) {
  for (const tunable_knob& k : s.knobs)
    if (k.name == name) return &k;
  return nullptr;
}

std::vector<double> rate_model::present() const {
  std::vector<double> all;
  for (const stage_figures& s : f_.stages) {
    const tunable_knob* k = knob(s, "parallelism");
    all.push_back(k ? static_cast<double>(k->value) : 0);
  }
  return all;
}

std::vector<double> rate_model::largest() const {
  std::vector<double> all;
  for (const stage_figures& s : f_.stages) {
    const tunable_knob* k = knob(s, "parallelism");
    const bool stays = k && (k->is_blocked || s.is_light);
    all.push_back(!k ? 0 : static_cast<double>(stays ? k->value : k->most));
  }
  return all;
}

double rate_model::call_of(std::size_t i, double n) const {
  const stage_figures& s = f_.stages[i];
  return s.call / s.scales.factor(s.running) * s.scales.factor(n);
}

double rate_model::task_of(std::size_t i) const {
  const stage_figures& s = f_.stages[i];
  double sum = s.visits * (s.own + s.outside);
  if (s.works_ahead) return sum;
  for (std::size_t in : s.inputs) sum += task_of(in);
  return sum;
}

std::size_t rate_model::slowest_in_task(std::size_t i) const {
  const stage_figures& s = f_.stages[i];
  if (s.works_ahead) return i;
  auto own = [this](std::size_t k) { return f_.stages[k].visits * (f_.stages[k].own + f_.stages[k].outside); };
  std::size_t most = i;
  for (std::size_t in : s.inputs)
    if (const std::size_t k = slowest_in_task(in); own(k) > own(most)) most = k;
  return most;
}

double rate_model::calls_for(std::size_t i, double rate) const {
  const double each = rate * f_.stages[i].visits;
  double n = each * call_of(i, 1);
  // More calls at once make each one slower: a few rounds find the number that is consistent with its own time.
  for (int round = 0; round != 20; ++round) n = std::min(each * call_of(i, n), 1e6);
  return n;
}

void rate_model::enter_upstream(std::size_t i, const std::vector<double>& parallelism, rate_bound& least) const {
  const stage_figures& s = f_.stages[i];
  const double lanes = std::max(1.0, parallelism[i]);
  if (s.works_ahead && s.calls > 0 && s.call > 0) {
    double n = std::min(lanes, s.scales.useful);
    const bool is_all = !s.awaits && n >= b_.workers;
    if (is_all) n = b_.workers;
    keep_least(least, s.visits * call_of(i, n), n, is_all ? rate_bound::kind::workers : rate_bound::kind::parallel, i);
  }
  for (std::size_t k = 0; k != s.inputs.size(); ++k) {
    const std::size_t in = s.inputs[k];
    const bool has_lanes = s.opens_plans && k != 0;
    const double at_once = has_lanes ? std::min(lanes, s.scales.useful) : 1;
    double task = task_of(in);
    if (task <= 0 && k == 0) task = f_.stages[in].visits * s.pull;
    if (s.works_ahead || has_lanes)
      keep_least(least, task, at_once, has_lanes ? rate_bound::kind::parallel : rate_bound::kind::task,
                 has_lanes ? i : slowest_in_task(in));
    enter_upstream(in, parallelism, least);
  }
}

rate_bound rate_model::rate(const std::vector<double>& parallelism) const {
  rate_bound least;
  if (f_.stages.empty()) return least;
  const double root = task_of(0);
  keep_least(least, f_.consumer + root, 1, f_.consumer >= root ? rate_bound::kind::consumer : rate_bound::kind::task,
             f_.consumer >= root ? 0 : slowest_in_task(0));
  enter_upstream(0, parallelism, least);
  double computing = 0;
  for (const stage_figures& s : f_.stages) computing += s.visits * (s.own + (s.awaits ? 0 : s.call));
  // The own time of a stage may contain waits; the CPU time of the process does not, but may contain other work.
  if (f_.cpu > 0) computing = std::min(computing, f_.cpu);
  keep_least(least, computing, b_.workers, rate_bound::kind::workers, 0);
  return least;
}

}  // namespace sluice::lib
