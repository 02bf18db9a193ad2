// SPDX-License-Identifier: Apache-2.0
#include "profile/flow.hpp"

#include <algorithm>

namespace sluice::lib {

stage_flow::stage_flow(std::vector<site_report>& sites, duration elapsed, unsigned workers)
    : sites_(sites), elapsed_(static_cast<double>(elapsed.count())), workers_(workers), facts_(sites.size()) {
  for (index i = 0; i != sites_.size(); ++i) {
    const site_report& s = sites_[i];
    const bool has_channel = std::any_of(s.channels.begin(), s.channels.end(), [](auto& c) { return !c.is_light; });
    facts_[i].works_ahead = has_channel || s.room_waits != 0 || s.in_tasks > duration(0);
  }
  if (!sites_.empty()) enter_task({0}, 1);
}

std::vector<stage_flow::index> stage_flow::inputs(index i) const {
  std::vector<index> found;
  for (std::uint64_t path : sites_[i].inputs)
    for (index k = 0; k != sites_.size(); ++k)
      if (sites_[k].path == path && k != i) found.push_back(k);
  return found;
}

double stage_flow::outside(const site_report& s) const {
  return share(waited(s, wait_reason::disk) + waited(s, wait_reason::network) + waited(s, wait_reason::pace));
}

double stage_flow::inline_share(index i) const {
  const site_report& s = sites_[i];
  double sum = own(s) + share(s.waited);
  if (facts_[i].works_ahead) return sum;
  for (index in : inputs(i))
    if (in > i) sum += inline_share(in);  // a stage is before its inputs, so this ends
  return sum;
}

double stage_flow::parallelism(const site_report& s) const {
  double n = 1;
  for (const knob_report& k : s.knobs)
    if (k.name == "parallelism") n = std::max(1.0, static_cast<double>(k.value));
  const bool computes = s.in_tasks > s.in_flight;
  return computes ? std::min(n, static_cast<double>(workers_)) : n;
}

void stage_flow::add_task(index i, std::vector<index>& to) const {
  if (std::find(to.begin(), to.end(), i) != to.end()) return;
  to.push_back(i);
  if (facts_[i].works_ahead) return;
  for (index in : inputs(i))
    if (in > i) add_task(in, to);
}

void stage_flow::enter_task(const std::vector<index>& first, double lanes) {
  std::vector<index> task;
  for (index i : first) add_task(i, task);
  std::erase_if(task, [this](index i) { return facts_[i].is_known; });
  busiest_task now;
  double most = -1;
  for (index i : task) {
    const site_report& s = sites_[i];
    facts_[i].is_known = true;
    facts_[i].lanes = lanes;
    now.utilization += (own(s) + outside(s)) / lanes;
    const std::pair<double, limit_cause> parts[] = {{own(s), limit_cause::stage},
                                                    {share(waited(s, wait_reason::disk)), limit_cause::disk},
                                                    {share(waited(s, wait_reason::network)), limit_cause::network},
                                                    {share(waited(s, wait_reason::pace)), limit_cause::pace}};
    for (auto [part, cause] : parts) {
      if (part <= most) continue;
      most = part;
      now.stage = &s;
      now.cause = cause;
    }
  }
  if (now.stage && now.utilization > busiest_.utilization) busiest_ = now;
  for (index i : task)
    if (facts_[i].works_ahead) enter_parallel(i);
}

void stage_flow::enter_parallel(index i) {
  const site_report& s = sites_[i];
  const double n = parallelism(s), used = share(s.in_tasks) / n;
  if (s.in_tasks > duration(0) && used > busiest_.utilization) busiest_ = {used, &s, limit_cause::parallel};
  const bool has_computation = s.in_tasks > duration(0);
  enter_task(inputs(i), has_computation ? 1 : n);
}

void stage_flow::set_shares() {
  for (index i = 0; i != sites_.size(); ++i) {
    site_report& s = sites_[i];
    double upstream = 0;
    for (index in : inputs(i))
      if (in > i) upstream += inline_share(in);
    double busy = own(s) / facts_[i].lanes, input = 0;
    if (s.in_tasks > duration(0)) {
      busy = std::min(1.0, share(s.in_tasks) / parallelism(s));
      const double room = share(s.room_waited);
      input = upstream + room > 0 ? (1 - busy) * upstream / (upstream + room) : 0;
    } else if (facts_[i].works_ahead) {
      input = upstream / std::max(1.0, parallelism(s));
    } else {
      input = (outside(s) + share(waited(s, wait_reason::input) + waited(s, wait_reason::calls)) + upstream) /
              facts_[i].lanes;
    }
    const double sum = std::max(1.0, busy + input);
    s.busy_share = busy / sum;
    s.input_share = input / sum;
    s.blocked_share = std::max(0.0, 1 - s.busy_share - s.input_share);
  }
}

const site_report* stage_flow::small_channel() const {
  constexpr double kShareMin = 0.05;
  const site_report* found = nullptr;
  double most = kShareMin;
  for (index i = 0; i != sites_.size(); ++i) {
    const site_report& s = sites_[i];
    const double both = std::min(share(waited(s, wait_reason::room)), share(waited(s, wait_reason::input)));
    if (!facts_[i].works_ahead || both < most) continue;
    most = both;
    found = &s;
  }
  return found;
}

const site_report* stage_flow::longest_wait(wait_reason why, double share_min) const {
  const site_report* found = nullptr;
  for (const site_report& s : sites_) {
    if (share(waited(s, why)) < share_min) continue;
    share_min = share(waited(s, why));
    found = &s;
  }
  return found;
}

const site_report* stage_flow::most_computing() const {
  auto cpu = [](const site_report& s) { return s.busy - s.in_flight; };
  auto most = std::max_element(sites_.begin(), sites_.end(),
                               [&](const site_report& a, const site_report& b) { return cpu(a) < cpu(b); });
  return most == sites_.end() ? nullptr : &*most;
}

}  // namespace sluice::lib
