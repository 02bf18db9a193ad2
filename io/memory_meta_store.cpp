// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/memory_meta_store.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/stop_token.hpp"

namespace sluice::lib {
namespace {

class memory_meta_store final : public meta_store {
 public:
  task<std::optional<meta_entry>> get(std::string key, time_point deadline) override {
    environment* env = co_await this_environment();
    check_time(*env, deadline);
    co_return get_now(key);
  }
  task<std::vector<meta_entry>> list(std::string prefix, time_point deadline) override {
    environment* env = co_await this_environment();
    check_time(*env, deadline);
    co_return list_now(prefix);
  }
  task<std::optional<std::uint64_t>> commit(std::vector<meta_guard> guards, std::vector<meta_write> writes,
                                            time_point deadline) override {
    environment* env = co_await this_environment();
    check_time(*env, deadline);
    co_return commit_now(guards, std::move(writes));
  }
  task<std::uint64_t> revision(time_point deadline) override {
    environment* env = co_await this_environment();
    check_time(*env, deadline);
    mutex_lock held(lock_);
    co_return revision_;
  }

 private:
  static void check_time(const environment& env, time_point deadline) {
    if (deadline != kNever && env.time->now() >= deadline)
      throw error(status(status_code::deadline_exceeded, "metadata store: no answer until the deadline"));
  }
  std::optional<meta_entry> get_now(const std::string& key) {
    mutex_lock held(lock_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    return found->second;
  }
  std::vector<meta_entry> list_now(const std::string& prefix) {
    mutex_lock held(lock_);
    std::vector<meta_entry> all;
    for (auto at = entries_.lower_bound(prefix); at != entries_.end() && at->first.starts_with(prefix); ++at)
      all.push_back(at->second);
    return all;
  }
  std::optional<std::uint64_t> commit_now(const std::vector<meta_guard>& guards, std::vector<meta_write> writes) {
    mutex_lock held(lock_);
    for (const meta_guard& g : guards) {
      const auto found = entries_.find(g.key);
      if ((found == entries_.end() ? 0 : found->second.version) != g.version) return std::nullopt;
    }
    if (!writes.empty()) ++revision_;
    for (meta_write& w : writes) {
      if (w.value) entries_[w.key] = meta_entry(w.key, *std::move(w.value), revision_);
      else entries_.erase(w.key);
    }
    return revision_;
  }

  mutex lock_;
  std::map<std::string, meta_entry> entries_ ABSL_GUARDED_BY(lock_);
  std::uint64_t revision_ ABSL_GUARDED_BY(lock_) = 0;
};

}  // namespace

std::unique_ptr<meta_store> make_memory_meta_store() { return std::make_unique<memory_meta_store>(); }

}  // namespace sluice::lib
