// SPDX-License-Identifier: Apache-2.0
// The decisions of one consumer of an iteration: asks for its splits by ordinal, reports which are done, and that it
// lives. Without I/O and clock.
//
//   consumer_core consumer({.iteration = "3.1", .consumer = "trainer-0"});
//   consumer.step({consumer_event::wanted{0}}, now, actions);       // call{1, next_split{…}}
//   consumer.step({consumer_event::replied{1, reply}}, now, actions);   // got{0, reply} or ended{0}
//   consumer.step({consumer_event::finished{split}}, now, actions);     // reported within 100 ms
//
// Calls:  a call that fails with unavailable or deadline_exceeded, or has no reply in time, is sent again with a new id,
//         until `give_up_after` without a reply of the dispatcher. Every other error is the dispatcher's answer, and fails
//         the consumer. Replies to earlier ids are ignored.
// Others: a consumer that has no split, and waits for those of another one, fails when it has waited for `give_up_after`, and
//         the other one was silent for as long. It waits without end for one that lives.
// Resume: the report of a finished split may be lost with the process. A consumer that resumes therefore says which ordinals
//         were finished at its checkpoint.
// Watch:  a consumer that waits for elements, and gets none of any split, is stuck: `stuck` names the split. The clock of this
//         stands still while the consumer does not wait.
// Order:  ordinals are wanted one after another; a consumer that resumes begins with the one of its checkpoint. A split
//         that was delivered in full must be reported as finished only then.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "service/core/messages.hpp"
#include "service/core/retry_delay.hpp"

namespace sluice::lib {

struct consumer_options {
  std::string iteration, consumer;
  std::optional<std::uint64_t> incarnation = {};  ///< of open_job_request
  duration report_every = std::chrono::milliseconds(100);
  std::size_t report_splits = 64;                   ///< finished splits that are reported at once
  duration heartbeat = std::chrono::seconds(1);     ///< without finished splits
  duration call_timeout = std::chrono::seconds(5);  ///< longer than the dispatcher holds a call
  std::optional<duration> give_up_after = {};
  bool ends_job = false;                            ///< of close_consumer_request
  duration stuck_after = std::chrono::seconds(30);  ///< without an element or a finished split, while it waits for one
  duration silent_after = std::chrono::seconds(2);  ///< of the dispatcher
  duration other_lease =
      std::chrono::seconds(3);  ///< another consumer that was silent for less may live: see heartbeat
  retry_delays delays = {};
  std::uint64_t seed = 0;
};

struct consumer_event {
  struct wanted {
    std::uint64_t ordinal;
  };
  struct replied {
    std::uint64_t call;
    result<service_reply> reply;
  };
  /// A split has delivered all elements before `offset`; opens it if it is unknown.
  struct delivered {
    std::uint64_t split, offset;
  };
  /// A split has delivered all its elements.
  struct finished {
    std::uint64_t split;
    bool is_empty = false;  ///< there were none
  };
  /// The consumer waits for the next element of a split, from this worker; `worker` empty: none is known.
  struct waits {
    std::uint64_t split;
    std::string worker;
  };
  /// It does not wait any more, or the split has an element.
  struct waits_no_more {
    std::uint64_t split;
  };
  /// After a resume, before the first `wanted`: the splits at all ordinals below this one were finished.
  struct resumed {
    std::uint64_t ordinal;
  };
  /// After a resume: the split at this ordinal was finished.
  struct finished_ordinal {
    std::uint64_t ordinal;
  };
  /// Reports what is finished, and returns the other splits to the pool.
  struct close {};
  struct woken {};
  std::variant<wanted, replied, delivered, finished, resumed, finished_ordinal, close, woken, waits, waits_no_more>
      what;
};

struct consumer_action {
  struct call {
    std::uint64_t id;
    service_request request;
  };
  struct got {
    std::uint64_t ordinal;
    next_split_reply split;
  };
  struct ended {
    std::uint64_t ordinal;
  };
  /// The split is not this consumer's: its reader must stop.
  struct released {
    std::uint64_t split;
  };
  /// Nothing has arrived for options.stuck_after, although the consumer waits; once, until something arrives.
  struct stuck {
    std::uint64_t split, offset;
    std::string worker;
    duration waited;  ///< for this split, which is the one that it waits for longest
  };
  /// No split has come for options.stuck_after, because other consumers have those that are left; once for each split.
  struct waits_for_others {
    std::string why;
    duration waited;
  };
  /// The dispatcher has not answered for options.silent_after, although a split is wanted; once for each split.
  struct no_answer {
    std::string why;
  };
  struct closed {};
  struct fail {
    status why;
  };
  struct wake_at {
    time_point when;
  };
  std::variant<call, got, ended, released, closed, fail, wake_at, stuck, waits_for_others, no_answer> what;
};

class consumer_core {
 public:
  explicit consumer_core(consumer_options o) : options_(std::move(o)) {}
  void step(consumer_event event, time_point now, std::vector<consumer_action>& out);
  std::uint64_t dispatcher_epoch() const { return epoch_; }  ///< the highest that a reply had

 private:
  using actions = std::vector<consumer_action>;
  /// A call that is repeated until it has an answer.
  struct line {
    std::optional<service_request> request;  ///< nullopt: nothing to ask
    std::uint64_t call = 0;                  ///< 0: not sent
    std::uint64_t failures = 0;
    time_point due = time_point::max();  ///< of the time-out, or of the repetition
    time_point begun{};
  };
  void happened(const consumer_event::wanted& e, time_point now, actions& out);
  void happened(const consumer_event::replied& e, time_point now, actions& out);
  void happened(const consumer_event::delivered& e, time_point now, actions& out);
  void happened(const consumer_event::finished& e, time_point now, actions& out);
  void happened(const consumer_event::resumed& e, time_point now, actions& out);
  void happened(const consumer_event::finished_ordinal& e, time_point now, actions& out);
  void happened(const consumer_event::close&, time_point now, actions& out);
  void happened(const consumer_event::woken&, time_point now, actions& out);
  void happened(const consumer_event::waits& e, time_point now, actions& out);
  void happened(const consumer_event::waits_no_more& e, time_point now, actions& out);
  void watch(time_point now, actions& out);
  void ask(line& l, service_request request, time_point now, actions& out);
  void send(line& l, time_point now, actions& out);
  void failed(line& l, const status& why, time_point now, actions& out);
  void expire(line& l, time_point now, actions& out);
  void report(time_point now, actions& out);
  void answered(const next_split_reply& r, time_point now, actions& out);
  void answered(const progress_reply& r, time_point now, actions& out);
  void fail(const status& why, actions& out);

  consumer_options options_;
  std::uint64_t calls_ = 0, epoch_ = 0, ordinal_ = 0;
  line split_, progress_, close_;
  absl::btree_set<std::uint64_t> finished_;  ///< not reported
  absl::btree_set<std::uint64_t> finished_ordinals_;
  std::uint64_t finished_below_ = 0;
  absl::btree_map<std::uint64_t, std::uint64_t> open_;  ///< offsets
  absl::btree_set<std::uint64_t> empty_;                ///< of finished_
  struct wait {
    time_point since;
    std::string worker;
  };
  absl::btree_map<std::uint64_t, wait> waits_;  ///< by splits
  time_point nothing_since_{};                  ///< the last progress, or the begin of the wait
  bool is_stuck_ = false;
  time_point wanted_since_{};       ///< the next split
  bool has_said_it_waits_ = false;  ///< for that split
  time_point report_at_ = time_point::max(), asked_ = time_point::max();
  bool is_closing_ = false, is_over_ = false;
};

}  // namespace sluice::lib
