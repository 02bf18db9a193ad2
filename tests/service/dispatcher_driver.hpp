// SPDX-License-Identifier: Apache-2.0
// A dispatcher's core for tests: calls go in, and answers, commits and listings are collected.
#pragma once

#include <absl/strings/str_cat.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/core/dispatcher_core.hpp"

namespace sluice::lib::dispatcher_core_test {

/// A dispatcher whose store answers at once, or when the test says so.
struct driver {
  explicit driver(dispatcher_options o = {}, std::map<std::string, meta_entry> stored = {}) : store(std::move(stored)) {
    if (o.token.empty()) o.token = "a";
    core = std::make_unique<dispatcher_core>(std::move(o));
    step({dispatcher_event::woken{}});
  }

  void step(dispatcher_event e) {
    std::vector<dispatcher_action> actions;
    core->step(std::move(e), now, actions);
    for (dispatcher_action& a : actions) {
      if (auto* x = std::get_if<dispatcher_action::answer>(&a.what)) answers.insert_or_assign(x->call, x->reply);
      if (auto* x = std::get_if<dispatcher_action::list_splits>(&a.what)) lists.push_back(*x);
      if (auto* x = std::get_if<dispatcher_action::stop>(&a.what)) stopped = x->why;
      if (auto* x = std::get_if<dispatcher_action::commit>(&a.what)) {
        if (holds_commits) commits.push_back(*x);
        else commit(*x);
      }
      if (auto* x = std::get_if<dispatcher_action::list_store>(&a.what)) {
        dispatcher_event::store_listed listed{x->prefix, {}, {}};
        for (const auto& [key, entry] : store)
          if (key.starts_with(x->prefix)) listed.entries.push_back(entry);
        entries_listed += listed.entries.size();
        step({std::move(listed)});
      }
    }
  }
  void commit(const dispatcher_action::commit& c) {
    ++revision;
    for (const meta_write& w : c.writes) {
      bytes_written += w.value ? w.value->size() : 0;
      if (w.value) store[w.key] = meta_entry(w.key, *w.value, revision);
      else store.erase(w.key);
    }
    step({dispatcher_event::commit_ended{c.id, {}, revision}});
  }
  void commit_held() {
    for (const auto& c : std::exchange(commits, {})) commit(c);
  }
  void listed(const std::vector<std::string>& payloads, bool is_last = true) {
    const auto list = lists.back();
    step({dispatcher_event::splits_listed{list.iteration, list.round, {}, payloads, is_last}});
  }

  template <class Request> std::uint64_t send(Request r) {
    step({dispatcher_event::call{++calls, std::move(r)}});
    return calls;
  }
  template <class Request> result<reply_of<Request>> ask(Request r) { return reply<Request>(send(std::move(r))); }
  template <class Request> result<reply_of<Request>> reply(std::uint64_t call) {
    const auto found = answers.find(call);
    if (found == answers.end()) return unknown_error("no answer");
    if (!found->second.ok()) return found->second.why();
    return std::get<reply_of<Request>>(*found->second);
  }
  template <class Request> std::string refusal(Request r) {
    const auto got = ask(std::move(r));
    return got.ok() ? "accepted" : got.why().to_string();
  }

  std::string open(const std::string& consumer, const std::string& job = "j", sharding mode = sharding::dynamic) {
    dataset_info info;
    info.plan = "range(9)";
    info.fingerprint = "f00d";
    (void)ask(register_dataset_request{"numbers", info});
    return ask(request(consumer, job, mode)).value().iteration;
  }
  static open_job_request request(const std::string& consumer, const std::string& job = "j",
                                  sharding mode = sharding::dynamic) {
    open_job_request r;
    r.job = job;
    r.dataset = "numbers";
    r.consumer = consumer;
    r.mode = mode;
    return r;
  }
  void beat(const std::string& worker, std::vector<std::string> tags = {}, const std::string& host = "") {
    (void)ask(heartbeat_request{.worker = worker, .host = host, .tags = std::move(tags), .reads = {}});
  }

  std::unique_ptr<dispatcher_core> core;
  time_point now = time_point(std::chrono::hours(1));
  std::map<std::string, meta_entry> store;
  std::map<std::uint64_t, result<service_reply>> answers;
  std::vector<dispatcher_action::commit> commits;
  std::vector<dispatcher_action::list_splits> lists;
  status stopped;
  std::uint64_t revision = 1000, calls = 0, bytes_written = 0, entries_listed = 0;
  bool holds_commits = false;
};

}  // namespace sluice::lib::dispatcher_core_test
