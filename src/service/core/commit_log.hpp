// SPDX-License-Identifier: Apache-2.0
// Group commits of one dispatcher: collects writes while a commit is in flight, and releases a reply when everything
// that was written before it is durable.
//
//   log.writes()["/job/j"] = text;
//   log.answer(call, reply, false, out);     // now, if nothing is pending; otherwise after the commit with the write
//   log.flush(now, out);              // at the end of a step: begins the next commit, unless one is in flight
//
// Epochs: every commit requires the version of "/epoch" that the one before wrote, and writes it again. So a commit of
//         an older dispatcher fails, and so does an own commit whose outcome was unknown and that happens after its
//         repetition. After an unknown outcome the log reads "/epoch", whose number of tries says what happened.
// Errors: after a failed commit, its replies become `unavailable`, and its writes are part of the next commit.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/core/actions.hpp"
#include "service/core/iteration_splits.hpp"

namespace sluice::lib {

class commit_log {
 public:
  struct options {
    std::string token;
    std::size_t commit_bytes = std::size_t{4} << 20;  ///< of bulk writes in one commit
    duration retry_after = std::chrono::milliseconds(100);
    /// Reads the epoch so often also without commits, to notice that another dispatcher has taken over.
    std::optional<duration> check_every = {};
  };
  /// starting: reads the epoch; taking_over: commits the next one, so that an older dispatcher cannot write any more;
  /// loading: the state can be read, since it cannot change; stopped: see stop.
  enum class phase : std::uint8_t { starting, taking_over, loading, leading, stopped };
  explicit commit_log(options o) : options_(std::move(o)) {}

  phase state() const { return phase_; }
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t commits() const { return commits_; }
  const status& last_error() const { return last_error_; }

  /// The state was loaded.
  void lead(time_point now) {
    phase_ = phase::leading;
    if (options_.check_every) check_at_ = now + *options_.check_every;
  }
  void stop(const status& why, std::vector<dispatcher_action>& out);
  store_writes& writes() { return pending_; }
  /// Large writes, which go into commits of limited size, in order. bulk_done() has `tag` when all are durable.
  void add_bulk(std::string tag, std::vector<std::pair<std::string, std::string>> writes);
  std::vector<std::string> bulk_done() { return std::exchange(bulk_done_, {}); }
  /// `denies`: the reply denies that something exists. An older dispatcher may say so of what a newer one has stored, so it
  /// is sent only after a commit, which proves that this dispatcher is the newest.
  void answer(std::uint64_t call, result<service_reply> reply, bool denies, std::vector<dispatcher_action>& out);

  void commit_ended(const dispatcher_event::commit_ended& e, time_point now, std::vector<dispatcher_action>& out);
  void epoch_read(const dispatcher_event::store_listed& e, time_point now, std::vector<dispatcher_action>& out);
  void flush(time_point now, std::vector<dispatcher_action>& out);
  /// When flush() must be called again; time_point::max(): never.
  time_point wake() const;

 private:
  struct reply_to {
    std::uint64_t call;
    result<service_reply> reply;
  };
  struct bulk_write {
    std::string tag;  ///< of the last write of an add_bulk(); empty: others follow
    std::string key, value;
  };
  void begin(std::vector<dispatcher_action>& out);
  void happened(std::uint64_t version, std::vector<dispatcher_action>& out);
  void put_back();
  void fail_answers(std::vector<reply_to>& answers, const status& why, std::vector<dispatcher_action>& out);
  status take_over(const meta_entry* epoch);

  options options_;
  phase phase_ = phase::starting;
  std::uint64_t epoch_ = 0, commits_ = 0;
  std::uint64_t tries_ = 0;    ///< commits that were begun
  std::uint64_t version_ = 0;  ///< of /epoch; 0: the key does not exist
  status last_error_, stopped_;
  store_writes pending_, in_flight_;
  std::deque<bulk_write> bulk_;
  std::vector<bulk_write> bulk_in_flight_;
  std::vector<std::string> bulk_done_;
  std::vector<reply_to> pending_answers_, answers_in_flight_;
  bool is_in_flight_ = false, must_read_ = true, is_reading_ = false, takes_over_ = false, must_commit_ = false;
  std::optional<time_point> retry_at_;
  time_point check_at_ = time_point::max();  ///< while it leads
};

}  // namespace sluice::lib
