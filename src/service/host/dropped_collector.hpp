// SPDX-License-Identifier: Apache-2.0
// Collects the bad elements that the run of a split drops, until they go to the consumer, which stores them.
//
//   auto dropped = std::make_shared<dropped_collector>(request.dropped_from, dropped_before_the_split);
//   open_collecting_run(rt, plan, rewritten, options, dropped);
//   … some = try_next_block(…);  for (dropped_element& e : dropped->take()) send(e);     // they come before `some`
//
// A split that is read again drops the same elements in the same order. They are numbered in the split, and the consumer
// requests those from the first number that it lacks.
// Cost:   at most kKeptApart elements of one stage between two calls of take(): each later one is counted by the last.
// Thread: any; take() while the run is at rest.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/quarantine_sink.hpp"
#include "service/wire/dropped_frames.hpp"
#include "service/wire/element_frames.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib {

class dropped_collector final : public sink_maker, public std::enable_shared_from_this<dropped_collector> {
 public:
  /// `from`: the number of the first element to collect. `before`: what belongs to the splits before.
  dropped_collector(std::uint64_t from, const std::vector<dropped_elements>& before);

  std::unique_ptr<quarantine_sink> sink_of(const std::string& path) override;
  bool empty() const { return is_empty_.load(std::memory_order_relaxed); }
  /// Returns the elements since the last call, in their order.
  std::vector<dropped_element> take();
  /// Returns the number of the first element that the next take() returns.
  std::uint64_t first() const;

 private:
  class collecting_sink;
  void keep(const dropped_error& e, const std::string& path);

  std::atomic<bool> is_empty_{true};  // written by the run, whose result the reader has awaited
  mutable mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> before_ ABSL_GUARDED_BY(mutex_);  ///< by stage
  std::uint64_t number_ ABSL_GUARDED_BY(mutex_) = 0;  ///< of the next element that the run drops
  std::uint64_t from_ ABSL_GUARDED_BY(mutex_);
  std::vector<dropped_element> collected_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
