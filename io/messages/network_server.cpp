// SPDX-License-Identifier: Apache-2.0
#include "io/messages/network_server.hpp"

#include "absl/strings/str_cat.h"
#include "io/messages/credit_gate.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/stop_token.hpp"

namespace sluice::lib {
namespace {

constexpr duration kAcceptPause = std::chrono::milliseconds(20);
constexpr int kAcceptFailuresMax = 500;  // 10 seconds without descriptors, for example
/// The time that a client has to read why it is refused.
constexpr duration kRefusalTime = std::chrono::seconds(1);

std::string request_of(const message& m, std::size_t fixed_bytes) {
  return std::string(m.payload.view().substr(fixed_bytes + m.method.size()));
}

/// Runs a call and stops `one` at its end. An exception of any type is the answer.
task<> answer_call(message_handler& handler, message m, scope& one, result<std::string>& answer) {
  std::string method(m.method.view()), request = request_of(m, 0);
  try {
    answer = co_await handler.on_call(std::move(method), std::move(request));
  } catch (...) { answer = current_exception_status(); }
  one.request_stop();
}

/// Stops `one` if the client ends.
task<> watch_caller(message_source& source, scope& one, bool& is_gone) {
  auto watching = source.wait_for_bytes();
  auto any = co_await watching.as_result();
  if (any.ok() && *any) co_return;  // the next call, sent early
  if (!any.ok() && any.why().code() == status_code::cancelled) co_return;
  is_gone = true;
  one.request_stop();
}

/// The writer of one stream. Its queue is bounded by the credit alone.
class network_writer final : public frame_writer {
 public:
  network_writer(const environment& env, const stream_options& options)
      : gate(options.credit_bytes), env_(env), frame_bytes_max_(options.frame_bytes_max) {}
  task<> write(slice frame) override {
    const std::size_t bytes = frame.size();
    status wrong = check_frame(bytes, frame_bytes_max_);
    if (!wrong.ok()) co_await fail(std::move(wrong));
    bool open = co_await gate.take(credit_of(bytes));
    open = open && queue.try_send(std::move(frame));
    if (!open) co_await fail(cancelled_error("the client is gone"));
  }
  bool is_cancelled() const noexcept override { return env_.stop.stop_requested(); }
  void close() noexcept {
    gate.close();
    queue.discard();
  }

  credit_gate gate;
  channel<slice> queue{{.elements = ~std::size_t{0}}};

 private:
  const environment& env_;  ///< the handler's
  const std::size_t frame_bytes_max_;
};

task<> run_stream(message_handler& handler, message m, network_writer& out, status& end) {
  std::string method(m.method.view()), request = request_of(m, 16);
  try {
    co_await handler.on_stream(std::move(method), std::move(request), out);
  } catch (...) { end = current_exception_status(); }
  out.queue.close();
}

/// Writes the frames of the queue, and the end after it.
task<> send_frames(message_link& over, network_writer& out, const status& end) {
  std::vector<slice> frames;
  for (;;) {
    auto n = co_await out.queue.receive_n(frames, 256);
    if (n == 0) break;
    for (const slice& frame : frames) {
      auto putting = over.sink.put(message_kind::frame, status_code::ok, 0, std::string(), frame.view(), kNever);
      co_await putting;
    }
    frames.clear();
    co_await over.sink.flush(kNever);
  }
  co_await check_stop();  // then the handler may still run, and what it throws is no answer
  std::string text;
  if (!end.ok()) text = error_text(end);
  auto putting = over.sink.put(message_kind::end, end.code(), 0, std::move(text), {}, kNever);
  co_await putting;
  co_await over.sink.flush(kNever);
  co_await over.bytes->finish_writing();
}

/// Receives credit until the client ends. A connection that is closed with unread bytes would be reset, and its client
/// might lose the last frames: so this also waits, after the end of the stream, for the client to end.
task<> read_credit(message_link& over, network_writer& out, scope& one) {
  for (;;) {
    auto reading = over.source.next(kNever);
    auto got = co_await reading.as_result();
    if (!got.ok() || !got->has_value() || (**got).kind != message_kind::credit) break;
    out.gate.give(read_u64((**got).payload.data()));
  }
  one.request_stop();  // first, so that a write that fails finds the stream cancelled
  out.close();
}

/// A connection that broke ends its own task, and nothing else.
task<> stop_after_failure(task<> work, scope& one) {
  task<> mine = std::move(work);
  status why = co_await mine.as_result();
  if (!why.ok()) one.request_stop();
}

}  // namespace

task<> network_server::serve() {
  auto accepting = [](network_server& me) -> task<> {
    environment* env = co_await this_environment();
    scope all(*env);
    all.spawn(me.accept_all(all));
    co_await all.join();
  };
  auto work = accepting(*this);
  auto serving = serving_.run(std::move(work));
  co_await serving;
}

task<> network_server::accept_all(scope& all) {
  for (int failures = 0;;) {
    auto accepting = door_->accept();
    auto c = co_await accepting.as_result();
    if (serving_.is_stopped()) co_return;
    if (c.ok()) {
      failures = 0;
      all.spawn(serve_connection(std::move(*c)));
      continue;
    }
    if (c.why().code() != status_code::unavailable || ++failures == kAcceptFailuresMax) co_await fail(c.why());
    co_await sleep_for(kAcceptPause);
  }
}

task<> network_server::serve_connection(std::unique_ptr<connection> c) {
  message_link over(std::move(c), absl::StrCat("a client of ", address_));
  const std::size_t others = connections_.fetch_add(1, std::memory_order_relaxed);
  status why;
  if (others >= kConnectionsMax) {
    why = resource_exhausted_error(absl::StrCat("the server has ", kConnectionsMax, " connections already"));
  } else {
    auto serving = serve_messages(over);
    why = co_await serving.as_result();
  }
  // Other errors: the connection broke, or the server was stopped.
  const bool is_mistake = why.code() == status_code::data_loss || why.code() == status_code::resource_exhausted;
  if (is_mistake) {
    auto refusing = refuse(over, why);
    (void)co_await refusing.as_result();
  }
  connections_.fetch_sub(1, std::memory_order_relaxed);
}

task<> network_server::refuse(message_link& over, status why) {
  environment* env = co_await this_environment();
  const time_point until = env->time->now() + kRefusalTime;
  auto putting = over.sink.put(message_kind::refusal, why.code(), 0, error_text(why), {}, until);
  co_await putting;
  co_await over.sink.flush(until);
  co_await over.bytes->finish_writing();
  std::vector<char> room(4096);
  for (;;) {  // until the client ends: see read_credit()
    auto n = co_await over.bytes->read_some(room, until);
    if (n == 0) break;
  }
}

task<> network_server::serve_messages(message_link& over) {
  for (;;) {
    auto got = co_await over.source.next(kNever);
    if (!got) co_return;
    message m = std::move(*got);
    if (m.method.empty()) co_await fail(data_loss_error("a client's message is neither a call nor a stream's begin"));
    if (m.kind == message_kind::open) {
      auto streaming = serve_stream(over, std::move(m));
      co_await streaming;
      co_return;
    }
    if (m.kind != message_kind::call) co_await fail(data_loss_error("a client's message is not a call"));
    auto calling = serve_call(over, std::move(m));
    co_await calling;
  }
}

task<> network_server::serve_call(message_link& over, message m) {
  environment* env = co_await this_environment();
  result<std::string> answer = internal_error("the handler has not answered");
  bool is_gone = false;
  {
    scope one(*env);
    one.spawn(answer_call(handler_, std::move(m), one, answer));
    one.spawn(watch_caller(over.source, one, is_gone));
    co_await one.join();
  }
  if (is_gone) co_await fail(unavailable_error("the client is gone"));
  answer = checked_answer(std::move(answer));
  std::string text;
  if (answer.ok()) text = std::move(*answer);
  else text = error_text(answer.why());
  status_code code = answer.why().code();
  auto putting = over.sink.put(message_kind::reply, code, 0, std::string(), text, kNever);
  co_await putting;
  co_await over.sink.flush(kNever);
}

task<> network_server::serve_stream(message_link& over, message m) {
  stream_options options;
  options.credit_bytes = read_u64(m.payload.data());
  options.frame_bytes_max = read_u64(m.payload.data() + 8);
  status wrong = check_options(options);
  if (!wrong.ok()) co_await fail(data_loss_error(error_text(wrong)));
  environment* env = co_await this_environment();
  status end;
  scope one(*env);
  network_writer out(one.env(), options);
  one.spawn(run_stream(handler_, std::move(m), out, end));
  one.spawn(stop_after_failure(send_frames(over, out, end), one));
  one.spawn(read_credit(over, out, one));
  co_await one.join();
}

}  // namespace sluice::lib
