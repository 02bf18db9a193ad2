// SPDX-License-Identifier: Apache-2.0
#include "runtime/sites/moving_cost.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>

namespace sluice::lib {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t kLines =
    1024;  // 64 KiB: more than a first-level cache, so this measures the transfer between cores
constexpr std::size_t kOwners = 256;      // elements that own memory
constexpr std::size_t kOwnedBytes = 100;  // a short text
constexpr int kRounds = 12;
constexpr std::chrono::milliseconds kMeasuredFor{2};
constexpr double kByteNsMin = 0.02, kByteNsMax = 0.5;
constexpr double kOwnerNsMin = 5, kOwnerNsMax = 500;

double ns_since(steady::time_point began) {
  return std::chrono::duration<double, std::nano>(steady::now() - began).count();
}

struct alignas(64) line {
  std::uint64_t word;
};

/// Data that one thread writes and the other reads, alternately. The writer's turns have even numbers.
struct exchange {
  std::array<line, kLines> lines{};
  std::array<std::unique_ptr<char[]>, kOwners> owners{};
  std::array<double, kRounds> making{};  ///< ns that the writer needed for its owners
  std::atomic<int> turn{0};
  steady::time_point deadline = steady::now() + kMeasuredFor;

  bool wait_for(int mine) const {
    while (turn.load(std::memory_order_acquire) != mine)
      if (steady::now() > deadline) return false;
    return true;
  }
  void write(std::uint64_t value) {
    for (line& l : lines) l.word += value;
  }
  std::uint64_t read() const {
    std::uint64_t sum = 0;
    for (const line& l : lines) sum += l.word;
    return sum;
  }
  double make_owners() {
    const auto began = steady::now();
    for (auto& o : owners) {
      o.reset(new char[kOwnedBytes]);
      o[0] = 1;
    }
    return ns_since(began);
  }
  double free_owners() {
    const auto began = steady::now();
    for (auto& o : owners) o.reset();
    return ns_since(began);
  }
};

double median_of_first(std::array<double, kRounds> all, int n) {
  std::sort(all.begin(), all.begin() + n);
  return all[static_cast<std::size_t>(n) / 2];
}

std::optional<moving_cost> measure() {
  moving_cost cost;
  auto shared = std::make_unique<exchange>();
  std::array<double, kRounds> reading{}, owning{}, owning_here{};
  int done = 0;
  volatile std::uint64_t sink = 0;
  for (double& ns : owning_here) {
    ns = shared->make_owners();
    ns += shared->free_owners();
  }
  try {
    std::thread writer([&e = *shared] {
      for (int round = 0; round < kRounds && e.wait_for(2 * round); ++round) {
        e.write(static_cast<std::uint64_t>(round) + 1);
        e.making[static_cast<std::size_t>(round)] = e.make_owners();
        e.turn.store(2 * round + 1, std::memory_order_release);
      }
    });
    for (; done < kRounds && shared->wait_for(2 * done + 1); ++done) {
      const auto i = static_cast<std::size_t>(done);
      auto began = steady::now();
      sink = sink + shared->read();
      double moved = ns_since(began);
      began = steady::now();
      sink = sink + shared->read();
      reading[i] = moved - ns_since(began);
      owning[i] = shared->making[i] + shared->free_owners();
      shared->turn.store(2 * done + 2, std::memory_order_release);
    }
    writer.join();
  } catch (const std::system_error&) { return cost; }  // no second thread is available to share work with either
  if (done < kRounds / 2) return std::nullopt;         // the two threads did not run at the same time
  const double bytes = static_cast<double>(kLines * sizeof(line));
  cost.byte_ns = std::clamp(median_of_first(reading, done) / bytes / 2, kByteNsMin, kByteNsMax);
  const double owners_ns = median_of_first(owning, done) - median_of_first(owning_here, kRounds);
  cost.owner_ns = std::clamp(owners_ns / static_cast<double>(kOwners), kOwnerNsMin, kOwnerNsMax);
  return cost;
}

}  // namespace

void measured_moving_cost::attempt(time now) {
  const std::optional<moving_cost> cost = measure_();
  if (cost) {
    byte_ns_.store(cost->byte_ns, std::memory_order_relaxed);
    owner_ns_.store(cost->owner_ns, std::memory_order_relaxed);
  }
  due_.store(now + kPause * (1 << attempts_++), std::memory_order_relaxed);
  if (cost || attempts_ == kAttempts) is_final_.store(true, std::memory_order_release);
}

moving_cost measured_moving_cost::at(time now) {
  std::call_once(first_, [&] { attempt(now); });
  if (!is_final() && now >= due_.load(std::memory_order_relaxed) &&
      !is_measuring_.exchange(true, std::memory_order_acquire)) {
    if (!is_final()) attempt(now);
    is_measuring_.store(false, std::memory_order_release);
  }
  return known();
}

moving_cost machine_moving_cost() {
  static measured_moving_cost cost(measure);
  return cost.is_final() ? cost.known() : cost.at(steady::now());
}

}  // namespace sluice::lib
