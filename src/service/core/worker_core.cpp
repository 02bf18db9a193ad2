// SPDX-License-Identifier: Apache-2.0
#include "service/core/worker_core.hpp"

#include <absl/strings/str_cat.h>

#include <utility>

namespace sluice::lib {

void worker_core::step(worker_event event, time_point now, actions& out) {
  std::visit([&](const auto& e) { happened(e, now, out); }, event.what);
  if (is_draining_ && !is_drained_ && reads_.empty()) {
    is_drained_ = true;
    out.push_back({worker_action::drained{}});
  }
  if (due_ != asked_) out.push_back({worker_action::wake_at{asked_ = due_}});
}

void worker_core::beat(time_point now, actions& out) {
  heartbeat_request r{
      options_.address, options_.incarnation, options_.host, options_.tags, options_.slots, is_draining_, {},
      options_.process};
  for (const auto& [key, read] : reads_) {
    const auto& [iteration, split, consumer] = key;
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - read.since).count();
    r.reads.push_back(
        {iteration, split, consumer, read.incarnation, read.attempt, read.offset, static_cast<std::uint64_t>(age)});
  }
  is_calling_ = true;
  due_ = now + options_.call_timeout;
  out.push_back({worker_action::heartbeat{std::move(r)}});
}

void worker_core::happened(worker_event::woken, time_point now, actions& out) {
  if (now >= due_) beat(now, out);
}

void worker_core::happened(const worker_event::heartbeat_replied& e, time_point now, actions& out) {
  if (!std::exchange(is_calling_, false)) return;
  due_ = now + options_.heartbeat;
  if (!e.reply.ok() || e.reply->dispatcher_epoch < epoch_) return;
  epoch_ = e.reply->dispatcher_epoch;
  for (const read_name& name : e.reply->cancel) {
    const auto found = reads_.find(read_key(name.iteration, name.split, name.consumer));
    if (found != reads_.end())
      out.push_back(
          {worker_action::cancel{found->second.stream, cancelled_error("the dispatcher has no use for this read")}});
  }
}

void worker_core::happened(const worker_event::opened& e, time_point now, actions& out) {
  const read_request& r = e.request;
  if (is_draining_)
    return out.push_back(
        {worker_action::refuse{e.stream, unavailable_error(absl::StrCat("worker ", options_.address, " drains"))}});
  const read_key key(r.iteration, r.split, r.consumer);
  if (const auto found = reads_.find(key); found != reads_.end()) {
    if (found->second.incarnation == r.incarnation && found->second.attempt > r.attempt)
      return out.push_back(
          {worker_action::refuse{e.stream, status(status_code::aborted, absl::StrCat("attempt ", found->second.attempt,
                                                                                     " of this read runs already"))}});
    // Two live consumers may have one name. The later one keeps its read, because with at_most_once nobody would read the
    // rest of a split whose read was ended. The dispatcher refuses the next call of the earlier one.
    const bool is_other = found->second.incarnation != r.incarnation;
    if (is_other && r.start && found->second.start > *r.start)
      return out.push_back({worker_action::refuse{
          e.stream, unavailable_error(absl::StrCat("a later consumer '", r.consumer, "' reads this split"))}});
    out.push_back({worker_action::cancel{
        found->second.stream,
        is_other ? unavailable_error(absl::StrCat("another consumer '", r.consumer, "' has opened this read"))
                 : status(status_code::aborted, "the consumer has opened this read again")}});
    streams_.erase(found->second.stream);
  }
  reads_[key] = {e.stream, r.incarnation, r.attempt, r.offset, r.start.value_or(0), now};
  streams_[e.stream] = key;
  out.push_back({worker_action::start{e.stream}});
}

void worker_core::happened(const worker_event::moved& e, time_point, actions&) {
  if (const auto found = streams_.find(e.stream); found != streams_.end()) reads_[found->second].offset = e.offset;
}

void worker_core::happened(const worker_event::ended& e, time_point, actions&) {
  const auto found = streams_.find(e.stream);
  if (found == streams_.end()) return;
  reads_.erase(found->second);
  streams_.erase(found);
}

void worker_core::happened(worker_event::drain, time_point now, actions& out) {
  is_draining_ = true;
  beat(now, out);  // so that the dispatcher places nothing here
}

}  // namespace sluice::lib
