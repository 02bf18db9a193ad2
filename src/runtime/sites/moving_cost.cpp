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
constexpr int kRounds = 12;
constexpr std::chrono::milliseconds kMeasuredFor{2};
constexpr double kByteNsMin = 0.02, kByteNsMax = 0.5;

struct alignas(64) line {
  std::uint64_t word;
};

/// One thread writes and the other reads, alternately. The writer's turns have even numbers.
struct exchange_of_lines {
  std::array<line, kLines> lines{};
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
};

double ns_since(steady::time_point began) {
  return std::chrono::duration<double, std::nano>(steady::now() - began).count();
}

moving_cost measure() {
  moving_cost cost;
  auto shared = std::make_unique<exchange_of_lines>();
  std::array<double, kRounds> extra{};
  int done = 0;
  volatile std::uint64_t sink = 0;
  try {
    std::thread writer([&e = *shared] {
      for (int round = 0; round < kRounds && e.wait_for(2 * round); ++round) {
        e.write(static_cast<std::uint64_t>(round) + 1);
        e.turn.store(2 * round + 1, std::memory_order_release);
      }
    });
    for (; done < kRounds && shared->wait_for(2 * done + 1); ++done) {
      auto began = steady::now();
      sink = sink + shared->read();
      double moved = ns_since(began);
      began = steady::now();
      sink = sink + shared->read();
      extra[static_cast<std::size_t>(done)] = moved - ns_since(began);
      shared->turn.store(2 * done + 2, std::memory_order_release);
    }
    writer.join();
  } catch (const std::system_error&) { return cost; }  // no second thread is available to share work with either
  if (done < kRounds / 2) return cost;
  std::sort(extra.begin(), extra.begin() + done);
  double bytes = static_cast<double>(kLines * sizeof(line));
  cost.byte_ns = std::clamp(extra[static_cast<std::size_t>(done) / 2] / bytes / 2, kByteNsMin, kByteNsMax);
  return cost;
}

}  // namespace

const moving_cost& machine_moving_cost() {
  static const moving_cost cost = measure();
  return cost;
}

}  // namespace sluice::lib
