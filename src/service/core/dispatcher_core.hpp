// SPDX-License-Identifier: Apache-2.0
// The decisions of a dispatcher, without I/O, clock and threads: events in, actions out.
//
//   dispatcher_core core({.token = random_text});
//   std::vector<dispatcher_action> actions;
//   core.step({dispatcher_event::woken{}}, now, actions);          // the first event: it reads the epoch of the store
//   for (auto& a : actions) …                                     // the host does them, and reports with further events
//
// Order:  nothing is answered before everything that the answer promises is durable. Writes that arrive while a commit
//         is in flight go into the next commit.
// Durable: datasets, named jobs, iterations, the splits of a round before the first one is assigned, which consumer has
//         which split at which ordinal, done splits, closed consumers, and the epoch. Not durable: workers, placements,
//         offsets, and who waits: heartbeats and repeated calls bring them back.
// Restart: a new dispatcher with the same store commits the next epoch, which ends the right of the older one to write,
//         then loads the state and continues. The older one answers `unavailable` from its next commit on, and stops with
//         failed_precondition.
// Errors: those of messages.hpp. Calls that arrive before the state is loaded wait. If the store fails, calls whose writes
//         are not durable are answered `unavailable`, with its error; a repetition of the call succeeds when it works again.
// Thread: one at a time.
// See:    docs/internals/decisions/service.md
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/core/actions.hpp"
#include "service/core/commit_log.hpp"
#include "service/core/iteration_splits.hpp"
#include "service/core/worker_table.hpp"

namespace sluice::lib {

struct dispatcher_options {
  std::string token = {};  ///< unique for each start of a dispatcher
  /// The workers of static modes: "host:port", or "host:%port%" for whichever port the worker of that host has.
  std::vector<std::string> fixed_workers = {};
  bool has_fixed_workers_only = false;  ///< mode=off has a task for each of them, in their order, from the start
  duration worker_lease = std::chrono::seconds(3);  ///< a worker that is silent for longer gets no reads
  duration forget_worker = std::chrono::minutes(10);
  duration hold_max = std::chrono::seconds(2);  ///< a call that waits is answered with `wait` after this time
  duration store_retry = std::chrono::milliseconds(100);
  /// How often it looks whether another dispatcher has taken over; nullopt: only when it writes.
  std::optional<duration> store_check = {};
  /// The splits of a finished iteration of a named job are removed after this time. nullopt: never.
  std::optional<duration> remove_finished = std::chrono::minutes(5);
  /// An iteration without a call of a consumer is removed after this time. nullopt: never.
  std::optional<duration> remove_idle = std::chrono::hours(24);
  /// The next round is listed when at most this number of splits is not assigned.
  std::uint64_t splits_low = 1;
  std::size_t commit_bytes = std::size_t{4} << 20;  ///< of payloads in one commit
  split_limits limits = {};
};

class dispatcher_core {
 public:
  explicit dispatcher_core(dispatcher_options o);
  void step(dispatcher_event event, time_point now, std::vector<dispatcher_action>& out);

  std::uint64_t epoch() const { return log_.epoch(); }
  bool is_leading() const { return log_.state() == commit_log::phase::leading; }
  /// Read and copied by the host, and by the test.
  status_reply describe(time_point now) const;

 private:
  using actions = std::vector<dispatcher_action>;
  using answer = result<service_reply>;
  /// A call that is answered later.
  struct held_split {
    std::uint64_t call;
    next_split_request request;
    time_point until;
  };
  struct iteration {
    std::string id;
    iteration_record record;
    iteration_splits splits;
    std::vector<held_split> waiting;
    bool is_listing = false;
    std::optional<listed_round> storing;  ///< its chunks are being stored
    std::set<std::string> tasks;          ///< off: the workers that have one
    bool is_endless = false;
    absl::btree_map<std::uint64_t, std::uint64_t> empty = {};  ///< endless: splits of a round that had no element
    time_point last_call{};
    std::optional<time_point> finished_at;
  };
  struct held_place {
    std::uint64_t call;
    place_request request;
    time_point until;
  };

  // --- dispatcher_core.cpp: events
  void happened(dispatcher_event::woken, time_point now, actions& out);
  void happened(dispatcher_event::call& e, time_point now, actions& out);
  void happened(const dispatcher_event::call_dropped& e, time_point now, actions& out);
  void happened(dispatcher_event::store_listed& e, time_point now, actions& out);
  void happened(const dispatcher_event::commit_ended& e, time_point now, actions& out);
  void happened(dispatcher_event::splits_listed& e, time_point now, actions& out);
  void expire(time_point now);
  void wake_by(time_point when) { next_wake_ = std::min(next_wake_, when); }

  status load(const std::vector<meta_entry>& entries, time_point now);

  // --- dispatcher_calls.cpp: each returns the answer, or nullopt: it is held
  using maybe_answer = std::optional<answer>;
  maybe_answer serve(std::uint64_t call, register_dataset_request& r, time_point now);
  maybe_answer serve(std::uint64_t call, get_dataset_request& r, time_point now);
  maybe_answer serve(std::uint64_t call, open_job_request& r, time_point now);
  maybe_answer serve(std::uint64_t call, next_split_request& r, time_point now);
  maybe_answer serve(std::uint64_t call, place_request& r, time_point now);
  maybe_answer serve(std::uint64_t call, progress_request& r, time_point now);
  maybe_answer serve(std::uint64_t call, close_consumer_request& r, time_point now);
  maybe_answer serve(std::uint64_t call, heartbeat_request& r, time_point now);
  maybe_answer serve(std::uint64_t call, remove_worker_request& r, time_point now);
  maybe_answer serve(std::uint64_t call, status_request& r, time_point now);

  // --- dispatcher_splits.cpp
  static status beyond_error(const std::string& consumer, std::uint64_t ordinal, std::uint64_t assigned);
  maybe_answer next_split(iteration& it, const next_split_request& r, time_point now);
  next_split_reply split_reply(iteration& it, const split_consumer& c, std::uint64_t split, time_point now);
  maybe_answer place(const place_request& r, time_point now);
  worker_wish wish_for(const iteration& it, const split_consumer& c, std::uint64_t split) const;
  void serve_waiting(iteration& it, time_point now);
  void serve_places(time_point now);
  void list_more(iteration& it);
  void add_round(iteration& it, std::uint64_t round, const std::vector<std::string>& payloads, bool is_last);
  void add_task(iteration& it, const worker_entry& w);
  /// The split had no element. A round of these is the last one of an endless repeat.
  void count_empty(iteration& it, std::uint64_t split);
  void close(iteration& it, split_consumer& c, time_point now);
  void remove(iteration& it);
  /// Adds to the reply which consumer a consumer waits for whose job has no split for it, if it waits for one.
  void explain_wait(iteration& it, const std::string& consumer, time_point now, next_split_reply& wait);
  /// Removes an iteration of a job that nobody can open again, and its records.
  void end(iteration& it);
  void answer_removed(iteration& it);

  result<iteration*> find(const std::string& id, time_point now);
  result<split_consumer*> consumer_of(iteration& it, const std::string& name,
                                      const std::optional<std::uint64_t>& incarnation, time_point now);
  /// Notes the start of a consumer. Errors: aborted: a later one uses its name.
  status start_consumer(const iteration& it, split_consumer& c, const open_job_request& r);
  /// The error of a consumer that is not the last one of its name.
  static status replaced_error(const iteration& it, const split_consumer& c);
  bool is_done(const iteration& it) const;
  /// The key of by_name_.
  static std::string iteration_name(const open_job_request& r);

  dispatcher_options options_;
  commit_log log_;
  worker_table workers_;
  bool is_loading_ = false;
  absl::btree_map<std::string, dataset_info> datasets_;
  absl::btree_map<std::string, job_record> jobs_;
  absl::btree_map<std::string, std::unique_ptr<iteration>> iterations_;
  absl::btree_map<std::string, std::string> by_name_;  ///< the ids of iterations
  std::uint64_t iterations_made_ = 0;                  ///< in this epoch
  std::uint64_t starts_made_ = 0;                      ///< of consumers, in this epoch
  std::vector<held_place> waiting_places_;
  std::vector<dispatcher_event::call> early_;              ///< calls before the state was loaded
  std::vector<dispatcher_action> lists_;                   ///< list_splits of this step
  std::vector<std::pair<std::uint64_t, answer>> answers_;  ///< of held calls, in this step
  time_point next_wake_ = time_point::max(), asked_wake_ = time_point::max(), last_now_{}, retry_load_{};
};

}  // namespace sluice::lib
