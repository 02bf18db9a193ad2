// SPDX-License-Identifier: Apache-2.0
#include "service/core/dispatcher_core.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

namespace sluice::lib {

namespace {

bool denies_something(const result<service_reply>& reply) {
  if (!reply.ok())
    return reply.why().code() != status_code::invalid_argument && reply.why().code() != status_code::unavailable;
  const auto* progress = std::get_if<progress_reply>(&*reply);
  return (progress && !progress->released.empty()) || std::holds_alternative<close_consumer_reply>(*reply);
}

}  // namespace

dispatcher_core::dispatcher_core(dispatcher_options o)
    : options_(std::move(o)),
      log_({.token = options_.token,
            .commit_bytes = options_.commit_bytes,
            .retry_after = options_.store_retry,
            .check_every = options_.store_check}),
      workers_(options_.worker_lease) {}

void dispatcher_core::step(dispatcher_event event, time_point now, actions& out) {
  now = last_now_ = std::max(now, last_now_);  // a clock that goes back stands still here
  std::visit([&](auto& e) { happened(e, now, out); }, event.what);
  for (const std::string& id : log_.bulk_done()) {
    const auto found = iterations_.find(id);
    if (found == iterations_.end() || !found->second->storing) continue;
    iteration& it = *found->second;
    it.splits.add(*std::exchange(it.storing, std::nullopt), log_.writes());
    it.is_listing = false;
    serve_waiting(it, now);
  }
  for (auto& [call, reply] : std::exchange(answers_, {})) {
    const bool denies = denies_something(reply);
    log_.answer(call, std::move(reply), denies, out);
  }
  for (dispatcher_action& list : std::exchange(lists_, {})) out.push_back(std::move(list));
  log_.flush(now, out);
  if (log_.state() == commit_log::phase::loading && !is_loading_ && now >= retry_load_) {
    is_loading_ = true;
    out.push_back({dispatcher_action::list_store{"/"}});
  }
  wake_by(log_.wake());
  if (next_wake_ != asked_wake_ && next_wake_ != time_point::max()) {
    asked_wake_ = next_wake_;
    out.push_back({dispatcher_action::wake_at{next_wake_}});
  }
}

void dispatcher_core::happened(dispatcher_event::woken, time_point now, actions&) {
  if (now < next_wake_) return;
  next_wake_ = asked_wake_ = time_point::max();
  if (is_leading()) expire(now);
}

void dispatcher_core::happened(dispatcher_event::call& e, time_point now, actions& out) {
  if (log_.state() == commit_log::phase::stopped) return log_.answer(e.id, internal_error("stopped"), false, out);
  if (!is_leading()) return early_.push_back(std::move(e));
  maybe_answer reply = std::visit([&](auto& request) { return serve(e.id, request, now); }, e.request);
  if (!reply) return;
  // These two promise nothing, and must also be answered while the store fails.
  if (std::holds_alternative<status_request>(e.request) || std::holds_alternative<heartbeat_request>(e.request))
    out.push_back({dispatcher_action::answer{e.id, std::move(*reply)}});
  else answers_.emplace_back(e.id, std::move(*reply));
}

void dispatcher_core::happened(const dispatcher_event::call_dropped& e, time_point, actions&) {
  std::erase_if(early_, [&](const auto& c) { return c.id == e.id; });
  std::erase_if(waiting_places_, [&](const held_place& h) { return h.call == e.id; });
  for (auto& [id, it] : iterations_) std::erase_if(it->waiting, [&](const held_split& h) { return h.call == e.id; });
}

void dispatcher_core::happened(dispatcher_event::store_listed& e, time_point now, actions& out) {
  if (e.prefix == kEpochKey) return log_.epoch_read(e, now, out);
  if (!is_loading_ || is_leading()) return;
  is_loading_ = false;
  if (!e.why.ok()) {
    retry_load_ = now + options_.store_retry;
    wake_by(retry_load_);
    for (const auto& c : std::exchange(early_, {})) {
      const std::string why = absl::StrCat("the dispatcher cannot read its store: ", e.why.to_string());
      out.push_back({dispatcher_action::answer{c.id, unavailable_error(why)}});
    }
    return;
  }
  if (status damaged = load(e.entries, now); !damaged.ok()) {
    log_.stop(damaged, out);
  } else {
    log_.lead(now);
    expire(now);
  }
  for (auto& c : std::exchange(early_, {})) happened(c, now, out);
}

void dispatcher_core::happened(const dispatcher_event::commit_ended& e, time_point now, actions& out) {
  log_.commit_ended(e, now, out);
}

void dispatcher_core::happened(dispatcher_event::splits_listed& e, time_point now, actions&) {
  const auto found = iterations_.find(e.iteration);
  if (found == iterations_.end() || !found->second->is_listing || found->second->storing) return;
  iteration& it = *found->second;
  if (e.round != it.record.opened.first_round + it.splits.rounds()) return;
  it.is_endless = e.is_endless;
  if (!e.why.ok()) {
    it.is_listing = false;
    for (const held_split& h : std::exchange(it.waiting, {})) answers_.emplace_back(h.call, e.why);
    return;
  }
  // A repeat of nothing has no end; nothing is what it yields.
  const bool is_empty = e.payloads.empty() && it.splits.listed() == 0;
  add_round(it, e.round, e.payloads, e.is_last || is_empty);
  serve_waiting(it, now);
}

/// Ends what has waited for long enough, and asks to be woken for the rest.
void dispatcher_core::expire(time_point now) {
  const auto due = [&](time_point when) {
    if (when > now) wake_by(when);
    return when <= now;
  };
  std::erase_if(waiting_places_, [&](const held_place& h) {
    if (!due(h.until)) return false;
    place_reply wait{.kind = place_answer::wait, .worker = {}, .dispatcher_epoch = epoch()};
    const auto it = iterations_.find(h.request.iteration);
    split_consumer* c = it == iterations_.end() ? nullptr : it->second->splits.consumer(h.request.consumer);
    if (c && h.request.split < it->second->splits.listed())
      wait.why = workers_.why_none(wish_for(*it->second, *c, h.request.split), now);
    answers_.emplace_back(h.call, service_reply(std::move(wait)));
    return true;
  });
  workers_.forget(options_.forget_worker, now);
  std::vector<iteration*> finished;
  std::vector<std::pair<std::string, std::string>> silent;
  for (auto& [id, it] : iterations_) {
    std::erase_if(it->waiting, [&](const held_split& h) {
      if (!due(h.until)) return false;
      next_split_reply wait;
      wait.dispatcher_epoch = epoch();
      explain_wait(*it, h.request.consumer, now, wait);
      answers_.emplace_back(h.call, service_reply(std::move(wait)));
      return true;
    });
    for (split_consumer* c : it->splits.consumers())
      if (c->record.silence_max_ms && !c->record.is_closed &&
          due(c->last_seen + std::chrono::milliseconds(*c->record.silence_max_ms)))
        silent.emplace_back(id, c->name);
    if (it->record.is_removed) continue;
    if (is_done(*it) && !it->finished_at) it->finished_at = now;
    const bool is_over =
        it->finished_at && options_.remove_finished && due(*it->finished_at + *options_.remove_finished);
    const bool is_idle = options_.remove_idle && due(it->last_call + *options_.remove_idle);
    if (is_over || is_idle) finished.push_back(it.get());
  }
  for (iteration* it : finished) remove(*it);
  for (const auto& [id, name] : silent) {
    const auto it = iterations_.find(id);
    split_consumer* c = it == iterations_.end() ? nullptr : it->second->splits.consumer(name);
    if (c) close(*it->second, *c, now);
  }
}

result<dispatcher_core::iteration*> dispatcher_core::find(const std::string& id, time_point now) {
  const auto found = iterations_.find(id);
  if (found == iterations_.end())
    return not_found_error(
        absl::StrCat("the dispatcher has no iteration '", id, "': its job has ended, or was removed"));
  iteration& it = *found->second;
  if (it.record.is_removed)
    return failed_precondition_error(
        absl::StrCat("iteration ", it.record.opened.iteration, " of job '", it.record.opened.job,
                     "' has finished, and its splits were removed. Use another iteration or job, "
                     "or let the dispatcher keep finished iterations for longer"));
  it.last_call = now;
  return &it;
}

status dispatcher_core::replaced_error(const iteration& it, const split_consumer& c) {
  return status(
      status_code::aborted,
      absl::StrCat("consumer '", c.name, "' of job '", it.record.opened.job, "' is in use by another live consumer",
                   c.host.empty() ? "" : " on " + c.host,
                   ", which has begun after this one: both would get the same splits. Give each consumer of a "
                   "job a name of its own, such as consumer=\"rank0\", or stop one of them"));
}

status dispatcher_core::start_consumer(const iteration& it, split_consumer& c, const open_job_request& r) {
  constexpr int kStartBits = 32;  // of an epoch; a restart loses the count, and has a greater epoch
  if (!r.incarnation || c.incarnation == *r.incarnation) return {};
  // A call that arrives late must not make an earlier start the last one.
  if (std::find(c.earlier.begin(), c.earlier.end(), *r.incarnation) != c.earlier.end()) return replaced_error(it, c);
  constexpr std::size_t kEarlierMax = 16;
  if (c.incarnation != 0) c.earlier.push_back(c.incarnation);
  if (c.earlier.size() > kEarlierMax) c.earlier.erase(c.earlier.begin());
  c.incarnation = *r.incarnation;
  c.start = (epoch() << kStartBits) + ++starts_made_;
  c.host = r.host;
  return {};
}

result<split_consumer*> dispatcher_core::consumer_of(iteration& it, const std::string& name,
                                                     const std::optional<std::uint64_t>& incarnation, time_point now) {
  split_consumer* c = it.splits.consumer(name);
  if (!c) return not_found_error(absl::StrCat("consumer '", name, "' has not opened iteration '", it.id, "'"));
  if (c->record.is_closed) {
    const std::string limit = c->record.silence_max_ms
                                  ? absl::StrCat(", or was silent for more than ", *c->record.silence_max_ms, " ms")
                                  : "";
    return status(status_code::aborted, absl::StrCat("consumer '", name, "' was closed", limit,
                                                     ": other consumers read its splits. Resume under another name"));
  }
  if (incarnation && c->incarnation != 0 && *incarnation != c->incarnation) return replaced_error(it, *c);
  c->last_seen = now;
  return c;
}

std::string dispatcher_core::iteration_name(const open_job_request& r) {
  const bool is_named = !r.job.empty();
  return absl::StrCat(is_named ? "job " : "consumer ", is_named ? r.job : r.consumer, " ", r.stream, " ", r.iteration);
}

bool dispatcher_core::is_done(const iteration& it) const {
  return it.splits.is_all_listed() && it.splits.done() == it.splits.listed();
}

}  // namespace sluice::lib
