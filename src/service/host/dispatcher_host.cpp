// SPDX-License-Identifier: Apache-2.0
#include "service/host/dispatcher_host.hpp"

#include <absl/strings/str_cat.h>

#include <utility>
#include <variant>

#include "service/host/worker_plans.hpp"

namespace sluice::lib {

/// A call that has no answer yet. If its client is gone, the core forgets it.
class dispatcher_host::waiting_call {
 public:
  explicit waiting_call(dispatcher_host& host) : host_(host) {
    mutex_lock lock(host_.calls_mutex_);
    id_ = ++host_.calls_;
    host_.waiting_[id_] = answer_;
  }
  waiting_call(const waiting_call&) = delete;
  ~waiting_call() {
    bool is_dropped = false;
    {
      mutex_lock lock(host_.calls_mutex_);
      is_dropped = host_.waiting_.erase(id_) != 0;
    }
    if (is_dropped) host_.step({dispatcher_event::call_dropped{id_}});
  }
  std::uint64_t id() const { return id_; }
  waiter& reply() { return *answer_; }

 private:
  dispatcher_host& host_;
  std::uint64_t id_ = 0;
  std::shared_ptr<waiter> answer_ = std::make_shared<waiter>(channel_limits{.elements = 1});
};

dispatcher_host::dispatcher_host(std::shared_ptr<run_context> run, std::shared_ptr<meta_store> store,
                                 dispatcher_options options, std::function<void()> on_stopped)
    : core_loop(std::move(run), dispatcher_core(std::move(options))),
      store_(std::move(store)),
      on_stopped_(std::move(on_stopped)) {}

task<std::string> dispatcher_host::on_call(std::string method, std::string text) {
  result<service_request> request = request_from_json(method, text);
  if (!request.ok()) throw error(request.why());
  waiting_call mine(*this);
  step({dispatcher_event::call{mine.id(), *std::move(request)}});
  auto receiving = mine.reply().receive();
  std::optional<answer> reply = co_await receiving;
  if (!reply) throw error(unavailable_error("the dispatcher is being stopped"));
  if (!reply->ok()) throw error(reply->why());
  co_return reply_to_json(**reply);
}

task<> dispatcher_host::on_stream(std::string method, std::string, frame_writer&) {
  throw error(unimplemented_error(absl::StrCat("a dispatcher has no stream ", method, "; workers have read")));
  co_return;
}

status dispatcher_host::why_stopped() const {
  mutex_lock lock(calls_mutex_);
  return stopped_;
}

void dispatcher_host::perform(dispatcher_action& a) {
  if (auto* done_call = std::get_if<dispatcher_action::answer>(&a.what)) done(*done_call);
  else if (auto* listing = std::get_if<dispatcher_action::list_store>(&a.what))
    list(run_, shared_me(), std::move(listing->prefix));
  else if (auto* writing = std::get_if<dispatcher_action::commit>(&a.what))
    write(run_, shared_me(), std::move(*writing));
  else if (auto* splitting = std::get_if<dispatcher_action::list_splits>(&a.what))
    split(run_, shared_me(), std::move(*splitting));
  else if (auto* waking = std::get_if<dispatcher_action::wake_at>(&a.what))
    wake_at<dispatcher_event::woken>(waking->when);
  else if (auto* stopping = std::get_if<dispatcher_action::stop>(&a.what)) {
    {
      mutex_lock lock(calls_mutex_);
      stopped_ = stopping->why;
    }
    if (on_stopped_) on_stopped_();
  }
}

void dispatcher_host::done(dispatcher_action::answer& a) {
  std::shared_ptr<waiter> waits;
  {
    mutex_lock lock(calls_mutex_);
    const auto found = waiting_.find(a.call);
    if (found == waiting_.end()) return;
    waits = std::move(found->second);
    waiting_.erase(found);
  }
  waits->try_send(std::move(a.reply));
}

run_task dispatcher_host::list(std::shared_ptr<run_context>&, std::shared_ptr<dispatcher_host> shared,
                               std::string prefix) {
  auto me = std::move(shared);
  auto listing = me->store_->list(prefix);
  auto entries = co_await listing.as_result();
  dispatcher_event::store_listed event{.prefix = prefix, .why = {}, .entries = {}};
  if (entries.ok()) event.entries = *std::move(entries);
  else event.why = entries.why();
  me->step({std::move(event)});
}

run_task dispatcher_host::write(std::shared_ptr<run_context>&, std::shared_ptr<dispatcher_host> shared,
                                dispatcher_action::commit what) {
  auto me = std::move(shared);
  auto writing = me->store_->commit(std::move(what.guards), std::move(what.writes));
  auto revision = co_await writing.as_result();
  dispatcher_event::commit_ended event{.id = what.id, .why = {}, .revision = 0};
  if (revision.ok()) event.revision = revision->value_or(0);
  else event.why = revision.why();
  me->step({std::move(event)});
}

run_task dispatcher_host::split(std::shared_ptr<run_context>&, std::shared_ptr<dispatcher_host> shared,
                                dispatcher_action::list_splits what) {
  auto me = std::move(shared);
  dispatcher_event::splits_listed event{.iteration = what.iteration, .round = what.round, .why = {}, .payloads = {}};
  auto listing = list_round(what.info, what.round, *me->run_->rt);
  result<listed_payloads> round = co_await listing;
  if (round.ok()) {
    event.payloads = std::move(round->payloads);
    event.is_last = round->is_last;
    event.is_endless = round->is_endless;
  } else event.why = round.why();
  me->step({std::move(event)});
}

}  // namespace sluice::lib
