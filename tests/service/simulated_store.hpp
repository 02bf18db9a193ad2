// SPDX-License-Identifier: Apache-2.0
// A store as meta_store describes it, whose commits may fail although they happened, or happen later. A power cut loses a commit
// that was written and not synced, or tears it. It checks what dispatchers write: I3, I5 and I6.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/core/actions.hpp"
#include "service/core/store_records.hpp"
#include "simulated_log.hpp"
#include "simulated_world.hpp"

namespace sluice::lib::service_simulation {

class simulated_store {
 public:
  static constexpr duration kSyncTime = kMs / 2;

  simulated_store(world& w, std::uint64_t seed) : world_(w), power_(seed) {}
  bool is_in_trouble = false;
  duration delay = 4 * kMs;
  std::uint64_t commits = 0, lost = 0, torn = 0;  ///< by power cuts: writes that were not synced
  /// Called once, when a commit was written and is not yet synced.
  std::function<void()> on_write;
  /// Whether all elements of a split were delivered, for I3.
  std::function<bool(const std::string& iteration, std::uint64_t split, const std::string& holder)> was_delivered;

  void list(const process_ptr& p, std::string prefix, std::function<void(status, std::vector<meta_entry>)> reply) {
    world_.after(time_of_call(), p, [this, prefix = std::move(prefix), reply = std::move(reply)] {
      if (is_in_trouble && world_.chance(0.5)) return reply(unavailable_error("the disk does not answer"), {});
      std::vector<meta_entry> found;
      for (auto e = entries_.lower_bound(prefix); e != entries_.end() && e->first.starts_with(prefix); ++e)
        found.push_back(e->second);
      reply({}, std::move(found));
    });
  }

  /// A process that dies meanwhile may have committed, or not.
  void commit(const process_ptr& p, dispatcher_action::commit c, std::function<void(status, std::uint64_t)> reply) {
    const duration took = time_of_call();
    const double luck = world_.random.uniform();
    if (is_in_trouble && luck < 0.5) {
      const duration later = luck < 0.2 ? took : luck < 0.4 ? took + world_.upto(500 * kMs) : duration(-1);
      if (later >= duration(0)) world_.after(later, [this, c] { write(c, [](std::uint64_t) {}); });
      world_.after(took + world_.upto(100 * kMs), p,
                   [reply] { reply(unavailable_error("the disk does not answer"), 0); });
      return;
    }
    world_.after(took, [this, p, c = std::move(c), reply = std::move(reply), luck] {
      if (p->is_dead && luck < 0.75) return;  // it died before the write
      write(c, [this, p, reply](std::uint64_t revision) {
        world_.after(world_.upto(2 * kMs), p, [reply, revision] { reply({}, revision); });
      });
    });
  }

  /// The machine of the store loses its power, and the store is opened again. REQUIRES: its processes are dead.
  void cut_power() {
    ++writes_;  // the one that is being synced does not end
    torn += log_.cut_power(power_);
    const bool was_writing = std::exchange(is_writing_, false);
    const std::uint64_t known = std::exchange(revision_, 0);
    entries_.clear();
    log_.read([&](const std::vector<meta_write>& writes) {
      if (++revision_ <= known) change(writes);
    });
    lost += was_writing && revision_ <= known;
    if (revision_ <= known) return;
    --revision_;  // the last write has reached the disk, and counts
    finish(writing_);
  }

  const std::map<std::string, meta_entry>& entries() const { return entries_; }

 private:
  duration time_of_call() { return kMs / 4 + world_.upto(is_in_trouble ? 200 * kMs : delay); }

  /// One write at a time: appends it, syncs it, and then answers with the revision, 0 if a guard does not hold.
  void write(dispatcher_action::commit c, std::function<void(std::uint64_t)> reply) {
    if (is_writing_)
      return world_.after(kSyncTime / 2, [this, c = std::move(c), reply = std::move(reply)] { write(c, reply); });
    for (const meta_guard& g : c.guards) {
      const auto found = entries_.find(g.key);
      if ((found == entries_.end() ? 0 : found->second.version) != g.version) return reply(0);
    }
    is_writing_ = true;
    log_.append(c.writes);
    writing_ = std::move(c);
    if (on_write) std::exchange(on_write, nullptr)();
    world_.after(kSyncTime, [this, number = ++writes_, reply = std::move(reply)] {
      if (number != writes_) return;
      log_.sync();
      is_writing_ = false;
      reply(finish(writing_));
    });
  }

  /// The writes are there for others.
  std::uint64_t finish(const dispatcher_action::commit& c) {
    ++revision_;
    ++commits;
    // Before the assignments of consumers that the same commit closes are forgotten.
    for (const meta_write& w : c.writes)
      if (w.value) check(w.key, *w.value);
    for (const meta_write& w : c.writes)
      if (!w.value) forget(w.key);
    change(c.writes);
    for (const meta_write& w : c.writes)
      if (w.value && w.key.starts_with("/assigned/")) check_assigned(w.key, *w.value);
    return revision_;
  }
  void change(const std::vector<meta_write>& writes) {
    for (const meta_write& w : writes) {
      if (w.value) entries_[w.key] = meta_entry(w.key, *w.value, revision_);
      else entries_.erase(w.key);
    }
  }

  static std::uint64_t number_at(const std::string& v, std::size_t at) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < 8; ++i) n |= static_cast<std::uint64_t>(static_cast<unsigned char>(v[at + i])) << 8 * i;
    return n;
  }
  static std::vector<std::string> parts(const std::string& key) {
    std::vector<std::string> all(1);
    for (const char c : key.substr(1)) {
      if (c == '/') all.emplace_back();
      else all.back() += c;
    }
    return all;
  }

  void check(const std::string& key, const std::string& value) {
    if (key == kEpochKey) {
      const auto r = from_json<epoch_record>(value);
      if (!r.ok() || r->epoch < epoch_) throw violated("I6: a dispatcher of an older epoch has committed");
      if (r->epoch == epoch_ && r->token != token_) throw violated("I6: two dispatchers have one epoch");
      epoch_ = r->epoch;
      token_ = r->token;
    } else if (key.starts_with("/done/")) {
      const auto part = parts(key);
      const std::string before = entries_.contains(key) ? entries_[key].value : std::string();
      const std::uint64_t first = std::stoull(part[2]) * value.size() * 8;
      for (std::size_t i = 0; i < value.size(); ++i) {
        const int now = static_cast<unsigned char>(value[i]),
                  old = i < before.size() ? static_cast<unsigned char>(before[i]) : 0;
        if (old & ~now) throw violated("I4: a split that was durably done is not done any more");
        for (int b = 0; b < 8; ++b)
          if ((now & ~old) >> b & 1 &&
              !was_delivered(part[1], first + i * 8 + b, holders_[part[1] + "/" + std::to_string(first + i * 8 + b)]))
            throw violated("I3: split " + std::to_string(first + i * 8 + b) +
                           " is durably done, and was not delivered in full");
      }
    } else if (key.starts_with("/splits/") && entries_.contains(key) && entries_[key].value != value &&
               rounds_seen_.contains(parts(key)[1] + parts(key)[2])) {
      throw violated("I5: splits that may be assigned were written again");
    } else if (key.starts_with("/round/")) {
      const auto r = from_json<round_record>(value);
      for (std::uint64_t i = 0; i < r->chunks; ++i) {
        const std::string chunk = store_key("splits", parts(key)[1], r->first_chunk + i);
        rounds_seen_.insert(parts(chunk)[1] + parts(chunk)[2]);
      }
    }
  }

  void check_assigned(const std::string& key, const std::string& value) {
    const auto part = parts(key);
    std::vector<std::uint64_t>& known = assigned_[key];
    for (std::size_t i = 0; i * 8 + 8 <= value.size(); ++i) {
      const std::uint64_t split = number_at(value, i * 8);
      if (i < known.size()) {
        if (known[i] != split) throw violated("I5: an ordinal of " + part[3] + " has another split than before");
        continue;
      }
      known.push_back(split);
      std::string& holder = holders_[part[1] + "/" + std::to_string(split)];
      if (!holder.empty())
        throw violated("I5: split " + std::to_string(split) + " is assigned to " + part[3] + ", and " + holder +
                       " has it");
      holder = part[3];
    }
    if (value.size() / 8 < known.size()) throw violated("I5: an assignment of " + part[3] + " was lost");
  }

  void forget(const std::string& key) {
    const auto found = assigned_.find(key);
    if (found == assigned_.end()) return;
    for (const std::uint64_t split : found->second) holders_.erase(parts(key)[1] + "/" + std::to_string(split));
    assigned_.erase(found);
  }

  world& world_;
  random_source power_;
  simulated_log log_;
  bool is_writing_ = false;  ///< written, and not yet synced
  dispatcher_action::commit writing_;
  std::uint64_t writes_ = 0;
  std::map<std::string, meta_entry> entries_;
  std::uint64_t revision_ = 0, epoch_ = 0;
  std::string token_;
  std::map<std::string, std::vector<std::uint64_t>> assigned_;
  std::map<std::string, std::string> holders_;
  std::set<std::string> rounds_seen_;
};

}  // namespace sluice::lib::service_simulation
