// SPDX-License-Identifier: Apache-2.0
// What a seed expands to, how it is printed, and how a failing scenario is made smaller.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "simulation.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib::service_simulation {
namespace {

constexpr const char* kKinds[] = {"kill",      "pause",      "partition",     "one_way", "one_way_back", "reset",
                                  "take_over", "clock_jump", "store_trouble", "drain",   "power_cut"};
constexpr duration kMillisecond = std::chrono::milliseconds(1);

}  // namespace

std::string to_string(fault_kind kind) { return kKinds[static_cast<int>(kind)]; }

scenario make_scenario(std::uint64_t seed) {
  random_source r(derive(seed, 0));
  const auto from_to = [&](std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint32_t>(least + r.below(most - least + 1));
  };
  const auto chance = [&](double p) { return r.uniform() < p; };
  scenario s;
  s.seed = seed;
  s.workers = from_to(1, 4);
  s.clients = from_to(1, 3);
  s.rounds = from_to(1, 3);
  s.splits = from_to(1, 8);
  s.elements_max = from_to(0, 12);
  s.is_named = s.clients > 1 ? chance(0.9) : chance(0.5);
  s.cycle = from_to(1, 4);
  s.drop = chance(0.5) ? 0.1 * r.uniform() : 0;
  s.twice = chance(0.5) ? 0.1 * r.uniform() : 0;
  s.delay = kMillisecond * from_to(1, chance(0.2) ? 300 : 20);
  if (chance(0.1))
    s.visitation = chance(0.5) ? reader_options::visits::at_most_once : reader_options::visits::at_least_once;
  if (chance(0.1)) s.mode = sharding::off;
  if (chance(0.1)) {
    s.mode = sharding::data;
    for (std::uint32_t i = 0; i < s.workers; ++i)
      s.dispatcher.fixed_workers.push_back(absl::StrCat("host", i, chance(0.5) ? ":1" : ":%port%"));
  }
  if (s.is_named && chance(0.15)) s.silence_max_ms = from_to(1000, 5000);
  if (s.is_named && s.clients > 1 && chance(0.2)) s.leaving = 1;
  // Extreme settings.
  s.dispatcher.remove_finished.reset();
  s.dispatcher.limits.chunk_done = 8;
  s.dispatcher.limits.chunk_assignments = chance(0.5) ? 1 : from_to(1, 8);
  if (chance(0.3)) s.dispatcher.limits.chunk_bytes = 1;
  if (chance(0.3)) s.dispatcher.commit_bytes = from_to(1, 40);
  if (chance(0.2)) s.dispatcher.worker_lease = 10 * kMillisecond;
  if (chance(0.2)) s.dispatcher.hold_max = kMillisecond * from_to(1, 100);
  // A worker that counts as alive for 10 ms of 500 is found only by a call that waits for it.
  if (s.dispatcher.worker_lease == 10 * kMillisecond)
    s.dispatcher.hold_max = std::max<duration>(s.dispatcher.hold_max, 500 * kMillisecond);
  if (chance(0.2)) s.dispatcher.store_retry = kMillisecond;
  if (chance(0.2)) s.dispatcher.splits_low = from_to(0, 20);
  if (chance(0.2)) s.queued_max = 1;
  const std::uint32_t faults = from_to(0, 12);
  for (std::uint32_t i = 0; i < faults; ++i) {
    fault f;
    f.at = kMillisecond * from_to(500, 15000);
    f.kind = static_cast<fault_kind>(r.below(kFaultKinds));
    f.lasts = kMillisecond * (chance(0.7) ? from_to(1, 1500) : from_to(1500, 8000));
    const double where = r.uniform();
    f.machine = where < 0.4   ? "d"
                : where < 0.7 ? absl::StrCat("w", r.below(s.workers))
                              : absl::StrCat("c", r.below(s.clients));
    if (f.kind == fault_kind::take_over || f.kind == fault_kind::store_trouble) f.machine = "d";
    s.faults.push_back(f);
  }
  s.store_delay = kMillisecond * (chance(0.2) ? from_to(50, 500) : 4);
  if (chance(0.3)) {
    const std::string machine = absl::StrCat("w", r.below(s.workers));
    s.faults.push_back(
        {kMillisecond * from_to(500, 15000), fault_kind::drain, machine, kMillisecond * from_to(1, 3000)});
  }
  std::sort(s.faults.begin(), s.faults.end(), [](const fault& a, const fault& b) { return a.at < b.at; });
  return s;
}

std::string to_string(const scenario& s) {
  std::string all = absl::StrCat(
      "seed ", s.seed, ": ", s.workers, " workers, ", s.clients, s.is_named ? " clients of a job, " : " clients, ",
      s.rounds, " rounds of ", s.splits, " splits of up to ", s.elements_max, " elements, mode ",
      std::string(lib::to_string(s.mode)), ", visitation ", static_cast<int>(s.visitation), ", cycle ", s.cycle,
      ", drop ", s.drop, ", twice ", s.twice, ", delay ", s.delay / kMillisecond, " ms, queued_max ", s.queued_max,
      ", silence_max ", s.silence_max_ms, " ms, leaving ", s.leaving, ", chunk_assignments ",
      s.dispatcher.limits.chunk_assignments, ", chunk_bytes ", s.dispatcher.limits.chunk_bytes, ", commit_bytes ",
      s.dispatcher.commit_bytes, ", lease ", s.dispatcher.worker_lease / kMillisecond, " ms, hold ",
      s.dispatcher.hold_max / kMillisecond, " ms, splits_low ", s.dispatcher.splits_low, ", store delay ",
      s.store_delay / kMillisecond, " ms", "\n");
  for (const fault& f : s.faults)
    absl::StrAppend(&all, "  at ", f.at / kMillisecond, " ms ", to_string(f.kind), " ", f.machine, " for ",
                    f.lasts / kMillisecond, " ms\n");
  return all;
}

scenario shrink(scenario s) {
  const auto fails = [](const scenario& x) { return !simulate(x).violation.empty(); };
  const auto accept = [&](scenario x) {
    if (!fails(x)) return false;
    s = std::move(x);
    return true;
  };
  for (bool is_smaller = true; is_smaller;) {
    is_smaller = false;
    for (std::size_t i = s.faults.size(); i-- > 0;) {
      scenario x = s;
      x.faults.erase(x.faults.begin() + static_cast<std::ptrdiff_t>(i));
      is_smaller |= accept(std::move(x));
    }
    for (std::uint32_t scenario::* size : {&scenario::clients, &scenario::workers, &scenario::rounds, &scenario::splits,
                                           &scenario::cycle, &scenario::leaving}) {
      scenario x = s;
      if (x.*size < (size == &scenario::leaving ? 1u : 2u) || (size == &scenario::workers && is_static(s.mode)))
        continue;
      --(x.*size);
      is_smaller |= accept(std::move(x));
    }
    for (double scenario::* chance : {&scenario::drop, &scenario::twice}) {
      scenario x = s;
      if (x.*chance == 0) continue;
      x.*chance = 0;
      is_smaller |= accept(std::move(x));
    }
  }
  return s;
}

}  // namespace sluice::lib::service_simulation
