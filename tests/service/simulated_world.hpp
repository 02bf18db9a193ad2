// SPDX-License-Identifier: Apache-2.0
// The surroundings of simulated machines: one queue of events in virtual time, processes that pause and die, and a network.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/random_bits.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib::service_simulation {

/// Thrown by a check; the text names the invariant.
struct violated : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr duration kMs = std::chrono::milliseconds(1);
inline constexpr time_point kStart = time_point(std::chrono::hours(1000));

/// One start of a program. What is scheduled for it happens only while it lives, and not while it is paused.
struct process {
  bool is_dead = false, is_paused = false;
  std::string machine;
  std::vector<std::function<void()>> held;  ///< while it is paused
};
using process_ptr = std::shared_ptr<process>;

class world {
 public:
  explicit world(std::uint64_t seed) : random(seed) {}
  ~world() {
    for (const process_ptr& p : processes_) p->held.clear();  // which refer to the process
  }
  world(const world&) = delete;

  process_ptr make_process(std::string machine) {
    processes_.push_back(std::make_shared<process>());
    processes_.back()->machine = std::move(machine);
    return processes_.back();
  }

  random_source random;
  time_point now = kStart;
  std::uint64_t events = 0, hash = 0;
  bool has_faults = true;
  double drop = 0, twice = 0;
  duration delay{};

  bool chance(double p) { return random.uniform() < p; }
  duration upto(duration most) {
    return most.count() <= 0
               ? duration(0)
               : duration(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most.count()) + 1)));
  }

  void at(time_point when, std::function<void()> f) { queue_.push({when, ++scheduled_, std::move(f)}); }
  void after(duration d, std::function<void()> f) { at(now + d, std::move(f)); }
  /// For a process.
  void after(duration d, const process_ptr& p, std::function<void()> f) {
    at(now + d, [this, p, f = std::move(f)]() mutable { run(p, std::move(f)); });
  }
  void run(const process_ptr& p, std::function<void()> f) {
    if (p->is_dead) return;
    if (p->is_paused) p->held.push_back(std::move(f));
    else f();
  }
  void resume(const process_ptr& p) {
    p->is_paused = false;
    for (auto& f : std::exchange(p->held, {})) run(p, std::move(f));
  }
  /// Runs the next event; false: nothing is left.
  bool step() {
    if (queue_.empty()) return false;
    entry e = std::move(const_cast<entry&>(queue_.top()));
    queue_.pop();
    now = std::max(now, e.when);
    hash = mix(hash ^ static_cast<std::uint64_t>(now.time_since_epoch().count()) ^ e.number);
    ++events;
    e.f();
    return true;
  }

  // --- the network: a machine of a name, and who is cut off
  std::set<std::string> no_in, no_out;
  bool is_cut(const std::string& from, const std::string& to) const {
    return no_out.contains(from) || no_in.contains(to);
  }
  duration transit() { return has_faults && chance(0.02) ? delay + upto(delay * 50) : upto(delay); }
  /// A message that may be lost, late, doubled, or overtake another one.
  void send(const std::string& from, const std::string& to, std::function<void()> deliver) {
    if (is_cut(from, to) || (has_faults && chance(drop))) return;
    if (has_faults && chance(twice)) after(transit(), deliver);
    after(transit(), std::move(deliver));
  }

 private:
  struct entry {
    time_point when;
    std::uint64_t number;
    std::function<void()> f;
    bool operator<(const entry& o) const { return std::tie(when, number) > std::tie(o.when, o.number); }
  };
  std::priority_queue<entry> queue_;
  std::vector<process_ptr> processes_;
  std::uint64_t scheduled_ = 0;
};

}  // namespace sluice::lib::service_simulation
