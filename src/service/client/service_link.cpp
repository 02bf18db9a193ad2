// SPDX-License-Identifier: Apache-2.0
#include "service/client/service_link.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {
namespace {

template <class Request> result<service_reply> read_reply(std::string_view text) {
  auto reply = from_json<reply_of<Request>>(text);
  if (!reply.ok()) return reply.why();
  return service_reply(*std::move(reply));
}

std::string patience_text(duration patience) {
  if (patience == duration()) return "; patience=30s would give up after that time";
  return absl::StrCat("; patience=", std::chrono::duration_cast<std::chrono::milliseconds>(patience).count(),
                      "ms gives up");
}

}  // namespace

service_link::service_link(std::shared_ptr<message_transport> transport, std::string dispatcher, duration patience)
    : transport_(std::move(transport)), dispatcher_(transport_->connect(std::move(dispatcher))), patience_(patience) {}

std::shared_ptr<message_channel> service_link::worker(const std::string& address) {
  mutex_lock lock(mutex_);
  std::shared_ptr<message_channel>& known = workers_[address];
  if (!known) known = transport_->connect(address);
  return known;
}

task<result<std::string>> service_link::send(std::string method, std::string request) {
  environment* env = co_await this_environment();
  auto calling = dispatcher_->call(std::move(method), std::move(request), env->time->now() + kCallTime);
  result<std::string> answer = co_await calling;
  co_return answer;
}

task<result<service_reply>> service_link::ask_any_once(service_request request) {
  std::string method, text;
  result<service_reply> (*read)(std::string_view) = nullptr;
  std::visit(
      [&]<class Request>(const Request& r) {
        method = method_of<Request>;
        text = to_json(r);
        read = read_reply<Request>;
      },
      request);
  auto asking = send(std::move(method), std::move(text));
  result<std::string> answer = co_await asking;
  if (!answer.ok()) co_return answer.why();
  co_return read(*answer);
}

task<result<std::string>> service_link::ask_text(std::string method, std::string request) {
  environment* env = co_await this_environment();
  const time_point began = env->time->now();
  duration pause = kPauseMin;
  for (int attempt = 1;; ++attempt) {
    auto calling = send(method, request);
    result<result<std::string>> answer = co_await calling.as_result();
    const status why = answer.ok() ? answer->why() : answer.why();
    if (why.ok()) co_return *std::move(answer);
    const bool may_help = why.code() == status_code::unavailable || why.code() == status_code::deadline_exceeded;
    if (!may_help) co_return why;
    const duration waited = env->time->now() - began;
    if (patience_ != duration() && waited + pause > patience_)
      co_return why.with_message(absl::StrCat("dispatcher ", dispatcher(),
                                              answer.ok() ? " refused " : " was not reached in ", attempt,
                                              " attempts of ", method, ": ", std::string(why.message())));
    if (waited >= kSilent && env->run)
      env->run->warn(absl::StrCat("distribute: dispatcher ", dispatcher(),
                                  answer.ok() ? " refuses a call" : " does not answer",
                                  "; it is called again: ", std::string(why.message()), patience_text(patience_)));
    sleep_for resting(pause);
    co_await resting;
    pause = std::min(2 * pause, kPauseMax);
  }
}

}  // namespace sluice::lib
