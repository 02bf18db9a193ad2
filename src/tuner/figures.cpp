// SPDX-License-Identifier: Apache-2.0
#include "tuner/figures.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "base/seconds.hpp"
#include "runtime/sites/site_edges.hpp"

namespace sluice::lib {
namespace {

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

/// `i`: the index of `now`, which its site has had before unless stages upstream of it have appeared.
const site_report& earlier(const observation& before, const site_report& now, std::size_t i, const site_report& none) {
  if (i < before.sites.size() && before.sites[i].path == now.path) return before.sites[i];
  for (const site_report& s : before.sites)
    if (s.path == now.path) return s;
  return none;
}

duration waited(const site_report& s, wait_reason r) { return s.waits_by_reason[static_cast<std::size_t>(r)].took; }
duration outside(const site_report& s) {
  const bool has_tasks = s.in_tasks > duration(0);  // then these are their waits
  return waited(s, wait_reason::disk) + waited(s, wait_reason::network) + waited(s, wait_reason::pace) +
         (has_tasks ? duration(0) : waited(s, wait_reason::call_pool));
}

std::uint64_t ahead(const site_report& s) {
  std::uint64_t n = 0;
  for (const channel_report& c : s.channels) n += c.elements;
  return n;
}

/// Over this number of elements, which the site's mean and deviation describe.
double sum_of_squares(const site_report& s, double elements) {
  const double mean = seconds_of(s.each), deviation = seconds_of(s.each_deviation);
  return elements * (mean * mean + deviation * deviation);
}

/// The standard deviation of the elements between two reports, whose mean is `mean`.
double deviation_between(const site_report& was, double made_then, const site_report& now, double made_now,
                         double mean) {
  const double squares = sum_of_squares(now, made_now) - sum_of_squares(was, made_then);
  return std::sqrt(std::max(0.0, ratio(squares, made_now - made_then) - mean * mean));
}

void set_times(const site_report& was, const site_report& now, double elapsed, stage_figures& to) {
  const double made = static_cast<double>(now.elements + now.passed - was.elements - was.passed);
  to.own = std::max(0.0, ratio(seconds_of((now.busy - now.in_tasks) - (was.busy - was.in_tasks)), made));
  to.outside = std::max(0.0, ratio(seconds_of(outside(now) - outside(was)), made));
  to.calls = static_cast<double>(now.in_task_elements - was.in_task_elements);
  const double in_tasks = seconds_of(now.in_tasks - was.in_tasks),
               in_flight = seconds_of(now.in_flight - was.in_flight);
  to.call = ratio(in_tasks, to.calls);
  const auto made_in_tasks = [](const site_report& s) { return static_cast<double>(s.in_task_elements); };
  to.deviation = deviation_between(was, made_in_tasks(was), now, made_in_tasks(now), to.call);
  to.made = made;
  const auto made_of = [](const site_report& s) { return static_cast<double>(s.elements + s.passed); };
  if (now.in_task_elements == 0) to.own_deviation = deviation_between(was, made_of(was), now, made_of(now), to.own);
  // Slow calls of the longest time, and all others of a shorter one, have this deviation.
  if (now.longest > was.longest && seconds_of(now.longest) > to.call) {
    to.longest = seconds_of(now.longest);
    to.slow_share = std::pow(to.deviation / (to.longest - to.call), 2);
  }
  to.running = ratio(in_tasks, elapsed);
  to.limited = ratio(seconds_of(waited(now, wait_reason::limit) - waited(was, wait_reason::limit)), elapsed);
  auto share = [&](wait_reason r) { return ratio(seconds_of(waited(now, r) - waited(was, r)), elapsed); };
  const double input = share(wait_reason::input), room = share(wait_reason::room);
  // While a call is in flight the reader waits for the call. It waits for the input if a burst of that has ended, although the
  // task ahead could have taken more of the burst.
  to.starved =
      std::max(std::min(room, input + share(wait_reason::calls)), std::min(room + std::max(0.0, to.limited), input));
  to.awaits = in_flight * 2 > in_tasks;
  to.bytes = ratio(static_cast<double>(now.bytes), static_cast<double>(now.elements));
  to.reads = ratio(static_cast<double>(now.reads - was.reads), made);
  to.reading = ratio(seconds_of(now.reads_took - was.reads_took), elapsed);
  to.read_wait = ratio(to.outside * made, elapsed);
  to.read = ratio(seconds_of(now.reads_took - was.reads_took), static_cast<double>(now.reads - was.reads));
}

void set_channel(const site_report& s, stage_figures& to) {
  std::uint64_t blocks = 0, bytes = 0;
  bool any_heavy = false;
  for (const channel_report& c : s.channels) {
    blocks += c.blocks;
    bytes += c.bytes;
    any_heavy |= !c.is_light;
  }
  to.is_light = !s.channels.empty() && !any_heavy;
  to.works_ahead = any_heavy || to.calls > 0 || s.in_tasks > duration(0);
  to.block_elements = blocks ? std::max(1.0, static_cast<double>(ahead(s)) / static_cast<double>(blocks)) : 1;
  if (to.bytes <= 0 && blocks) to.bytes = static_cast<double>(bytes) / std::max(1.0, static_cast<double>(ahead(s)));
}

/// Elements that wait in a channel have not been visited by the elements of the run yet.
double edge_ratio(const site_report& from, const site_report& to) {
  if (to.elements == 0) return 1;
  const auto delivered = static_cast<double>(from.elements);
  const double waiting = to.inputs.size() == 1 ? static_cast<double>(ahead(to)) : 0;
  return std::max(0.0, delivered - waiting) / static_cast<double>(to.elements);
}

/// Returns true if the task that begins at stage i reads from no channel.
bool is_fed_by_source(const figures& f, std::size_t i) {
  if (f.stages[i].works_ahead) return false;
  return std::all_of(f.stages[i].inputs.begin(), f.stages[i].inputs.end(),
                     [&f](std::size_t in) { return is_fed_by_source(f, in); });
}

/// The own times of stages are sampled, and early none may be known: the time of the task ahead, if it waits for no other
/// one, is what is left of the time in which it does not wait for room.
void set_pulls(const observation& before, const observation& after, figures& f) {
  static const site_report none;
  for (std::size_t i = 0; i != f.stages.size(); ++i) {
    stage_figures& s = f.stages[i];
    if (!s.works_ahead || s.opens_plans || s.inputs.size() != 1 || !is_fed_by_source(f, s.inputs[0])) continue;
    const site_report& now = after.sites[i];
    const site_report& in = after.sites[s.inputs[0]];
    const double pulled = static_cast<double>(in.elements - earlier(before, in, s.inputs[0], none).elements);
    const double room = seconds_of(now.room_waited - earlier(before, now, i, none).room_waited);
    s.pull = std::max(0.0, ratio(f.seconds - room, pulled));
  }
}

void set_edges(const std::vector<site_report>& sites, figures& f) {
  const std::vector<std::vector<std::size_t>> edges = site_edges(sites);
  for (std::size_t i = 0; i != sites.size(); ++i) {
    for (std::size_t k : edges[i]) {
      if (k < i) continue;
      f.stages[i].inputs.push_back(k);
      f.stages[k].visits = f.stages[i].visits * edge_ratio(sites[k], sites[i]);
    }
    f.stages[i].opens_plans = f.stages[i].calls <= 0 && f.stages[i].inputs.size() > 1;
  }
}

/// Returns true if the consumer's requests were timed by samples. Then a short time contains too few of them to say how long
/// the consumer has waited. Only fast requests are sampled, so the consumer's time is the whole time. If most were timed, their
/// own time is better: it ends with a request, and contains no part of a wait that has not ended.
bool is_sampled(double timed, double requests) { return 2 * timed < requests - 2; }

void set_consumer(const observation& before, const observation& after, double requests, figures& f) {
  const double timed = static_cast<double>(after.consumer.requests - before.consumer.requests);
  const duration timed_seconds = after.consumer.elapsed - before.consumer.elapsed;
  const double elapsed = is_sampled(timed, requests) ? f.seconds : seconds_of(timed_seconds);
  const double waits = seconds_of(after.consumer.waited - before.consumer.waited);
  f.consumer = std::max(0.0, ratio(elapsed - waits, f.elements));
  f.consumer_samples = timed;
  f.wait_share = ratio(waits, elapsed);
  const bool new_stalls = after.consumer.stalls > before.consumer.stalls;
  if (new_stalls && after.consumer.stall_every >= 2) f.stall = seconds_of(after.consumer.stall_took);
  f.cpu = ratio(seconds_of(after.computed - before.computed), f.elements);
}

}  // namespace

figures figures_between(const observation& before, const observation& after) {
  static const site_report none;
  figures f;
  f.seconds = seconds_of(after.at - before.at);
  for (std::size_t i = 0; i != after.sites.size(); ++i) {
    const site_report& now = after.sites[i];
    const site_report& was = earlier(before, now, i, none);
    stage_figures& s = f.stages.emplace_back();
    s.path = now.path;
    s.name = now.number ? absl::StrCat(now.name, " #", now.number) : now.name;
    set_times(was, now, f.seconds, s);
    set_channel(now, s);
  }
  set_edges(after.sites, f);
  set_pulls(before, after, f);
  if (f.stages.empty()) return f;
  const site_report& root = after.sites.front();
  const site_report& root_before = earlier(before, root, 0, none);
  f.elements = static_cast<double>(root.elements - root_before.elements);
  set_consumer(before, after, static_cast<double>(root.blocks - root_before.blocks), f);
  return f;
}

}  // namespace sluice::lib
