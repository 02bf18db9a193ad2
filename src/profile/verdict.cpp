// SPDX-License-Identifier: Apache-2.0
#include "sluice/profile/verdict.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "profile/flow.hpp"

namespace sluice::lib {
namespace {

constexpr double kModerately = 0.05, kHighly = 0.2;  // those of common profilers of input pipelines
/// A task with this utilization limits the run. The rest is the time in which the run starts and ends.
constexpr double kSaturated = 0.7;
constexpr double kAllBusy = 0.9;
/// CPU time beyond the workers and this number of other threads (the consumer's, those of blocking calls) is notable.
constexpr double kOtherThreads = 1.5;
constexpr double kRegular = 0.25;
/// A wait for memory of at least this share of the run's time limits it.
constexpr double kMemoryShareMin = 0.2;

std::string percent(double share) { return absl::StrFormat("%.*f %%", share < 0.0995 ? 1 : 0, 100 * share); }

std::string time_text(duration t) {
  static constexpr std::array<const char*, 4> kUnits = {"ns", "µs", "ms", "s"};
  double n = static_cast<double>(t.count());
  std::size_t unit = 0;
  while (n >= 999.5 && unit + 1 < kUnits.size()) n /= 1000, ++unit;
  return absl::StrFormat("%.3g %s", n, kUnits[unit]);
}

std::string numbered(const site_report& s) { return s.number ? absl::StrCat(s.name, " #", s.number) : s.name; }

double share_of(const site_report& s, wait_reason r, duration elapsed) {
  const duration took = s.waits_by_reason[static_cast<std::size_t>(r)].took;
  return static_cast<double>(took.count()) / static_cast<double>(std::max<duration::rep>(1, elapsed.count()));
}

std::int64_t value_of_knob(const site_report& s, std::string_view name) {
  for (const knob_report& k : s.knobs)
    if (k.name == name) return k.value;
  return 0;
}

std::string thread_text(const site_report& s, const consumer_report& c) {
  const duration took = s.waits_by_reason[static_cast<std::size_t>(wait_reason::call_pool)].took;
  const std::string whose =
      s.in_tasks > duration(0)
          ? absl::StrCat("its calls wait ",
                         percent(static_cast<double>(took.count()) / static_cast<double>(s.in_tasks.count())),
                         " of their time for a thread")
          : absl::StrCat("it waits ", percent(share_of(s, wait_reason::call_pool, c.elapsed)),
                         " of the time for a thread");
  return absl::StrCat(whose, ", because all threads for blocking calls are in use; raise blocking_threads_max");
}

/// How long the first byte takes; longer transfers have other remedies.
std::string first_byte_text(const site_report& s) {
  if (s.requests)
    return absl::StrCat(", ", time_text(s.answered_after / s.requests), " for the first byte of each of its ",
                        s.requests, " requests");
  if (!s.first_bytes) return {};
  return absl::StrCat(", ", time_text(s.first_byte_took / s.first_bytes), " for the first byte of a file");
}

/// The end of the verdict's line: what the cause does, and what helps.
std::string explanation(limit_cause cause, const site_report& s, const consumer_report& c, const machine_use& m) {
  const std::string each = s.each > duration(0) ? absl::StrCat(", ", time_text(s.each), " for an element") : "";
  switch (cause) {
    case limit_cause::stage:
      return absl::StrCat(
          "one task works all the time", each,
          s.inputs.empty() ? "; read several inputs at once" : "; run it in parallel, or make it faster");
    case limit_cause::parallel:
      return absl::StrCat("all ", value_of_knob(s, "parallelism"), " of its ",
                          s.in_flight > duration(0) ? "calls" : "tasks", " work all the time", each,
                          "; raise its parallelism");
    case limit_cause::disk:
      return absl::StrCat("it waits for the disk ", percent(share_of(s, wait_reason::disk, c.elapsed)), " of the time");
    case limit_cause::network:
      return absl::StrCat("it waits for the network ", percent(share_of(s, wait_reason::network, c.elapsed)),
                          " of the time", first_byte_text(s), "; read more files or ranges at once");
    case limit_cause::pace: return "the plan itself demands this pace";
    case limit_cause::channel:
      return absl::StrCat("its channel is too small: it is full ", percent(share_of(s, wait_reason::room, c.elapsed)),
                          " of the time and empty ", percent(share_of(s, wait_reason::input, c.elapsed)),
                          "; a larger prefetch evens this out");
    case limit_cause::memory:
      return absl::StrCat("it waits for memory ", percent(share_of(s, wait_reason::memory, c.elapsed)),
                          " of the time; raise the memory budget, or make elements smaller");
    case limit_cause::workers:
      return absl::StrCat("all ", m.workers, m.workers == 1 ? " worker is" : " workers are",
                          " busy, and it computes most", each);
    case limit_cause::call_pool: return thread_text(s, c);
    case limit_cause::none: break;
  }
  return {};
}

bool are_all_busy(const machine_use& m) {
  const double capacity = static_cast<double>(m.elapsed.count()) * m.workers;
  return m.workers > 1 && static_cast<double>(m.computed.count()) >= kAllBusy * capacity;
}

std::pair<limit_cause, const site_report*> find_cause(const stage_flow& flow, const machine_use& m) {
  const busiest_task& busiest = flow.busiest();
  if (are_all_busy(m)) return {limit_cause::workers, flow.most_computing()};
  if (busiest.utilization >= kSaturated) return {busiest.cause, busiest.stage};
  if (const site_report* s = flow.longest_wait(wait_reason::memory, kMemoryShareMin)) return {limit_cause::memory, s};
  if (const site_report* s = flow.small_channel()) return {limit_cause::channel, s};
  return {busiest.cause, busiest.stage};
}

void add_stalls(run_verdict& v, const consumer_report& c) {
  if (c.stall_every < 2) return;
  const auto total = static_cast<double>(c.stall_took.count()) * static_cast<double>(c.stalls);
  if (total < kModerately * static_cast<double>(c.elapsed.count())) return;
  v.notes.push_back(absl::StrCat("bursts: the consumer waits ", time_text(c.stall_took), " every ",
                                 c.is_regular ? "" : "about ", c.stall_every, " elements"));
}

void add_cpu(run_verdict& v, const machine_use& m) {
  const double cores =
      static_cast<double>(m.computed.count()) / static_cast<double>(std::max<duration::rep>(1, m.elapsed.count()));
  if (cores < m.workers + kOtherThreads || m.elapsed < std::chrono::milliseconds(100)) return;
  v.notes.push_back(
      absl::StrFormat("CPU use above the budget: the process used %.1f cores, and the run has %d workers: a function "
                      "has threads of its "
                      "own, or other work runs in the process",
                      cores, m.workers));
}

}  // namespace

std::string_view to_string(bound b) {
  switch (b) {
    case bound::unmeasured: return "unmeasured";
    case bound::consumer: return "consumer-bound";
    case bound::input_moderately: return "moderately input-bound";
    case bound::input_highly: return "highly input-bound";
  }
  return {};
}

std::string_view to_string(limit_cause c) {
  static constexpr std::string_view kNames[] = {"none", "stage",   "parallel", "disk",    "network",
                                                "pace", "channel", "memory",   "workers", "call_pool"};
  return kNames[static_cast<std::size_t>(c)];
}

consumer_report consumer_report_of(const consumer_meter& m) {
  auto read = [](const consumer_meter::number& n) { return n.load(std::memory_order_relaxed); };
  auto time = [&read](const consumer_meter::number& n) { return duration(static_cast<duration::rep>(read(n))); };
  consumer_report r{.requests = read(m.requests),
                    .waits = read(m.waits),
                    .waited = time(m.waited_ns),
                    .elapsed = time(m.elapsed_ns),
                    .stalls = read(m.stalls)};
  std::uint64_t below = 0;
  for (std::size_t i = 0; i != consumer_meter::kBuckets; ++i) {
    const std::uint64_t n = m.took_below(i);
    const duration most(duration::rep{1} << i);
    if (n && below * 2 < r.requests) r.median_wait = most;
    if (n && below * 100 < r.requests * 99) r.long_wait = most;
    below += n;
  }
  const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(r.stalls, consumer_meter::kStalls));
  const consumer_meter::stall_ring* newest = m.newest_stalls();
  if (kept < 3 || !newest) return r;
  std::vector<std::uint64_t> took, at, every;
  for (std::size_t i = 0; i != kept; ++i) {
    took.push_back(read(newest->ns[i]));
    at.push_back(read(newest->element[i]));
  }
  std::sort(at.begin(), at.end());
  for (std::size_t i = 1; i != kept; ++i) every.push_back(at[i] - at[i - 1]);
  std::sort(took.begin(), took.end());
  std::sort(every.begin(), every.end());
  r.stall_took = duration(static_cast<duration::rep>(took[kept / 2]));
  r.stall_every = std::max<std::uint64_t>(1, every[every.size() / 2]);
  const auto is_near = [&r](std::uint64_t n) {
    const auto usual = static_cast<double>(r.stall_every);
    return std::abs(static_cast<double>(n) - usual) <= kRegular * usual;
  };
  r.is_regular = 2 * static_cast<std::size_t>(std::count_if(every.begin(), every.end(), is_near)) > every.size();
  return r;
}

run_verdict judge(std::vector<site_report>& sites, const consumer_report& c, const machine_use& m) {
  run_verdict v;
  v.text = "nothing was measured: the run has no elements yet, or its statistics are off";
  if (c.elapsed <= duration(0) || sites.empty()) return v;
  stage_flow flow(sites, c.elapsed, m.workers);
  flow.set_shares();
  v.wait_share = static_cast<double>(c.waited.count()) / static_cast<double>(c.elapsed.count());
  v.kind = v.wait_share < kModerately ? bound::consumer
           : v.wait_share < kHighly   ? bound::input_moderately
                                      : bound::input_highly;
  v.text = absl::StrCat(std::string(to_string(v.kind)), ": the consumer waits ", percent(v.wait_share), " of the time");
  if (v.kind == bound::consumer) {
    absl::StrAppend(&v.text, ", half of its requests take at most ", time_text(c.median_wait),
                    "; nothing in the pipeline slows it down");
  } else if (auto [cause, s] = find_cause(flow, m); s) {
    v.cause = cause;
    v.path = s->path;
    v.stage = numbered(*s);
    absl::StrAppend(&v.text, "; the cause is ", v.stage, ": ", explanation(cause, *s, c, m));
  }
  const site_report* s = flow.most_computing();
  const bool computes_most = s && (s->busy - s->in_flight) * 2 >= m.elapsed * m.workers;
  if (computes_most && v.kind == bound::consumer && are_all_busy(m))
    v.notes.push_back(absl::StrCat("all ", m.workers,
                                   " workers are busy, so a consumer that runs on them waits for a core; ",
                                   numbered(*s), " computes most"));
  add_stalls(v, c);
  add_cpu(v, m);
  return v;
}

}  // namespace sluice::lib
