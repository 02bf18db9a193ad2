// SPDX-License-Identifier: Apache-2.0
#include "profile/flow.hpp"

#include <algorithm>
#include <utility>

#include "runtime/sites/site_edges.hpp"

namespace sluice::lib {

stage_flow::stage_flow(std::vector<site_report>& sites, duration elapsed, unsigned workers)
    : sites_(sites),
      inputs_(site_edges(sites)),
      elapsed_(static_cast<double>(elapsed.count())),
      workers_(workers),
      facts_(sites.size()) {
  for (index i = 0; i != sites_.size(); ++i) {
    const site_report& s = sites_[i];
    const bool has_channel = std::any_of(s.channels.begin(), s.channels.end(), [](auto& c) { return !c.is_light; });
    facts_[i].works_ahead = has_channel || s.room_waits != 0 || s.in_tasks > duration(0);
  }
  if (!sites_.empty()) enter_task({0}, 1);
  while (!ahead_.empty()) {  // no recursion: a plan may have many thousand channels
    const index i = ahead_.back();
    ahead_.pop_back();
    enter_parallel(i);
  }
}

double stage_flow::outside(const site_report& s) const {
  return share(waited(s, wait_reason::disk) + waited(s, wait_reason::network) + waited(s, wait_reason::pace)) +
         for_threads(s);
}

double stage_flow::for_threads(const site_report& s) const {
  return s.in_tasks > duration(0) ? 0 : share(waited(s, wait_reason::call_pool));
}

void stage_flow::set_inline_shares() {
  for (index i = sites_.size(); i-- != 0;) {  // a stage is before its inputs
    const double own_part = own(sites_[i]) + share(sites_[i].waited);
    facts_[i].inline_share = own_part + (facts_[i].works_ahead ? 0 : upstream_share(i));
  }
}

double stage_flow::upstream_share(index i) const {
  double sum = 0;
  for (index in : inputs_[i])
    if (in > i) sum += facts_[in].inline_share;
  return sum;
}

double stage_flow::parallelism(const site_report& s) const {
  double n = 1;
  for (const knob_report& k : s.knobs)
    if (k.name == "parallelism") n = std::max(1.0, static_cast<double>(k.value));
  const bool computes = s.in_tasks > s.in_flight;
  return computes ? std::min(n, static_cast<double>(workers_)) : n;
}

std::vector<stage_flow::index> stage_flow::task_of(const std::vector<index>& first, double lanes) {
  std::vector<index> task, open(first.rbegin(), first.rend());
  while (!open.empty()) {
    const index i = open.back();
    open.pop_back();
    if (std::exchange(facts_[i].is_known, true)) continue;
    facts_[i].lanes = lanes;
    task.push_back(i);
    if (facts_[i].works_ahead) continue;
    for (auto in = inputs_[i].rbegin(); in != inputs_[i].rend(); ++in)
      if (*in > i) open.push_back(*in);
  }
  return task;
}

void stage_flow::enter_task(const std::vector<index>& first, double lanes) {
  const std::vector<index> task = task_of(first, lanes);
  busiest_task now;
  double most = -1;
  for (index i : task) {
    const site_report& s = sites_[i];
    now.utilization += (own(s) + outside(s)) / lanes;
    const std::pair<double, limit_cause> parts[] = {{own(s), limit_cause::stage},
                                                    {share(waited(s, wait_reason::disk)), limit_cause::disk},
                                                    {share(waited(s, wait_reason::network)), limit_cause::network},
                                                    {share(waited(s, wait_reason::pace)), limit_cause::pace},
                                                    {for_threads(s), limit_cause::call_pool}};
    for (auto [part, cause] : parts) {
      if (part <= most) continue;
      most = part;
      now.stage = &s;
      now.cause = cause;
    }
  }
  if (now.stage && now.utilization > busiest_.utilization) busiest_ = now;
  for (auto i = task.rbegin(); i != task.rend(); ++i)
    if (facts_[*i].works_ahead) ahead_.push_back(*i);
}

void stage_flow::enter_parallel(index i) {
  const site_report& s = sites_[i];
  const double n = parallelism(s), used = share(s.in_tasks) / n;
  if (s.in_tasks > duration(0) && used > busiest_.utilization) {
    const bool is_short_of_threads = waited(s, wait_reason::call_pool) * 2 > s.in_tasks;
    busiest_ = {used, &s, is_short_of_threads ? limit_cause::call_pool : limit_cause::parallel};
  }
  const bool has_computation = s.in_tasks > duration(0);
  enter_task(inputs_[i], has_computation ? 1 : n);
}

void stage_flow::set_shares() {
  set_inline_shares();
  for (index i = 0; i != sites_.size(); ++i) {
    site_report& s = sites_[i];
    const double upstream = upstream_share(i);
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
