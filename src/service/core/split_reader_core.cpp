// SPDX-License-Identifier: Apache-2.0
#include "service/core/split_reader_core.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

namespace sluice::lib {

void split_reader_core::step(reader_event event, time_point now, actions& out) {
  if (state_ == state::over) return;
  std::visit([&](const auto& e) { happened(e, now, out); }, event.what);
  if (state_ != state::over && due_ != asked_ && due_ != time_point::max())
    out.push_back({reader_action::wake_at{due_}});
  asked_ = due_;
}

void split_reader_core::happened(const reader_event::started&, time_point now, actions& out) {
  moved_ = now;
  if (worker_.empty()) return place(now, out);
  open(now, out);
}

void split_reader_core::open(time_point now, actions& out) {
  state_ = state::reading;
  due_ = now + options_.silence;
  out.push_back({reader_action::open{attempt_, worker_, next_}});
}

void split_reader_core::place(time_point now, actions& out) {
  state_ = state::placing;
  due_ = now + options_.place_timeout;
  out.push_back({reader_action::place{attempt_, failed_}});
}

/// Places the split again: at once after the first failure.
void split_reader_core::again(const status& why, time_point now, actions& out) {
  last_error_ = why;
  if (options_.give_up_after && now - moved_ >= *options_.give_up_after) return give_up(now, out);
  ++attempt_;
  if (++failures_ == 1) return place(now, out);
  state_ = state::waiting;
  due_ = now + retry_delay(options_.delays, failures_ - 1, options_.seed, attempt_);
}

void split_reader_core::give_up(time_point now, actions& out) {
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - moved_).count();
  fail(status(status_code::deadline_exceeded, absl::StrCat("the split brought no element for ", waited,
                                                           " ms; the last error: ", last_error_.to_string())),
       out);
}

void split_reader_core::happened(const reader_event::placed& e, time_point now, actions& out) {
  if (state_ != state::placing) return;
  if (e.kind == place_answer::removed) return end(out);
  if (e.kind == place_answer::placed) {
    worker_ = e.worker;
    return open(now, out);
  }
  last_error_ = unavailable_error(e.why.empty() ? "no worker is there" : e.why);
  if (options_.give_up_after && now - moved_ >= *options_.give_up_after) return give_up(now, out);
  if (now - moved_ >= options_.warn_after && !std::exchange(has_warned_, true))
    out.push_back({reader_action::no_worker{std::string(last_error_.message())}});
  state_ = state::waiting;  // the dispatcher has held the call: a short delay suffices
  due_ = now + retry_delay(options_.delays, 1, options_.seed, attempt_);
}

void split_reader_core::happened(const reader_event::place_failed& e, time_point now, actions& out) {
  if (state_ != state::placing) return;
  if (!may_be_repeated(e.why)) return fail(e.why, out);
  failures_ = std::max<std::uint64_t>(failures_, 1);
  is_dispatcher_away_ = true;
  again(e.why, now, out);
}

void split_reader_core::happened(const reader_event::frame& e, time_point now, actions& out) {
  if (state_ != state::reading || e.read != attempt_) return;
  due_ = now + options_.silence;
  if (e.first > next_) {
    out.push_back({reader_action::cancel{attempt_}});
    return again(internal_error(absl::StrCat("worker ", worker_, " sent element ", e.first, ", and element ", next_,
                                             " is missing")),
                 now, out);
  }
  if (const std::uint64_t last = e.first + e.count; last > next_) {
    out.push_back({reader_action::deliver{next_ - e.first, last - next_}});
    queued_ += last - next_;
    next_ = last;
    moved_ = now;
    failures_ = 0;
    if (!listens()) due_ = time_point::max();
  }
  if (e.is_end) end(out);
}

void split_reader_core::happened(const reader_event::keepalive& e, time_point now, actions&) {
  if (state_ == state::reading && e.read == attempt_ && listens()) due_ = now + options_.silence;
}

void split_reader_core::happened(const reader_event::broke& e, time_point now, actions& out) {
  if (state_ != state::reading || e.read != attempt_) return;
  if (next_ > begun_at_ && options_.visitation == reader_options::visits::at_most_once) return end(out);
  if (options_.visitation == reader_options::visits::at_least_once) next_ = begun_at_ = 0;
  failed_ = worker_;
  again(e.why, now, out);
}

void split_reader_core::happened(const reader_event::handler_error& e, time_point, actions& out) {
  if (state_ == state::reading && e.read == attempt_) fail(e.why, out);
}

void split_reader_core::happened(const reader_event::took& e, time_point now, actions&) {
  const bool was_deaf = !listens();
  queued_ -= std::min(queued_, e.count);
  if (was_deaf && listens() && state_ == state::reading) due_ = now + options_.silence;
}

void split_reader_core::happened(const reader_event::woken&, time_point now, actions& out) {
  if (now < due_) return;
  due_ = time_point::max();
  if (state_ == state::waiting) {
    // Nobody can name another worker: the last one may have returned.
    if (std::exchange(is_dispatcher_away_, false) && !worker_.empty()) return open(now, out);
    return place(now, out);
  }
  if (state_ == state::placing) {
    failures_ = std::max<std::uint64_t>(failures_, 1);
    is_dispatcher_away_ = true;
    return again(unavailable_error("the dispatcher does not answer"), now, out);
  }
  if (state_ != state::reading) return;
  const std::uint64_t read = attempt_;
  out.push_back({reader_action::cancel{read}});
  const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(options_.silence).count();
  happened(
      reader_event::broke{read, unavailable_error(absl::StrCat("worker ", worker_, " was silent for ", silent, " ms"))},
      now, out);
}

void split_reader_core::end(actions& out) {
  state_ = state::over;
  out.push_back({reader_action::end{}});
}

void split_reader_core::fail(const status& why, actions& out) {
  state_ = state::over;
  out.push_back({reader_action::fail{why}});
}

}  // namespace sluice::lib
