// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_call.hpp"

#include <algorithm>

#include "io/http/connections/stall_window.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/http/messages/placed_request.hpp"
#include "io/http/messages/request_secrets.hpp"

namespace sluice::lib::detail {
namespace {

/// The largest number of consecutive attempts without a wait.
constexpr int kAtOnceMax = 3;

struct call_attempt {
  http_answer answer;
  http_failure failed;
};

bool is_success(const response_head& head) { return head.code >= 200 && head.code < 300; }

task<std::string> whole_body(http_exchange& from, http_context& context, std::size_t bytes_max, time_point deadline) {
  std::string text;
  if (!from.ended() && from.head().length && *from.head().length > bytes_max)
    co_await fail(data_loss_error(
        joined("the answer has ", *from.head().length, " bytes, of which at most ", bytes_max, " are expected")));
  stall_window alive(context, deadline);
  for (;;) {
    constexpr std::size_t kPiece = 64 << 10;
    const std::size_t had = text.size();
    text.resize(had + std::min(kPiece, bytes_max + 1 - had));
    auto reading = from.read_body(std::span<char>(text.data() + had, text.size() - had), alive.until());
    const std::size_t n = co_await reading;
    text.resize(had + n);
    if (n == 0) co_return text;
    alive.moved(n);
    if (text.size() > bytes_max)
      co_await fail(data_loss_error(joined("the answer has more than ", bytes_max, " bytes")));
  }
}

task<call_attempt> try_once(http_servers& servers, object_service* service, http_request request,
                            const call_options& how, time_point deadline) {
  call_attempt a;
  http_context& context = servers.context();
  auto placing = place_request(servers, service, std::move(request), how.is_limited, deadline);
  auto placed = co_await placing.as_result();
  if (!placed.ok()) {
    a.failed.why = placed.why();
    co_return a;
  }
  const http_request& sent = placed->request;
  http_origin& server = *placed->server;
  auto asking = server.ask(sent.message(), deadline);
  auto got = co_await asking.as_result();
  if (!got.ok()) {
    a.failed = failure_from(without_secrets(got.why(), sent), context, deadline);
    a.failed.is_unreached = server.is_unreached(a.failed);
    if (service && a.failed.again) service->unanswered(sent);
    co_return a;
  }
  std::unique_ptr<http_exchange> one = *std::move(got);
  a.answer.head = one->head();
  const bool is_answer = how.is_answer ? how.is_answer(one->head()) : is_success(one->head());
  if (is_answer) {
    auto reading = whole_body(*one, context, how.answer_bytes_max, deadline);
    auto body = co_await reading.as_result();
    if (!body.ok()) a.failed = failure_from(body.why(), context, deadline);
    else a.answer.body = *std::move(body);
    if (a.failed.why.ok() && how.check) a.failed = how.check(a.answer).value_or(http_failure());
  } else {
    auto reading = error_body(*one, context, deadline);
    std::string body = co_await reading;
    body = without_secrets(body, sent);
    auto explained = service ? service->explain(sent, one->head(), body) : std::nullopt;
    a.failed = explained ? *std::move(explained) : failure_of(one->head(), body);
  }
  a.failed.why = without_secrets(std::move(a.failed.why), sent);
  if (a.failed.request_id.empty()) a.failed.request_id = a.answer.head.request_id;
  if (a.failed.throttled && how.is_limited) server.limit.throttled(placed->permit);
  co_return a;
}

}  // namespace

task<http_answer> http_call(std::shared_ptr<http_servers> servers, std::shared_ptr<object_service> service,
                            http_request request, call_options how) {
  http_context& context = servers->context();
  const std::uint32_t attempts = how.attempts_max ? how.attempts_max : context.options.attempts_max;
  retry_state retry(context.budget, attempts, context.next_seed(), context.time.now());
  for (int at_once = 0;;) {
    time_point until = how.deadline;
    if (how.answer_time.count() != 0) until = std::min(until, context.time.now() + how.answer_time);
    auto trying = try_once(*servers, service.get(), request, how, until);
    call_attempt a = co_await trying;
    if (a.failed.why.ok()) {
      context.budget.earn();
      co_return std::move(a.answer);
    }
    if (a.failed.at_once && at_once++ < kAtOnceMax) continue;
    if (until < how.deadline && a.failed.why.code() == status_code::deadline_exceeded) {
      a.failed.why = unavailable_error(joined("no answer in time: ", a.failed.why.message()));
      a.failed.again = a.failed.stalled = true;
    }
    auto waiting = wait_for_next(context, retry, std::move(a.failed), how.of, how.deadline);
    co_await waiting;
  }
}

}  // namespace sluice::lib::detail
