// SPDX-License-Identifier: Apache-2.0
#include "service/core/commit_log.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>

namespace sluice::lib {
status commit_log::take_over(const meta_entry* epoch) {
  epoch_ = version_ = 0;
  if (epoch) {
    auto record = from_json<epoch_record>(epoch->value);
    if (!record.ok())
      return data_loss_error(absl::StrCat("the dispatcher's store is damaged: ", std::string(record.why().message())));
    epoch_ = record->epoch;
    version_ = epoch->version;
  }
  ++epoch_;
  is_in_flight_ = false;
  takes_over_ = true;
  phase_ = phase::taking_over;
  return {};
}

void commit_log::add_bulk(std::string tag, std::vector<std::pair<std::string, std::string>> writes) {
  for (std::size_t i = 0; i < writes.size(); ++i)
    bulk_.push_back({i + 1 == writes.size() ? tag : "", std::move(writes[i].first), std::move(writes[i].second)});
  if (writes.empty()) bulk_done_.push_back(std::move(tag));
}

void commit_log::answer(std::uint64_t call, result<service_reply> reply, bool denies,
                        std::vector<dispatcher_action>& out) {
  if (phase_ == phase::stopped) {
    out.push_back({dispatcher_action::answer{call, stopped_}});
  } else if (denies || !pending_.empty()) {
    must_commit_ = must_commit_ || denies;
    pending_answers_.push_back({call, std::move(reply)});
  } else if (is_in_flight_) {
    answers_in_flight_.push_back({call, std::move(reply)});
  } else {
    out.push_back({dispatcher_action::answer{call, std::move(reply)}});
  }
}

void commit_log::begin(std::vector<dispatcher_action>& out) {
  is_in_flight_ = true;
  takes_over_ = must_commit_ = false;
  in_flight_ = std::exchange(pending_, {});
  answers_in_flight_ = std::exchange(pending_answers_, {});
  for (std::size_t bytes = 0;
       !bulk_.empty() && (bytes == 0 || bytes + bulk_.front().value.size() <= options_.commit_bytes);) {
    bytes += bulk_.front().value.size() + 1;
    bulk_in_flight_.push_back(std::move(bulk_.front()));
    bulk_.pop_front();
  }
  dispatcher_action::commit c{.id = ++tries_, .guards = {meta_guard(std::string(kEpochKey), version_)}, .writes = {}};
  c.writes.push_back(meta_write::put(std::string(kEpochKey), to_json(epoch_record{epoch_, options_.token, tries_})));
  for (const auto& [key, value] : in_flight_) c.writes.emplace_back(key, value);
  for (const bulk_write& w : bulk_in_flight_) c.writes.push_back(meta_write::put(w.key, w.value));
  out.push_back({std::move(c)});
}

void commit_log::happened(std::uint64_t version, std::vector<dispatcher_action>& out) {
  version_ = version;
  ++commits_;
  is_in_flight_ = false;
  last_error_ = {};
  if (phase_ == phase::taking_over) phase_ = phase::loading;
  in_flight_.clear();
  for (bulk_write& w : std::exchange(bulk_in_flight_, {}))
    if (!w.tag.empty()) bulk_done_.push_back(std::move(w.tag));
  for (reply_to& a : std::exchange(answers_in_flight_, {}))
    out.push_back({dispatcher_action::answer{a.call, std::move(a.reply)}});
}

void commit_log::put_back() {
  is_in_flight_ = false;
  if (phase_ == phase::taking_over) takes_over_ = true;
  pending_.insert(in_flight_.begin(), in_flight_.end());  // a later write of the same key stays
  in_flight_.clear();
  pending_answers_.insert(pending_answers_.begin(), std::make_move_iterator(answers_in_flight_.begin()),
                          std::make_move_iterator(answers_in_flight_.end()));
  answers_in_flight_.clear();
  must_commit_ = !pending_answers_.empty();
  while (!bulk_in_flight_.empty()) {
    bulk_.push_front(std::move(bulk_in_flight_.back()));
    bulk_in_flight_.pop_back();
  }
}

void commit_log::fail_answers(std::vector<reply_to>& answers, const status& why, std::vector<dispatcher_action>& out) {
  for (reply_to& a : std::exchange(answers, {})) out.push_back({dispatcher_action::answer{a.call, why}});
}

void commit_log::stop(const status& why, std::vector<dispatcher_action>& out) {
  phase_ = phase::stopped;
  // Callers repeat an unavailable call, and then reach the dispatcher that has taken over.
  stopped_ = unavailable_error(why.message());
  is_in_flight_ = must_read_ = false;
  retry_at_.reset();
  fail_answers(answers_in_flight_, stopped_, out);
  fail_answers(pending_answers_, stopped_, out);
  out.push_back({dispatcher_action::stop{why}});
}

void commit_log::commit_ended(const dispatcher_event::commit_ended& e, time_point now,
                              std::vector<dispatcher_action>& out) {
  if (!is_in_flight_ || must_read_ || is_reading_ || e.id != tries_) return;
  if (e.why.ok() && e.revision) return happened(e.revision, out);
  must_read_ = true;
  if (e.why.ok()) return;  // the guard did not hold: flush() reads at once
  last_error_ = e.why;
  retry_at_ = now + options_.retry_after;
  fail_answers(answers_in_flight_,
               unavailable_error(absl::StrCat("the dispatcher cannot write to its store: ", e.why.to_string())), out);
}

void commit_log::epoch_read(const dispatcher_event::store_listed& e, time_point now,
                            std::vector<dispatcher_action>& out) {
  if (!is_reading_) return;
  is_reading_ = false;
  if (!e.why.ok()) {
    last_error_ = e.why;
    retry_at_ = now + options_.retry_after;
    return;
  }
  must_read_ = false;
  const meta_entry* entry = nullptr;
  for (const meta_entry& x : e.entries)
    if (x.key == kEpochKey) entry = &x;
  if (is_in_flight_ && (entry ? entry->version : 0) == version_) return put_back();
  if (phase_ == phase::leading && !is_in_flight_ && entry && entry->version == version_) return;  // nobody else leads
  auto record = entry ? from_json<epoch_record>(entry->value) : result<epoch_record>(status());
  if (is_in_flight_ && record.ok() && record->token == options_.token && record->epoch == epoch_) {
    if (record->tries == tries_) return happened(entry->version, out);
    // An earlier try happened late. Its writes are among those of this one, which did not happen.
    version_ = entry->version;
    return put_back();
  }
  if (phase_ == phase::leading || phase_ == phase::loading)
    return stop(failed_precondition_error(
                    "another dispatcher has taken over the store; give each dispatcher a store of its own"),
                out);
  if (status damaged = take_over(entry); !damaged.ok()) stop(damaged, out);
}

void commit_log::flush(time_point now, std::vector<dispatcher_action>& out) {
  if (retry_at_ && now < *retry_at_) return;
  retry_at_.reset();
  if (phase_ == phase::leading && now >= check_at_ && !is_in_flight_) {
    check_at_ = now + *options_.check_every;
    must_read_ = true;
  }
  if (phase_ != phase::stopped && must_read_ && !is_reading_) {
    is_reading_ = true;
    out.push_back({dispatcher_action::list_store{std::string(kEpochKey)}});
  }
  if (is_in_flight_ || must_read_) return;
  if (phase_ == phase::taking_over ? takes_over_
                                   : phase_ == phase::leading && (must_commit_ || !pending_.empty() || !bulk_.empty()))
    begin(out);
}

time_point commit_log::wake() const {
  const time_point check = phase_ == phase::leading && !is_in_flight_ ? check_at_ : time_point::max();
  return std::min(check, retry_at_.value_or(time_point::max()));
}

}  // namespace sluice::lib
