// SPDX-License-Identifier: Apache-2.0
#include "service/core/consumer_core.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

namespace sluice::lib {
namespace {

std::uint64_t milliseconds_of(duration d) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

}  // namespace

void consumer_core::step(consumer_event event, time_point now, actions& out) {
  if (is_over_) return;
  if (report_at_ == time_point::max()) report_at_ = now + options_.heartbeat;
  std::visit([&](const auto& e) { happened(e, now, out); }, event.what);
  if (is_over_) return;
  time_point due = std::min({split_.due, progress_.due, close_.due});
  if (!progress_.request && !is_closing_) due = std::min(due, report_at_);
  if (due != asked_ && due != time_point::max()) out.push_back({consumer_action::wake_at{due}});
  asked_ = due;
}

void consumer_core::ask(line& l, service_request request, time_point now, actions& out) {
  l.request = std::move(request);
  l.failures = 0;
  l.begun = now;
  send(l, now, out);
}

void consumer_core::send(line& l, time_point now, actions& out) {
  l.call = ++calls_;
  l.due = now + options_.call_timeout;
  out.push_back({consumer_action::call{l.call, *l.request}});
}

void consumer_core::failed(line& l, const status& why, time_point now, actions& out) {
  if (!may_be_repeated(why)) return fail(why, out);
  if (options_.give_up_after && now - l.begun >= *options_.give_up_after)
    return fail(status(status_code::deadline_exceeded,
                       absl::StrCat("the dispatcher did not answer for ",
                                    std::chrono::duration_cast<std::chrono::milliseconds>(now - l.begun).count(),
                                    " ms; the last error: ", why.to_string())),
                out);
  if (&l == &split_ && !has_said_it_waits_ && now - l.begun >= options_.silent_after) {
    has_said_it_waits_ = true;
    out.push_back({consumer_action::no_answer{why.to_string()}});
  }
  l.call = 0;
  l.due = now + retry_delay(options_.delays, ++l.failures, options_.seed, calls_);
}

void consumer_core::expire(line& l, time_point now, actions& out) {
  if (!l.request || now < l.due || is_over_) return;
  if (l.call) failed(l, unavailable_error("the dispatcher does not answer"), now, out);
  else send(l, now, out);
}

void consumer_core::happened(const consumer_event::wanted& e, time_point now, actions& out) {
  ordinal_ = e.ordinal;
  wanted_since_ = now;
  has_said_it_waits_ = false;
  ask(split_, next_split_request{options_.iteration, options_.consumer, ordinal_, options_.incarnation}, now, out);
}

void consumer_core::happened(const consumer_event::replied& e, time_point now, actions& out) {
  for (line* l : {&split_, &progress_, &close_}) {
    if (!l->request || l->call != e.call) continue;
    if (!e.reply.ok()) return failed(*l, e.reply.why(), now, out);
    if (l != &split_) {
      l->request.reset();
      l->due = time_point::max();
    }
    if (const auto* split = std::get_if<next_split_reply>(&*e.reply)) return answered(*split, now, out);
    if (const auto* progress = std::get_if<progress_reply>(&*e.reply)) return answered(*progress, now, out);
    is_over_ = true;
    out.push_back({consumer_action::closed{}});
    return;
  }
}

void consumer_core::answered(const next_split_reply& r, time_point now, actions& out) {
  epoch_ = std::max(epoch_, r.dispatcher_epoch);
  if (r.kind == split_answer::wait) {
    // Splits that this consumer reads meanwhile have a watch of their own.
    const duration waited = now - std::max(wanted_since_, nothing_since_);
    const duration silent = std::chrono::milliseconds(r.silent_ms.value_or(0));
    if (r.why && options_.give_up_after && open_.empty() && silent >= options_.other_lease &&
        std::min(waited, silent) >= *options_.give_up_after)
      return fail(status(status_code::deadline_exceeded,
                         absl::StrCat("no split has come for ", milliseconds_of(waited), " ms: ", *r.why)),
                  out);
    if (r.why && waits_.empty() && !has_said_it_waits_ && waited >= options_.stuck_after) {
      has_said_it_waits_ = true;
      out.push_back({consumer_action::waits_for_others{*r.why, waited}});
    }
    return ask(split_, *split_.request, now, out);  // the dispatcher has held the call
  }
  split_.request.reset();
  split_.due = time_point::max();
  if (r.kind == split_answer::split) {
    open_.try_emplace(r.split, 0);
    out.push_back({consumer_action::got{ordinal_, r}});
  } else {
    out.push_back({consumer_action::ended{ordinal_}});
  }
}

void consumer_core::answered(const progress_reply& r, time_point now, actions& out) {
  epoch_ = std::max(epoch_, r.dispatcher_epoch);
  for (const std::uint64_t split : r.released) {
    open_.erase(split);
    out.push_back({consumer_action::released{split}});
  }
  const bool has_more = !finished_.empty() || !finished_ordinals_.empty() || finished_below_;
  report_at_ = now + (has_more ? options_.report_every : options_.heartbeat);
  if (finished_.size() >= options_.report_splits || (is_closing_ && has_more)) return report(now, out);
  if (!is_closing_) return;
  close_consumer_request close{options_.iteration, options_.consumer};
  close.incarnation = options_.incarnation;
  if (options_.ends_job) close.ends_job = true;
  ask(close_, std::move(close), now, out);
}

void consumer_core::happened(const consumer_event::delivered& e, time_point now, actions&) {
  open_[e.split] = e.offset;
  nothing_since_ = now;
  is_stuck_ = false;
}

void consumer_core::happened(const consumer_event::waits& e, time_point now, actions&) {
  if (waits_.empty()) nothing_since_ = now;
  waits_.try_emplace(e.split, wait{now, {}}).first->second.worker = e.worker;
}

void consumer_core::happened(const consumer_event::waits_no_more& e, time_point, actions&) { waits_.erase(e.split); }

void consumer_core::watch(time_point now, actions& out) {
  if (waits_.empty() || is_stuck_ || now - nothing_since_ < options_.stuck_after) return;
  is_stuck_ = true;
  const auto longest =
      std::min_element(waits_.begin(), waits_.end(), [](auto& a, auto& b) { return a.second.since < b.second.since; });
  const auto& [split, w] = *longest;
  const auto offset = open_.find(split);
  out.push_back({consumer_action::stuck{split, offset == open_.end() ? 0 : offset->second, w.worker, now - w.since}});
}

void consumer_core::happened(const consumer_event::finished& e, time_point now, actions& out) {
  open_.erase(e.split);
  waits_.erase(e.split);
  nothing_since_ = now;
  is_stuck_ = false;
  finished_.insert(e.split);
  if (e.is_empty) empty_.insert(e.split);
  report_at_ = std::min(report_at_, now + options_.report_every);
  if (finished_.size() >= options_.report_splits && !progress_.request) report(now, out);
}

void consumer_core::happened(const consumer_event::resumed& e, time_point now, actions&) {
  finished_below_ = e.ordinal;
  report_at_ = std::min(report_at_, now + options_.report_every);
}

void consumer_core::happened(const consumer_event::finished_ordinal& e, time_point now, actions&) {
  finished_ordinals_.insert(e.ordinal);
  report_at_ = std::min(report_at_, now + options_.report_every);
}

void consumer_core::report(time_point now, actions& out) {
  progress_request r{
      .iteration = options_.iteration, .consumer = options_.consumer, .done = {}, .open = {}, .done_ordinals = {}};
  r.done.assign(finished_.begin(), finished_.end());
  r.done_ordinals.assign(finished_ordinals_.begin(), finished_ordinals_.end());
  r.done_below = std::exchange(finished_below_, 0);
  r.incarnation = options_.incarnation;
  if (!empty_.empty()) r.empty.emplace(empty_.begin(), empty_.end());
  finished_.clear();
  empty_.clear();
  finished_ordinals_.clear();
  for (const auto& [split, offset] : open_) {
    r.open.push_back({split, offset});
    const auto w = waits_.find(split);
    if (w != waits_.end()) r.open.back().waited_ms = milliseconds_of(now - w->second.since);
  }
  ask(progress_, std::move(r), now, out);
}

void consumer_core::happened(const consumer_event::close&, time_point now, actions& out) {
  is_closing_ = true;
  split_ = {};
  if (!progress_.request) report(now, out);
}

void consumer_core::happened(const consumer_event::woken&, time_point now, actions& out) {
  for (line* l : {&split_, &progress_, &close_}) expire(*l, now, out);
  watch(now, out);
  if (!is_over_ && !progress_.request && !is_closing_ && now >= report_at_) report(now, out);
}

void consumer_core::fail(const status& why, actions& out) {
  is_over_ = true;
  out.push_back({consumer_action::fail{why}});
}

}  // namespace sluice::lib
