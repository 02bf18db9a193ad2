// SPDX-License-Identifier: Apache-2.0
#include "bench/harness.hpp"

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/references.hpp"

namespace sluice::lib::bench {
namespace {

struct named_bench {
  std::string_view name;
  bench_function run;
};
std::vector<named_bench>& benches() {
  static std::vector<named_bench> all;
  return all;
}

task<pass> draining(any_stream s, std::uint32_t block, timed by) {
  pass p;
  stopwatch watch(by);
  while (auto b = co_await s.next_block({.elements = block})) {
    std::int64_t sum = 0;
    const std::int64_t* x = b.as<std::int64_t>();
    for (std::uint32_t i = 0; i != b.size(); ++i) sum += x[i];
    p.answer += static_cast<std::uint64_t>(sum);
  }
  p.ns = watch.ns();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return p;
}

task<pass> calling(const std::function<std::uint64_t()>& f) {
  pass p;
  stopwatch watch(timed::cpu);
  p.answer = f();
  p.ns = watch.ns();
  co_return p;
}

int usage() {
  std::fputs("usage: sluice_bench [FILTER] [--json FILE] [--list]\n", stderr);
  return 2;
}

int run(std::string_view filter, std::string json) {
  report r(std::move(json));
  machine_costs costs = measure_machine();
  std::printf("compiler %s; here an addition takes %.2f ns, an indirect jump between two targets %.1f ns\n",
              __VERSION__, costs.addition, costs.indirect_jump);
  std::printf("%-48s %-34s %9s %9s  %s\n", "name", "reference", "figure", "goal", "ok");
  std::sort(benches().begin(), benches().end(), [](auto& a, auto& b) { return a.name < b.name; });
  for (auto& b : benches()) {
    if (b.name.find(filter) == std::string_view::npos) continue;
    try {
      b.run(r);
    } catch (const std::exception& e) { r.failed(b.name, e.what()); }
  }
  return r.finish() ? 0 : 1;
}

}  // namespace

double stopwatch::now() const {
  timespec t;
  clock_gettime(by_ == timed::cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

samples::samples(std::vector<double> values) : values_(std::move(values)) { std::sort(values_.begin(), values_.end()); }

double samples::quantile(double q) const {
  double at = q * static_cast<double>(values_.size() - 1);
  auto below = static_cast<std::size_t>(at);
  auto above = std::min(below + 1, values_.size() - 1);
  return values_[below] + (at - static_cast<double>(below)) * (values_[above] - values_[below]);
}

samples measure(const workload& w, int passes) {
  w();
  std::vector<double> ns;
  for (int i = 0; i < passes; ++i) ns.push_back(w().per_element());
  return samples(std::move(ns));
}

comparison compare(const workload& ours, const workload& theirs, int pairs) {
  std::uint64_t a = ours().answer, b = theirs().answer;
  if (a != b)
    throw std::runtime_error("the answers differ: ours " + std::to_string(a) + ", theirs " + std::to_string(b));
  comparison c;
  for (int i = 0; i < pairs; ++i) {
    c.ours.push_back(ours().per_element());
    c.theirs.push_back(theirs().per_element());
  }
  return c;
}

samples comparison::ratio() const {
  std::vector<double> v;
  for (std::size_t i = 0; i != ours.size(); ++i) v.push_back(ours[i] / theirs[i]);
  return samples(std::move(v));
}

samples comparison::speedup() const {
  std::vector<double> v;
  for (std::size_t i = 0; i != ours.size(); ++i) v.push_back(theirs[i] / ours[i]);
  return samples(std::move(v));
}

void report::row(std::string_view name, std::string_view reference, const samples& s, double goal, bool at_most,
                 std::string_view unit) {
  bool ok = at_most ? s.median() <= goal : s.median() >= goal;
  ok_ = ok_ && ok;
  std::printf("%-48.*s %-34.*s %9.3f %s%7.2f  %-6s %.*s, quartiles %.3f to %.3f, least %.3f\n",
              static_cast<int>(name.size()), name.data(), static_cast<int>(reference.size()), reference.data(),
              s.median(), at_most ? "<=" : ">=", goal, ok ? "ok" : "MISSED", static_cast<int>(unit.size()), unit.data(),
              s.quantile(0.25), s.quantile(0.75), s.least());
  std::fflush(stdout);
  nlohmann::ordered_json j = {{"name", name},
                              {"reference", reference},
                              {"figure", s.median()},
                              {"goal", goal},
                              {"ok", ok},
                              {"better", at_most ? "less" : "more"},
                              {"unit", unit},
                              {"quartiles", {s.quantile(0.25), s.quantile(0.75)}},
                              {"least", s.least()}};
  rows_.push_back(j.dump());
}

void report::at_most(std::string_view name, std::string_view reference, const samples& figure, double goal,
                     std::string_view unit) {
  row(name, reference, figure, goal, true, unit);
}
void report::at_least(std::string_view name, std::string_view reference, const samples& figure, double goal,
                      std::string_view unit) {
  row(name, reference, figure, goal, false, unit);
}

void report::foreign(std::string row, bool ok) {
  ok_ = ok_ && ok;
  rows_.push_back(std::move(row));
}

void report::skipped(std::string_view name, std::string_view why) {
  std::printf("%-48s skipped: %s\n", std::string(name).c_str(), std::string(why).c_str());
}

void report::failed(std::string_view name, std::string_view why) {
  ok_ = false;
  std::printf("%-48s FAILED: %s\n", std::string(name).c_str(), std::string(why).c_str());
  nlohmann::ordered_json j = {{"name", name},    {"reference", ""}, {"figure", nullptr},
                              {"goal", nullptr}, {"ok", false},     {"note", why}};
  rows_.push_back(j.dump());
}

bool report::finish() const {
  if (json_.empty()) return ok_;
  std::ofstream out(json_);
  out << "[\n";
  for (std::size_t i = 0; i != rows_.size(); ++i) out << rows_[i] << (i + 1 == rows_.size() ? "\n" : ",\n");
  out << "]\n";
  return ok_ && out.good();
}

registration::registration(std::string_view name, bench_function run) { benches().push_back({name, run}); }

runtime& one_worker() {
  static runtime rt({.workers = 1, .memory_budget_bytes = 512u << 20});
  return rt;
}

runtime& all_workers() {
  static runtime rt;
  return rt;
}

pass drain(const dataset<std::int64_t>& plan, std::uint32_t block, double elements, timed by, runtime& rt) {
  pass p = sync_wait(rt, draining(open_run(rt, plan.plan(), {}), block, by));
  p.elements = elements;
  return p;
}

pass on_worker(const std::function<std::uint64_t()>& f, double elements) {
  pass p = sync_wait(one_worker(), calling(f));
  p.elements = elements;
  return p;
}

}  // namespace sluice::lib::bench

int main(int argc, char** argv) {
  std::string_view filter, json;
  for (int i = 1; i < argc; ++i) {
    std::string_view a = argv[i];
    if (a == "--json" && i + 1 < argc) json = argv[++i];
    else if (a == "--list") {
      for (auto& b : sluice::lib::bench::benches()) std::printf("%s\n", std::string(b.name).c_str());
      return 0;
    } else if (a.starts_with("-") || !filter.empty()) return sluice::lib::bench::usage();
    else filter = a;
  }
  return sluice::lib::bench::run(filter, std::string(json));
}
