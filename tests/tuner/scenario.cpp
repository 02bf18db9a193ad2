// SPDX-License-Identifier: Apache-2.0
#include "tuner/scenario.hpp"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/tree_of.hpp"
#include "tuner/tuning_task.hpp"

namespace sluice::lib::test {
namespace {

using int64 = std::int64_t;

duration read_time(const std::string& text) {
  char* end = nullptr;
  const double n = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double ns = unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 0;
  if (ns == 0) throw std::invalid_argument("no time: " + text);
  return duration(static_cast<duration::rep>(n * ns));
}

scenario::stage read_stage(const std::vector<std::string>& words) {
  scenario::stage s;
  s.name = words.at(1);
  for (std::size_t i = 2; i != words.size(); ++i) {
    const std::vector<std::string> parts = absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    const std::string &name = parts.at(0), &value = parts.at(1);
    if (name == "jitter") s.jitter = std::stod(value);
    else if (name == "slow") s.slow = std::stod(value);
    else if (name == "every") s.every = std::stoll(value);
    else if (name == "slots") s.slots = std::stoll(value);
    else {
      s.of = name == "wait" ? scenario::kind::wait : name == "call" ? scenario::kind::call : scenario::kind::work;
      if (s.of == scenario::kind::work && name != "work") throw std::invalid_argument("unknown word: " + words[i]);
      s.time = read_time(value);
    }
  }
  return s;
}

/// The state of a run, which the stages' functions use: of simulated cores, or of this machine.
struct world_of {
  world_of(const scenario& s, unsigned cores, bool is_real) : of(s), began(std::chrono::steady_clock::now()) {
    if (!is_real) simulated.emplace(11, simulation_options{.cores = cores});
  }
  duration elapsed() const { return simulated ? simulated->elapsed() : std::chrono::steady_clock::now() - began; }
  void spend(duration work) {
    if (simulated) return simulated->spend(work);
    const duration end = elapsed() + work;
    while (elapsed() < end) {}
  }
  double factor(const std::string& name) const {
    double f = 1;
    for (const scenario::change& c : of.changes)
      if (c.name == name && elapsed() >= c.at) f *= c.factor;
    return f;
  }
  duration time_of(const scenario::stage& s, int64 element, int64 running) const {
    double t = static_cast<double>(s.time.count()) * factor(s.name);
    // A number between -1 and 1 that depends on the element only, so that all settings meet the same times.
    const double drawn = static_cast<double>((element * 2654435761) % 1000) / 500 - 1;
    t *= 1 + s.jitter * drawn;
    if (s.every && element % s.every == s.every - 1) t *= s.slow;
    if (s.slots) t *= std::max(1.0, static_cast<double>(running) / static_cast<double>(s.slots));
    return duration(static_cast<duration::rep>(t));
  }
  void call_begins() {
    const int64 now = ++in_flight;
    int64 most = in_flight_most.load();
    while (most < now && !in_flight_most.compare_exchange_weak(most, now)) {}
  }
  const scenario& of;
  const std::chrono::steady_clock::time_point began;
  std::optional<simulation> simulated;
  std::atomic<int64> in_flight{0}, in_flight_most{0};
  std::vector<double> at;
};

struct awaited {
  world_of* w;
  const scenario::stage* s;
  std::shared_ptr<std::atomic<int64>> running;
  task<int64> operator()(int64 x) const { return made(w, s, running, x); }
  static task<int64> made(world_of* w, const scenario::stage* s, std::shared_ptr<std::atomic<int64>> running, int64 x) {
    const int64 now = ++*running;
    w->call_begins();
    co_await sleep_for(w->time_of(*s, x, now));
    --w->in_flight;
    --*running;
    co_return x;
  }
};
struct computed {
  world_of* w;
  const scenario::stage* s;
  int64 operator()(int64 x) const {
    w->spend(w->time_of(*s, x, 1));
    return x;
  }
};

/// `values`: of the stages with a knob; empty: autotune.
dataset<int64> pipeline_of(world_of& w, const std::vector<int64>& values) {
  dataset<int64> ds = range(w.of.elements);
  std::size_t next = 0;
  for (const scenario::stage& s : w.of.stages) {
    const awaited call{&w, &s, std::make_shared<std::atomic<int64>>(0)};
    if (s.of == scenario::kind::wait) {
      ds = ds | map(call);
      continue;
    }
    const knob parallelism = values.empty() ? autotune : knob(values.at(next++));
    if (s.of == scenario::kind::call) ds = ds | map(call, {.parallelism = parallelism});
    else ds = ds | map(computed{&w, &s}, {.parallelism = parallelism});
  }
  return ds;
}

task<void> consume(world_of& w, any_stream& s) {
  for (;;) {
    auto x = co_await s.next_block({.elements = 1});
    if (!x) break;
    w.at.push_back(std::chrono::duration<double>(w.elapsed()).count());
    const double step = static_cast<double>(w.of.consumer.count()) * w.factor("consumer");
    if (step > 0) co_await sleep_for(duration(static_cast<duration::rep>(step)));
  }
}

/// The rate between two positions, each moved to the first of the elements that came with it at the same moment.
double rate_between(const std::vector<double>& at, std::size_t from, std::size_t to) {
  auto first_of_moment = [&at](std::size_t i) {
    while (i > 0 && at[i - 1] >= at[i]) --i;
    return i;
  };
  from = first_of_moment(from);
  to = first_of_moment(to);
  return to > from ? static_cast<double>(to - from) / (at[to] - at[from]) : 0;
}

/// Without the last elements: once the source has ended, the stages upstream leave the cores to those downstream.
double rate_at_the_end(const world_of& w, int64 sum_of_values) {
  const std::size_t all = w.at.size() - 1;
  const std::size_t from = all * (w.of.changes.empty() ? 50 : 80) / 100;
  const std::size_t ahead = std::max(all * 3 / 100, static_cast<std::size_t>(sum_of_values));
  return rate_between(w.at, from, std::max(from + all / 10, all - std::min(all, ahead)));
}

void add_rates(const world_of& w, scenario_outcome& o) {
  o.elements = static_cast<int64>(w.at.size());
  o.rate = rate_at_the_end(w, o.sum);
  o.whole_rate = rate_between(w.at, 0, w.at.size() - 1);
  o.in_flight = w.in_flight_most;
  const std::size_t window = std::max<std::size_t>(8, static_cast<std::size_t>(o.rate));
  for (std::size_t i = 0; i + window < w.at.size(); ++i) {
    if (static_cast<double>(window) / std::max(1e-9, w.at[i + window] - w.at[i]) < 0.95 * o.rate) continue;
    o.seconds_to_95 = w.at[i] - w.at.front();
    break;
  }
}

void add_values(const std::vector<site_report>& sites, scenario_outcome& o) {
  for (auto s = sites.rbegin(); s != sites.rend(); ++s)
    for (const knob_report& k : s->knobs) o.values.push_back(k.value);
  for (int64 v : o.values) o.sum += v;
}

/// The sites are the stages, the last one first, and the source.
void add_gains(const scenario& of, const run_report& r, scenario_outcome& o) {
  if (r.sites.size() != of.stages.size() + 1) throw std::logic_error(of.name + ": not one site for each stage");
  for (const what_if& w : r.tuning.what_ifs) {
    std::size_t stage = w.path ? scenario_outcome::kSource : scenario_outcome::kCore;
    for (std::size_t i = 0; i != of.stages.size(); ++i)
      if (r.sites[of.stages.size() - 1 - i].path == w.path) stage = i;
    o.gains.push_back({w.change, stage, w.gain});
  }
}

struct run_kind {
  bool is_tuned = false, is_real = false;
  const policy_maker* policy = nullptr;
};

scenario_outcome run_in(runtime& rt, world_of& w, unsigned cores, const std::vector<int64>& values, run_kind kind) {
  const scenario& s = w.of;
  any_stream stream = open_run(rt, pipeline_of(w, values).plan(), {.seed = 1, .tune = kind.is_tuned});
  std::shared_ptr<tuning> other;
  if (kind.policy) {
    erased_stream& root = detail::engine_access::of(stream);
    auto spent = [world = &*w.simulated] { return world->spent(); };
    other = start_tuning(root.stage()->env->run->shared_from_this(), root.shared_run(), (*kind.policy)(cores), spent,
                         std::chrono::milliseconds(5));
  }
  sync_wait(rt, consume(w, stream));
  scenario_outcome o;
  const run_report r = stream.report();
  add_values(r.sites, o);
  add_rates(w, o);
  add_gains(s, r, o);
  o.steps = other ? other->report().steps : r.tuning.steps;
  for (const auto& k : r.tuning.knobs) o.reasons.push_back(k.stage + ": " + k.reason);
  sync_wait(rt, cleanup(std::move(stream)));
  return o;
}

scenario_outcome run_scenario(const scenario& s, unsigned cores, const std::vector<int64>& values, run_kind kind) {
  world_of w(s, cores, kind.is_real);
  if (w.simulated) {
    runtime rt(*w.simulated);
    return run_in(rt, w, cores, values, kind);
  }
  runtime rt({.workers = cores});
  return run_in(rt, w, cores, values, kind);
}

}  // namespace

scenario scenario::at_the_end() const {
  scenario s = *this;
  for (const change& c : s.changes) {
    auto scaled = [&c](duration t) {
      return duration(static_cast<duration::rep>(static_cast<double>(t.count()) * c.factor));
    };
    if (c.name == "consumer") s.consumer = scaled(s.consumer);
    for (stage& t : s.stages)
      if (t.name == c.name) t.time = scaled(t.time);
  }
  s.changes.clear();
  return s;
}

std::size_t scenario::knobs() const {
  return static_cast<std::size_t>(
      std::count_if(stages.begin(), stages.end(), [](auto& s) { return s.of != kind::wait; }));
}

scenario read_scenario(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("no file: " + path);
  scenario s;
  s.name = std::filesystem::path(path).stem();
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty() || words[0].starts_with("#")) continue;
    if (words[0] == "stage") s.stages.push_back(read_stage(words));
    else if (words[0] == "consumer") s.consumer = read_time(words.at(1));
    else if (words[0] == "reaches") s.reaches = std::stod(words.at(1));
    else if (words[0] == "keeps") s.keeps = std::stod(words.at(1));
    else if (words[0] == "memory") s.memory = std::stod(words.at(1));
    else if (words[0] == "elements") s.elements = std::stoll(words.at(1));
    else if (words[0] == "at") s.changes.push_back({read_time(words.at(1)), words.at(2), std::stod(words.at(3))});
    else throw std::invalid_argument(path + ": unknown line: " + line);
  }
  return s;
}

std::vector<scenario> all_scenarios() {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator("bench/tuner"))
    if (file.path().extension() == ".scenario") paths.push_back(file.path());
  std::sort(paths.begin(), paths.end());
  const char* only = std::getenv("SLUICE_TEST_SCENARIO");
  std::vector<scenario> all;
  for (const std::string& path : paths)
    if (!only || std::filesystem::path(path).stem() == only) all.push_back(read_scenario(path));
  return all;
}

scenario_outcome run_tuned(const scenario& s, unsigned cores) { return run_scenario(s, cores, {}, {.is_tuned = true}); }
scenario_outcome run_with(const scenario& s, unsigned cores, const policy_maker& policy) {
  return run_scenario(s, cores, {}, {.policy = &policy});
}
scenario_outcome run_really(const scenario& s, unsigned workers, const std::vector<std::int64_t>& values) {
  return run_scenario(s, workers, values, {.is_tuned = values.empty(), .is_real = true});
}
scenario_outcome run_fixed(const scenario& s, unsigned cores, const std::vector<int64>& values) {
  return run_scenario(s, cores, values, {});
}

scenario_outcome best_of_grid(const scenario& s, unsigned cores) {
  const std::vector<int64> fine = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64}, coarse = {2, 6, 12, 24};
  const std::vector<int64>& grid = s.knobs() > 1 ? coarse : fine;
  scenario shorter = s;
  shorter.elements = std::min<int64>(s.elements, s.knobs() > 2 ? 800 : 2000);
  std::vector<std::size_t> place(s.knobs(), 0);
  std::vector<scenario_outcome> all;
  for (bool over = false; !over;) {
    std::vector<int64> values;
    for (std::size_t p : place) values.push_back(grid[p]);
    all.push_back(run_fixed(shorter, cores, values));
    over = true;
    for (std::size_t& p : place) {
      if (++p != grid.size()) {
        over = false;
        break;
      }
      p = 0;
    }
  }
  auto rate = [](const scenario_outcome& a, const scenario_outcome& b) { return a.rate < b.rate; };
  const double most = std::max_element(all.begin(), all.end(), rate)->rate;
  std::erase_if(all, [most](const scenario_outcome& o) { return o.rate < 0.98 * most; });
  auto sum = [](const scenario_outcome& a, const scenario_outcome& b) { return a.sum < b.sum; };
  scenario_outcome best = *std::min_element(all.begin(), all.end(), sum);
  best.rate = most;
  return best;
}

}  // namespace sluice::lib::test
