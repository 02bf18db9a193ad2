// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/simulated_meta_store.hpp"

#include <algorithm>

#include "io/simulated/before.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib {
namespace {

status too_late() { return detail::late("metadata store"); }

}  // namespace

task<> simulated_meta_store::travel() {
  duration d(world_.random(static_cast<std::uint64_t>(options_.delay_max.count()) + 1));
  co_await sleep_for(d);
  bool lost = !reachable_ || world_.chance(options_.fail_chance / 2);
  if (lost) co_await fail(unavailable_error("the metadata store does not answer"));
}

task<> simulated_meta_store::travel_back() {
  if (silent_) co_await sleep_for(detail::kSilence);
  co_await travel();
}

task<std::optional<meta_entry>> simulated_meta_store::get(std::string key, time_point deadline) {
  return detail::before(deadline, too_late(), get_now(std::move(key)));
}
task<std::vector<meta_entry>> simulated_meta_store::list(std::string prefix, time_point deadline) {
  return detail::before(deadline, too_late(), list_now(std::move(prefix)));
}
task<std::optional<std::uint64_t>> simulated_meta_store::commit(std::vector<meta_guard> guards,
                                                                std::vector<meta_write> writes, time_point deadline) {
  return detail::before(deadline, too_late(), commit_now(std::move(guards), std::move(writes)));
}
task<std::uint64_t> simulated_meta_store::revision(time_point deadline) {
  return detail::before(deadline, too_late(), revision_now());
}

task<std::optional<meta_entry>> simulated_meta_store::get_now(std::string key) {
  co_await travel();
  std::optional<meta_entry> found;
  if (auto i = entries_.find(key); i != entries_.end()) found = i->second;
  co_await travel_back();
  co_return found;
}

task<std::vector<meta_entry>> simulated_meta_store::list_now(std::string prefix) {
  co_await travel();
  std::vector<meta_entry> found;
  for (auto i = entries_.lower_bound(prefix); i != entries_.end() && i->first.starts_with(prefix); ++i)
    found.push_back(i->second);
  co_await travel_back();
  co_return found;
}

bool simulated_meta_store::hold(const std::vector<meta_guard>& guards) const {
  return std::all_of(guards.begin(), guards.end(), [&](const meta_guard& g) {
    auto i = entries_.find(g.key);
    return (i == entries_.end() ? 0 : i->second.version) == g.version;
  });
}

task<std::optional<std::uint64_t>> simulated_meta_store::commit_now(std::vector<meta_guard> guards,
                                                                    std::vector<meta_write> writes) {
  co_await travel();
  std::optional<std::uint64_t> done;
  if (hold(guards)) {
    if (!writes.empty()) ++revision_;
    for (auto& w : writes) {
      if (w.value) entries_[w.key] = meta_entry(w.key, std::move(*w.value), revision_);
      else entries_.erase(w.key);
    }
    done = revision_;
  }
  co_await travel_back();  // a failure from here on concerns the answer, not the commit
  co_return done;
}

task<std::uint64_t> simulated_meta_store::revision_now() {
  co_await travel();
  std::uint64_t r = revision_;
  co_await travel_back();
  co_return r;
}

}  // namespace sluice::lib
