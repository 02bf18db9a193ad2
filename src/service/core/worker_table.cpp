// SPDX-License-Identifier: Apache-2.0
#include "service/core/worker_table.hpp"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

namespace sluice::lib {

bool worker_table::heartbeat(const heartbeat_request& r, time_point now) {
  const auto [found, is_new] = workers_.try_emplace(r.worker);
  worker_entry& w = found->second;
  // A process that starts again may fit where the one before, which drained, did not.
  const bool is_known = !is_new && is_alive(w, now) && w.incarnation == r.incarnation;
  w.address = r.worker;
  w.host = r.host;
  w.process = r.process.value_or("");
  w.incarnation = r.incarnation;
  w.tags = r.tags;
  w.slots = std::max<std::uint32_t>(r.slots, 1);
  w.is_draining = r.is_draining;
  w.last_seen = now;
  w.compression = r.compression.value_or(std::vector<compression_status>());
  count_running(r, w, now);
  return !is_known;
}

void worker_table::count_running(const heartbeat_request& r, worker_entry& w, time_point now) {
  absl::flat_hash_set<read_id> running;
  for (const running_read& read : r.reads) running.emplace(read.iteration, read.split, read.consumer);
  for (auto& [read, p] : reads_) {
    if (p.worker != w.address) continue;
    const bool is_load = now - p.since < kStartTime || running.contains(read);
    if (is_load && !p.is_counted) ++w.placed;
    if (!is_load && p.is_counted && w.placed) --w.placed;
    p.is_counted = is_load;
  }
}

const worker_entry* worker_table::find(const std::string& address) const {
  const auto found = workers_.find(address);
  return found == workers_.end() ? nullptr : &found->second;
}

bool worker_table::fits(const worker_entry& w, const worker_wish& wish) {
  if (!wish.pinned.empty()) return w.address == wish.pinned;
  if (w.is_draining || (wish.target == "local" && w.host != wish.host) ||
      (wish.target == "remote" && w.host == wish.host))
    return false;
  return !wish.tags || std::all_of(wish.tags->begin(), wish.tags->end(), [&](const std::string& tag) {
    return std::find(w.tags.begin(), w.tags.end(), tag) != w.tags.end();
  });
}

const worker_entry* worker_table::choose(const worker_wish& wish, time_point now) const {
  const worker_entry* best = nullptr;
  const auto rank = [&](const worker_entry& w) {
    const bool prefers = wish.target == "automatic";
    const bool is_same = !wish.process.empty() && w.process == wish.process;
    return std::tuple(w.address == wish.failed, prefers && !is_same, prefers && w.host != wish.host);
  };
  const auto is_better = [&](const worker_entry& a, const worker_entry& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    const std::uint64_t left = (a.placed + 1) * b.slots, right = (b.placed + 1) * a.slots;
    return left != right ? left < right : a.placements < b.placements;
  };
  for (const auto& [address, w] : workers_)
    if (is_alive(w, now) && fits(w, wish) && (!best || is_better(w, *best))) best = &w;
  return best;
}

std::string worker_table::why_none(const worker_wish& wish, time_point now) const {
  std::string why = "no worker fits: ";
  if (!wish.pinned.empty()) absl::StrAppend(&why, "the split belongs to ", wish.pinned);
  else if (wish.target == "local" || wish.target == "remote")
    absl::StrAppend(&why, "the job asks for ", wish.target, " workers, and the consumer's host is ", wish.host);
  else absl::StrAppend(&why, "the job asks for any worker");
  if (wish.tags && !wish.tags->empty()) absl::StrAppend(&why, " with the tags ", absl::StrJoin(*wish.tags, ", "));
  absl::StrAppend(&why, "; ", workers_.empty() ? "no worker has registered" : "registered:");
  constexpr std::size_t kShown = 8;
  std::size_t n = 0;
  for (const auto& [address, w] : workers_) {
    if (n++ == kShown) break;
    const auto silent = std::chrono::duration_cast<std::chrono::seconds>(now - w.last_seen).count();
    const std::string tags = w.tags.empty() ? "no tags" : "tags " + absl::StrJoin(w.tags, ", ");
    absl::StrAppend(&why, n == 1 ? " " : "; ", address, " (host ", w.host, ", ", tags,
                    w.is_draining ? ", is being stopped" : "",
                    is_alive(w, now) ? "" : absl::StrCat(", silent for ", silent, " s"), ")");
  }
  if (workers_.size() > kShown) absl::StrAppend(&why, " and ", workers_.size() - kShown, " more");
  return why;
}

void worker_table::unload(const placed_read& read) {
  if (!read.is_counted) return;
  if (const auto w = workers_.find(read.worker); w != workers_.end() && w->second.placed) --w->second.placed;
}

void worker_table::place(const read_id& read, const std::string& worker, std::uint64_t attempt, time_point now) {
  placed_read& p = reads_[read];
  if (!p.worker.empty()) unload(p);
  p = {worker, attempt, now};
  if (const auto w = workers_.find(worker); w != workers_.end()) {
    ++w->second.placed;
    ++w->second.placements;
  }
}

void worker_table::finish(const read_id& read) {
  const auto found = reads_.find(read);
  if (found == reads_.end()) return;
  unload(found->second);
  reads_.erase(found);
}

void worker_table::finish_all(const std::string& iteration) {
  auto read = reads_.lower_bound(read_id(iteration, 0, ""));
  while (read != reads_.end() && std::get<0>(read->first) == iteration) {
    unload(read->second);
    read = reads_.erase(read);
  }
}

const placed_read* worker_table::placed(const read_id& read) const {
  const auto found = reads_.find(read);
  return found == reads_.end() ? nullptr : &found->second;
}

void worker_table::forget(duration silent, time_point now) {
  for (auto w = workers_.begin(); w != workers_.end();)
    if (now - w->second.last_seen > silent) w = workers_.erase(w);
    else ++w;
}

}  // namespace sluice::lib
