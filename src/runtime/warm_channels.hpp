// SPDX-License-Identifier: Apache-2.0
// The channels of a run with warm_start, while it is opened. Channels upstream of others are started by these.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <functional>
#include <utility>

namespace sluice::lib {

class stage_base;

class warm_channels {
 public:
  /// `stage`: the one that reads the channel. `start` starts its pump.
  void add(const stage_base* stage, std::function<void()> start) { all_.emplace(stage, std::move(start)); }
  /// Starts the channel that `stage` reads. Returns false if it reads none.
  bool start(const stage_base* stage) const {
    auto found = all_.find(stage);
    if (found == all_.end()) return false;
    found->second();
    return true;
  }

 private:
  absl::flat_hash_map<const stage_base*, std::function<void()>> all_;
};

}  // namespace sluice::lib
