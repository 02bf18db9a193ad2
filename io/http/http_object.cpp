// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_object.hpp"

#include <algorithm>

#include "io/http/attempts.hpp"
#include "io/http/connections/stall_window.hpp"
#include "io/http/messages/dates.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/http/messages/placed_request.hpp"
#include "io/http/messages/redirect_check.hpp"
#include "io/http/messages/request_secrets.hpp"

namespace sluice::lib::detail {
namespace {

constexpr int kRedirectsMax = 5;

http_failure final_failure(status why) { return {.why = std::move(why)}; }

/// Returns the error of a lost connection to a server without ranges, which cannot send the rest.
status cannot_continue(const status& lost, const status& why) {
  return status(why.code(), joined(lost.message(), "; then, asked for the rest: ", why.message()));
}

/// Returns true if a redirect's target has failed. It may be valid for an hour only, and the object's own URL returns
/// the present one.
bool led_nowhere(status_code code) {
  return code == status_code::permission_denied || code == status_code::unauthenticated ||
         code == status_code::not_found;
}

}  // namespace

http_request http_object::request_for(const http_url& to, byte_range range) const {
  http_request r;
  r.to = to;
  r.set("Accept-Encoding", std::string(service_ ? service_->accepts_encoding() : "identity"));
  if (service_) {
    service_->ask_for_range(range, r);
    service_->ask_for_version(pin_, r);
  } else {
    r.set("Range", range.header());
    if (pin_.can_be_asked_for()) r.set("If-Match", pin_.version);
  }
  if (to.origin() == url_.origin())
    for (const auto& [name, value] : servers_->context().options.headers) r.fields.emplace_back(name, value);
  return r;
}

task<http_object::answer> http_object::look_at(const http_request& sent, std::unique_ptr<http_exchange> got,
                                               byte_range range, bool is_first, time_point deadline) {
  answer a;
  std::optional<response_head> as_range;
  if (service_) as_range = service_->as_range(got->head(), range, pin_);
  const response_head& head = as_range ? *as_range : got->head();
  std::optional<http_failure> wrong;
  if (head.is_success() && service_ && service_->answers_need_confirming()) {
    auto confirming = service_->confirm(pin_, deadline);
    status why = co_await confirming.as_result();
    if (!why.ok()) {
      a.failed = final_failure(std::move(why));
      co_return a;
    }
  }
  const bool has_range_end = head.code == 416 && (!is_first || head.range);
  if (head.is_success() || has_range_end) {
    check_options how;
    how.version = service_ ? service_->version_of(head) : head.version();
    how.may_be_encoded = service_ != nullptr;
    wrong = is_first ? check_first(head, range, pin_, how) : check_range(head, range, pin_, how);
  } else {
    auto reading = error_body(*got, servers_->context(), deadline);
    std::string body = co_await reading;
    body = without_secrets(body, sent);
    if (service_) wrong = service_->explain(sent, head, body);
    if (!wrong) wrong = failure_of(head, body);
  }
  if (wrong) {
    a.failed = *std::move(wrong);
    a.failed.why = without_secrets(std::move(a.failed.why), sent);
    if (a.failed.request_id.empty()) a.failed.request_id = head.request_id;
    co_return a;
  }
  const std::uint64_t last = std::min(range.last, pin_.has_size() ? pin_.size_bytes - 1 : range.last);
  if (head.code == 206) got->expect_body(last - range.first + 1);
  if (is_first && !head.last_modified.empty()) modified_ns_ = parse_http_date(head.last_modified).value_or(0);
  if (sends_crc32c()) keep_checksum(head);
  a.body = std::move(got);
  co_return a;
}

void http_object::keep_checksum(const response_head& head) {
  auto announced = service_->crc32c_of(head);
  mutex_lock lock(mutex_);
  if (announced) crc32c_ = announced;
}

void http_object::count_answer(const http_exchange& answered) {
  mutex_lock lock(mutex_);
  ++answered_.requests;
  answered_.first_byte += answered.answered_after();
}

std::optional<std::uint32_t> http_object::crc32c() const {
  mutex_lock lock(mutex_);
  return crc32c_;
}

void http_object::forget_redirect(const http_url& to) {
  mutex_lock lock(mutex_);
  if (now_at_ == to) now_at_ = url_;
}

task<http_object::answer> http_object::ask(byte_range range, bool is_first, time_point deadline) {
  answer a;
  http_url to;
  {
    mutex_lock lock(mutex_);
    to = now_at_;
  }
  bool is_remembered = to != url_;
  for (int redirects = 0; redirects <= kRedirectsMax; ++redirects) {
    a = answer();
    auto placing = place_request(*servers_, service_.get(), request_for(to, range), true, deadline);
    auto placed = co_await placing.as_result();
    if (!placed.ok()) {
      a.failed = final_failure(placed.why());
      co_return a;
    }
    const http_request request = std::move(placed->request);
    a.server = placed->server;
    a.permit = std::move(placed->permit);
    asked_.store(a.server, std::memory_order_relaxed);
    auto asking = a.server->ask(request.message(), deadline);
    auto got = co_await asking.as_result();
    if (!got.ok()) {
      a.failed = failure_from(without_secrets(got.why(), request), servers_->context(), deadline);
      a.failed.is_unreached = a.server->is_unreached(a.failed);
      if (service_ && a.failed.again) service_->unanswered(request);
      forget_redirect(to);
      co_return a;
    }
    std::unique_ptr<http_exchange> one = *std::move(got);
    count_answer(*one);
    if (service_ || !one->head().is_redirect()) {
      auto looking = look_at(request, std::move(one), range, is_first, deadline);
      answer seen = co_await looking;
      a.body = std::move(seen.body);
      a.failed = std::move(seen.failed);
      if (a.failed.at_once && redirects != kRedirectsMax) continue;
      const bool may_have_ended = is_remembered && !a.body && led_nowhere(a.failed.why.code());
      if (!a.body) forget_redirect(to);
      if (!may_have_ended) co_return a;
      is_remembered = false;
      to = url_;
      continue;
    }
    auto next = follow_redirect(to, one->head().location);
    status refused = next.ok() ? status() : without_secrets(next.why(), request);
    if (refused.ok()) {
      auto guarding = check_redirect(*servers_, to, *next, deadline);
      refused = co_await guarding;
    }
    if (!refused.ok()) {
      a.failed = final_failure(std::move(refused));
      co_return a;
    }
    to = *std::move(next);
    is_remembered = false;
    mutex_lock lock(mutex_);
    now_at_ = to;
  }
  a.failed = final_failure(failed_precondition_error("is redirected too often"));
  co_return a;
}

task<> http_object::again(retry_state& retry, http_failure failed, byte_range range, time_point deadline) {
  attempted of{path_, joined("bytes ", range.first, "-", range.last), range.first};
  return wait_for_next(servers_->context(), retry, std::move(failed), std::move(of), deadline);
}

task<std::unique_ptr<http_exchange>> http_object::open(std::uint64_t bytes, time_point deadline) {
  http_context& context = servers_->context();
  retry_state retry(context.budget, context.options.attempts_max, context.next_seed(), context.time.now());
  const byte_range range{0, std::max<std::uint64_t>(bytes, 1) - 1};
  for (;;) {
    pin_ = {};
    auto asking = ask(range, true, deadline);
    answer a = co_await asking;
    if (a.body) {
      context.budget.earn();
      if (pin_.size_bytes == 0) a.body.reset();
      if (bytes == 0 && a.body && a.body->head().code == 206) {
        // The connection can serve the next request once the byte is read. If that fails, it is closed.
        char byte = 0;
        auto reading = a.body->read_body(std::span<char>(&byte, 1), deadline);
        (void)co_await reading.as_result();
        a.body.reset();
      }
      co_return std::move(a.body);
    }
    a.let_go();
    auto waiting = again(retry, std::move(a.failed), range, deadline);
    co_await waiting;
  }
}

task<> http_object::receive(http_exchange& body, std::span<char> to, std::size_t& got, time_point deadline) {
  stall_window alive(servers_->context(), deadline);
  while (got != to.size()) {
    auto reading = body.read_body(to.subspan(got), alive.until());
    const std::size_t n = co_await reading;
    if (n == 0) break;
    got += n;
    alive.moved(n);
  }
}

task<> http_object::check_end(http_exchange& body, time_point deadline) {
  if (body.ended()) co_return;
  body.expect_body(~std::uint64_t{0});
  char behind = 0;
  auto reading = body.read_body(std::span<char>(&behind, 1), stall_window(servers_->context(), deadline).until());
  const std::size_t n = co_await reading;
  if (n != 0) co_await fail(data_loss_error("the body is longer than the range"));
}

task<> http_object::receive_range(http_exchange& body, bool is_exact, std::span<char> to, std::size_t& got,
                                  time_point deadline) {
  const std::size_t before = got;
  auto receiving = receive(body, to, got, deadline);
  co_await receiving;
  if (got != to.size())
    co_await fail(
        unavailable_error(joined("the body ended after ", got - before, " of ", to.size() - before, " bytes")));
  if (!is_exact) co_return;
  auto checking = check_end(body, deadline);
  co_await checking;
}

task<> http_object::read(std::uint64_t offset, std::span<char> to, std::unique_ptr<http_exchange>& body,
                         std::uint64_t asks_for, time_point deadline) {
  http_context& context = servers_->context();
  retry_state retry(context.budget, context.options.attempts_max, context.next_seed(), context.time.now());
  std::size_t got = 0;
  status lost;  // why this range is requested again
  while (got != to.size()) {
    const std::size_t before = got;
    answer a;
    http_failure& failed = a.failed;
    status received;
    if (body) {
      auto receiving = receive(*body, to, got, deadline);
      received = co_await receiving.as_result();
    } else {
      const std::uint64_t end = std::max<std::uint64_t>(offset + to.size(), offset + got + asks_for);
      const byte_range range{offset + got, std::min(end, pin_.size_bytes) - 1};
      auto asking = ask(range, false, deadline);
      a = co_await asking;
      body = std::move(a.body);
      if (body) {
        auto receiving = receive_range(*body, range.bytes() == to.size() - got, to, got, deadline);
        received = co_await receiving.as_result();
      }
    }
    (a.server ? *a.server : asked_last()).limit.received(got - before);
    if (got - before >= context.options.stall_bytes) retry.moved_on();
    if (!received.ok()) {
      failed = failure_from(std::move(received), context, deadline);
      failed.request_id = body->head().request_id;
    }
    if (failed.why.ok()) {
      context.budget.earn();
      if (body->ended() || got != to.size()) body.reset();
      continue;
    }
    body.reset();
    a.let_go();
    if (failed.again) lost = failed.why;
    else if (!lost.ok()) failed.why = cannot_continue(lost, failed.why);
    const byte_range left{offset + got, offset + to.size() - 1};
    auto waiting = again(retry, std::move(failed), left, deadline);
    co_await waiting;
  }
}

task<std::size_t> http_object::read_on(std::uint64_t offset, std::span<char> to, http_exchange& body,
                                       time_point deadline) {
  // Fewer bytes than the stall limit requires do not count as an answer, because a byte now and then would count
  // forever.
  const std::size_t least = std::min(to.size(), std::max<std::size_t>(1, servers_->context().options.stall_bytes));
  std::size_t got = 0;
  auto receiving = receive(body, to.first(least), got, deadline);
  status why = co_await receiving.as_result();
  if (why.ok()) co_return got;
  if (why.code() == status_code::cancelled) co_await fail(std::move(why));
  const std::string text = joined("the response of unknown length broke off: ", why.message());
  co_await fail(status(why.code(), text).in_file(path_, offset + got));
  co_return {};
}

}  // namespace sluice::lib::detail
