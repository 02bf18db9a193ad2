// SPDX-License-Identifier: Apache-2.0
// The queue from which one client receives, and to which other threads add: frames of a stream, or the answer of a call.
//
//   frame_inbox inbox;
//   inbox.push(frame); inbox.end(status());                                // any thread
//   result<std::optional<slice>> frame = co_await inbox.next("a:1: stream read", deadline);
//
// Errors: those of frame_reader::next() and message_channel::call() (io/transport.hpp).
// Thread: one next() or take() at a time; the others on any thread.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "io/messages/wake_event.hpp"
#include "sluice/io/transport.hpp"

namespace sluice::lib {

class frame_inbox {
 public:
  void push(slice frame);
  /// The handler has ended, with `why` if it failed.
  void end(status why);
  /// The transport has failed. The frames before are still returned. The first call of end() and fail() counts.
  void fail(status why);
  /// Drops all frames. next() fails with `cancelled`.
  void cancel() noexcept;

  task<result<std::optional<slice>>> next(std::string what, time_point deadline);

 private:
  enum class state : std::uint8_t { open, ended, failed };
  void conclude(state s, status why);

  mutex mutex_;
  std::deque<slice> frames_ ABSL_GUARDED_BY(mutex_);
  state state_ ABSL_GUARDED_BY(mutex_) = state::open;
  status why_ ABSL_GUARDED_BY(mutex_);
  wake_event changed_;
};

class answer_slot {
 public:
  /// The handler's answer.
  void answer(result<std::string> with);
  /// The transport has failed. The first call of answer() and fail() counts.
  void fail(status why);
  task<result<std::string>> take(std::string what, time_point deadline);

 private:
  mutex mutex_;
  std::optional<result<std::string>> answer_ ABSL_GUARDED_BY(mutex_);
  status failed_ ABSL_GUARDED_BY(mutex_);
  wake_event changed_;
};

}  // namespace sluice::lib
