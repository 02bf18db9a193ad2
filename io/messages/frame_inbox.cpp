// SPDX-License-Identifier: Apache-2.0
#include "io/messages/frame_inbox.hpp"

#include "io/paths/late.hpp"

namespace sluice::lib {

void frame_inbox::push(slice frame) {
  {
    mutex_lock lock(mutex_);
    if (state_ != state::open) return;
    frames_.push_back(std::move(frame));
  }
  changed_.set();
}

void frame_inbox::end(status why) { conclude(state::ended, std::move(why)); }
void frame_inbox::fail(status why) { conclude(state::failed, std::move(why)); }

void frame_inbox::conclude(state s, status why) {
  {
    mutex_lock lock(mutex_);
    if (state_ != state::open) return;
    state_ = s;
    why_ = std::move(why);
  }
  changed_.set();
}

void frame_inbox::cancel() noexcept {
  std::deque<slice> dropped;
  {
    mutex_lock lock(mutex_);
    dropped.swap(frames_);
    state_ = state::failed;
    why_ = cancelled_error("the stream was cancelled");
  }
  changed_.set();
}

task<result<std::optional<slice>>> frame_inbox::next(std::string what, time_point deadline) {
  status failed;
  for (;;) {
    {
      mutex_lock lock(mutex_);
      if (!frames_.empty()) {
        std::optional<slice> first(std::move(frames_.front()));
        frames_.pop_front();
        co_return first;
      }
      if (state_ == state::ended) {
        if (!why_.ok()) co_return why_;
        co_return std::optional<slice>();
      }
      failed = why_;
    }
    if (!failed.ok()) co_await lib::fail(std::move(failed));
    bool in_time = co_await changed_.wait(deadline);
    if (!in_time) co_await lib::fail(detail::late(what));
  }
}

void answer_slot::answer(result<std::string> with) {
  {
    mutex_lock lock(mutex_);
    if (answer_ || !failed_.ok()) return;
    answer_ = std::move(with);
  }
  changed_.set();
}

void answer_slot::fail(status why) {
  {
    mutex_lock lock(mutex_);
    if (answer_ || !failed_.ok()) return;
    failed_ = std::move(why);
  }
  changed_.set();
}

task<result<std::string>> answer_slot::take(std::string what, time_point deadline) {
  status failed;
  for (;;) {
    {
      mutex_lock lock(mutex_);
      if (answer_) co_return std::move(*answer_);
      failed = failed_;
    }
    if (!failed.ok()) co_await lib::fail(std::move(failed));
    bool in_time = co_await changed_.wait(deadline);
    if (!in_time) co_await lib::fail(detail::late(what));
  }
}

}  // namespace sluice::lib
