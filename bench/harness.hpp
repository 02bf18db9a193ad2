// SPDX-License-Identifier: Apache-2.0
// The benches' common ground: answers first, then pairs of passes, then rows.
//
//   void chain(report& r) {
//     workload ours = …, theirs = …;                       // each gives its answer and its time
//     comparison c = compare(ours, theirs);                // refuses to time two that disagree
//     r.at_most("chain", "hand-written loop", c.ratio(), 1.3, "x");
//   }
//   SLUICE_BENCH(chain)
//
// Ours and theirs alternate, so that a noisy neighbour meets both; a figure is the median, with the quartiles and the
// best beside it. Passes on one thread are timed by that thread's CPU clock, which equals wall time on an idle machine
// and survives a busy one; passes on several threads by wall time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib::bench {

/// One pass of a workload: what it computed, over how many elements, and how long it took.
struct pass {
  std::uint64_t answer = 0;
  double elements = 1;
  double ns = 0;
  double per_element() const { return ns / elements; }
};
using workload = std::function<pass()>;

enum class timed : std::uint8_t { cpu, wall };

/// Thread: for timed::cpu, the thread that made it.
class stopwatch {
 public:
  explicit stopwatch(timed by) : by_(by), began_(now()) {}
  double ns() const { return now() - began_; }

 private:
  double now() const;
  timed by_;
  double began_;
};

/// Sorted figures.
class samples {
 public:
  explicit samples(std::vector<double> values);
  double median() const { return quantile(0.5); }
  double quantile(double q) const;
  double least() const { return values_.front(); }

 private:
  std::vector<double> values_;
};

inline constexpr int kPairs = 9;

/// Passes of one workload, after one that warms up: nanoseconds per element.
samples measure(const workload& w, int passes = kPairs);

struct comparison {
  std::vector<double> ours, theirs;  ///< nanoseconds per element, pair by pair
  /// How many times theirs ours takes.
  samples ratio() const;
  samples speedup() const;
  samples own() const { return samples(ours); }
};
/// Errors: throws where the answers differ.
comparison compare(const workload& ours, const workload& theirs, int pairs = kPairs);

class report {
 public:
  explicit report(std::string json) : json_(std::move(json)) {}
  void at_most(std::string_view name, std::string_view reference, const samples& figure, double goal,
               std::string_view unit);
  void at_least(std::string_view name, std::string_view reference, const samples& figure, double goal,
                std::string_view unit);
  /// A row that another program measured: as JSON.
  void foreign(std::string row, bool ok);
  void skipped(std::string_view name, std::string_view why);
  void failed(std::string_view name, std::string_view why);
  /// Writes the JSON file; true where every goal was met.
  bool finish() const;

 private:
  void row(std::string_view name, std::string_view reference, const samples& figure, double goal, bool at_most,
           std::string_view unit);
  std::string json_;
  std::vector<std::string> rows_;
  bool ok_ = true;
};

using bench_function = void (*)(report&);
struct registration {
  registration(std::string_view name, bench_function run);
};

/// Ours and theirs run where pipelines run: one worker, so that a pass without waits stays on one thread.
runtime& one_worker();
/// As many workers as there are cores.
runtime& all_workers();

/// Pulls a plan of int64 to its end in blocks; the answer is their sum. `elements` is what the figure is divided by.
pass drain(const dataset<std::int64_t>& plan, std::uint32_t block, double elements, timed by = timed::cpu,
           runtime& rt = one_worker());
/// Calls f on the worker. For references without coroutines.
pass on_worker(const std::function<std::uint64_t()>& f, double elements);

}  // namespace sluice::lib::bench

#define SLUICE_BENCH(NAME) static const ::sluice::lib::bench::registration NAME##_is_registered(#NAME, NAME)
