// SPDX-License-Identifier: Apache-2.0
// The decisions of a consumer that reads one split: from which worker, from which element on, and what to do when the
// worker is silent or gone. Without I/O and clock.
//
//   split_reader_core reader({.seed = s}, reply.worker, /*offset=*/0);
//   reader.step({reader_event::started{}}, now, actions);               // open{read 0, "host:1", 0}
//   reader.step({reader_event::frame{0, 0, 100, false}}, now, actions);  // deliver{cut 0, take 100}
//
// Exactness: the elements of a split are a function of the split. The reader counts what it has delivered. Elements of a
//         frame before that count are cut, a frame after it is a gap and its read ends, so frames of several attempts, of
//         a worker that was paused, or that arrive twice do no harm.
// Visitation: exactly_once: after a failure, the next read begins at the first element that is missing. at_most_once:
//         a split that breaks after its first element ends. at_least_once: it begins again at 0.
// Errors: a broken read, silence, and a dispatcher that does not answer are repeated: the first time at once, then with
//         growing delays, until `give_up_after` without a new element. While the dispatcher does not answer, the last worker
//         is tried again between two calls. An error of the elements themselves ends the split.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "service/core/messages.hpp"
#include "service/core/retry_delay.hpp"

namespace sluice::lib {

struct reader_options {
  enum class visits : std::uint8_t { exactly_once, at_most_once, at_least_once };
  visits visitation = visits::exactly_once;
  duration silence = std::chrono::seconds(2);        ///< workers send a frame or a keepalive every 500 ms
  duration place_timeout = std::chrono::seconds(5);  ///< longer than the dispatcher holds a call
  std::optional<duration> give_up_after = {};
  duration warn_after = std::chrono::seconds(2);  ///< without a worker for the split
  retry_delays delays = {};
  std::uint64_t seed = 0;
  std::uint64_t queued_max = ~std::uint64_t{0};  ///< the host reads no frame while this number of elements waits
};

/// An event of a reader. Each `read` is the number of an `open` action; events of another one are ignored.
struct reader_event {
  struct started {};
  struct placed {
    place_answer kind;
    std::string worker;
    std::string why = {};  ///< of `wait`
  };
  struct place_failed {
    status why;
  };
  /// Elements first … first + count - 1 of the split. is_end: the split has no others.
  struct frame {
    std::uint64_t read, first, count;
    bool is_end;
  };
  struct keepalive {
    std::uint64_t read;
  };
  /// The stream could not be opened, or broke.
  struct broke {
    std::uint64_t read;
    status why;
  };
  /// The elements end with an error.
  struct handler_error {
    std::uint64_t read;
    status why;
  };
  /// The consumer took elements that were delivered.
  struct took {
    std::uint64_t count;
  };
  struct woken {};
  std::variant<started, placed, place_failed, frame, keepalive, broke, handler_error, took, woken> what;
};

struct reader_action {
  /// Calls `place` of the dispatcher, and cancels an earlier call.
  struct place {
    std::uint64_t attempt;
    std::string failed;
  };
  struct open {
    std::uint64_t read;  ///< also the attempt
    std::string worker;
    std::uint64_t offset;
  };
  struct cancel {
    std::uint64_t read;
  };
  /// Of the frame of this event: leaves out `cut` elements, and delivers the next `count`.
  struct deliver {
    std::uint64_t cut, count;
  };
  struct end {};
  struct fail {
    status why;
  };
  struct wake_at {
    time_point when;
  };
  /// No worker has been found for options.warn_after; once for each split.
  struct no_worker {
    std::string why;
  };
  std::variant<place, open, cancel, deliver, end, fail, wake_at, no_worker> what;
};

class split_reader_core {
 public:
  /// `worker`: of next_split_reply, may be empty. `offset`: of a checkpoint.
  split_reader_core(reader_options o, std::string worker, std::uint64_t offset)
      : options_(std::move(o)), worker_(std::move(worker)), next_(offset), begun_at_(offset) {}
  void step(reader_event event, time_point now, std::vector<reader_action>& out);

  std::uint64_t offset() const { return next_; }  ///< of the next element to deliver
  std::uint64_t attempt() const { return attempt_; }
  const std::string& worker() const { return worker_; }  ///< empty: none is known
  bool is_over() const { return state_ == state::over; }

 private:
  enum class state : std::uint8_t { idle, placing, reading, waiting, over };
  using actions = std::vector<reader_action>;
  void happened(const reader_event::started&, time_point now, actions& out);
  void happened(const reader_event::placed& e, time_point now, actions& out);
  void happened(const reader_event::place_failed& e, time_point now, actions& out);
  void happened(const reader_event::frame& e, time_point now, actions& out);
  void happened(const reader_event::keepalive& e, time_point now, actions& out);
  void happened(const reader_event::broke& e, time_point now, actions& out);
  void happened(const reader_event::handler_error& e, time_point now, actions& out);
  void happened(const reader_event::took& e, time_point now, actions& out);
  void happened(const reader_event::woken&, time_point now, actions& out);
  void open(time_point now, actions& out);
  void place(time_point now, actions& out);
  void again(const status& why, time_point now, actions& out);
  void give_up(time_point now, actions& out);
  void end(actions& out);
  void fail(const status& why, actions& out);
  bool listens() const { return queued_ < options_.queued_max; }

  reader_options options_;
  state state_ = state::idle;
  std::string worker_, failed_;
  std::uint64_t next_, begun_at_;
  std::uint64_t attempt_ = 0;
  std::uint64_t failures_ = 0;  ///< since the last new element
  std::uint64_t queued_ = 0;
  status last_error_;
  bool has_warned_ = false, is_dispatcher_away_ = false;
  time_point due_ = time_point::max(), asked_ = time_point::max(), moved_{};
};

}  // namespace sluice::lib
