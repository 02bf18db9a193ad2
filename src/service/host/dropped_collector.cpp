// SPDX-License-Identifier: Apache-2.0
#include "service/host/dropped_collector.hpp"

#include <algorithm>
#include <utility>

#include "runtime/sites/error_account.hpp"

namespace sluice::lib {

class dropped_collector::collecting_sink final : public quarantine_sink {
 public:
  collecting_sink(std::shared_ptr<dropped_collector> of, std::string path)
      : of_(std::move(of)), path_(std::move(path)) {}
  status keep(const dropped_error& e) override {
    of_->keep(e, path_);
    return {};
  }

 private:
  const std::shared_ptr<dropped_collector> of_;
  const std::string path_;
};

dropped_collector::dropped_collector(std::uint64_t from, const std::vector<dropped_elements>& before) : from_(from) {
  for (const dropped_elements& d : before) before_[d.stage] += d.errors;
}

std::unique_ptr<quarantine_sink> dropped_collector::sink_of(const std::string& path) {
  return std::make_unique<collecting_sink>(shared_from_this(), path);
}

void dropped_collector::keep(const dropped_error& e, const std::string& path) {
  mutex_lock lock(mutex_);
  const std::string stage(e.account ? e.account->stage : e.why.where().stage);
  std::uint64_t times = e.times;
  if (const auto earlier = before_.find(stage); earlier != before_.end()) {
    const std::uint64_t passed = std::min(times, earlier->second);
    earlier->second -= passed;
    times -= passed;
  }
  const std::uint64_t known = std::min(times, from_ - std::min(from_, number_));
  number_ += times;
  times -= known;
  if (times == 0) return;
  is_empty_.store(false, std::memory_order_relaxed);
  if (collected_.size() >= dropped_errors::kKeptApart)
    for (auto last = collected_.rbegin(); last != collected_.rend(); ++last)
      if (last->stage == stage && last->path == path) {
        last->times += times;
        return;
      }
  // A worker of a worker may change when the split is read again; its split does not.
  collected_.push_back({stage, path, e.on ? on_worker(e.why, "", e.split()) : e.why, times, e.bytes});
}

std::vector<dropped_element> dropped_collector::take() {
  mutex_lock lock(mutex_);
  is_empty_.store(true, std::memory_order_relaxed);
  from_ = std::max(from_, number_);
  return std::exchange(collected_, {});
}

std::uint64_t dropped_collector::first() const {
  mutex_lock lock(mutex_);
  return from_;
}

}  // namespace sluice::lib
