// SPDX-License-Identifier: Apache-2.0
#include "io/messages/network_channel.hpp"

#include <atomic>

#include "absl/strings/str_cat.h"
#include "io/messages/credit_gate.hpp"

namespace sluice::lib {

namespace {

class network_reader final : public frame_reader {
 public:
  network_reader(std::unique_ptr<message_link> l, std::string address, const std::string& method,
                 const stream_options& options)
      : link_(std::move(l)),
        address_(std::move(address)),
        what_(absl::StrCat("stream ", method)),
        credit_bytes_(options.credit_bytes) {
    link_->source.expect_frames(options.frame_bytes_max);
  }

  task<result<std::optional<slice>>> next(time_point deadline) override {
    if (is_cancelled_.load(std::memory_order_acquire)) co_await fail(cancelled_error("the stream was cancelled"));
    if (ended_) co_return end_of_stream();
    if (!lost_.ok()) co_await fail(lost_);
    auto reading = link_->source.next(deadline);
    auto got = co_await reading.as_result();
    if (is_cancelled_.load(std::memory_order_acquire)) co_await fail(cancelled_error("the stream was cancelled"));
    if (!got.ok()) co_await fail(failed(got.why()));
    if (!got->has_value()) co_await fail(failed(unavailable_error("the server closed the connection")));
    message m = std::move(**got);
    if (m.kind == message_kind::frame) {
      owed_ += credit_of(m.payload.size());
      if (owed_ >= credit_gate::may_owe(credit_bytes_)) co_await give_credit();
      co_return std::optional<slice>(std::move(m.payload));
    }
    if (m.kind != message_kind::end) co_await fail(failed(unexpected(m)));
    ended_ = true;
    if (m.code != status_code::ok) end_ = peer_status(m.code, m.payload.view());
    link_->bytes->close();  // the server waits for it, so that no frame is lost
    co_return end_of_stream();
  }
  void cancel() noexcept override {
    is_cancelled_.store(true, std::memory_order_release);
    link_->bytes->close();
  }

 private:
  result<std::optional<slice>> end_of_stream() const {
    if (!end_.ok()) return end_;
    return std::optional<slice>();
  }
  /// Keeps the error for later calls, if it is not one after which the call may be repeated.
  status failed(const status& why) {
    status full = transport_error(why, address_, what_);
    const bool may_repeat = why.code() == status_code::deadline_exceeded || why.code() == status_code::cancelled;
    if (!may_repeat) lost_ = full;
    return full;
  }
  static status unexpected(const message& m) {
    if (m.kind == message_kind::refusal) return peer_status(m.code, m.payload.view());
    return data_loss_error("a message that does not belong to a stream");
  }
  /// A failure is reported after the frame that was received before it.
  task<> give_credit() {
    std::string bytes;
    append_u64(bytes, std::exchange(owed_, 0));
    auto putting = link_->sink.put(message_kind::credit, status_code::ok, 0, std::move(bytes), {}, kNever);
    status why = co_await putting.as_result();
    if (why.ok()) {
      auto flushing = link_->sink.flush(kNever);
      why = co_await flushing.as_result();
    }
    // How much a stopped write has sent is unknown, so it breaks the stream.
    if (why.code() == status_code::cancelled) why = unavailable_error("a stop broke the connection");
    if (!why.ok()) lost_ = transport_error(why, address_, what_);
  }

  std::unique_ptr<message_link> link_;
  const std::string address_;
  const std::string what_;
  const std::size_t credit_bytes_;
  std::size_t owed_ = 0;  ///< credit of frames that were returned
  bool ended_ = false;
  status end_;   ///< the handler's
  status lost_;  ///< the transport's
  std::atomic<bool> is_cancelled_{false};
};

}  // namespace

network_channel::link network_channel::take_idle() {
  mutex_lock lock(mutex_);
  if (idle_.empty()) return nullptr;
  link last = std::move(idle_.back());
  idle_.pop_back();
  return last;
}

void network_channel::keep_idle(link l) {
  mutex_lock lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(l));
}

void network_channel::drop_idle() noexcept {
  std::vector<link> dropped;
  mutex_lock lock(mutex_);
  dropped.swap(idle_);
}

task<network_channel::link> network_channel::connect(time_point deadline) {
  auto c = co_await net_.connect(address_, deadline);
  co_return std::make_unique<message_link>(std::move(c), address_);
}

task<result<std::string>> network_channel::call_over(link& over, std::string method, std::string request,
                                                     time_point deadline) {
  if (!over) over = co_await connect(deadline);
  const std::size_t method_bytes = method.size();
  auto putting =
      over->sink.put(message_kind::call, status_code::ok, method_bytes, std::move(method), request, deadline);
  co_await putting;
  co_await over->sink.flush(deadline);
  auto got = co_await over->source.next(deadline);
  if (!got) co_await fail(unavailable_error("the server closed the connection before it answered"));
  const std::string_view text = got->payload.view();
  if (got->kind == message_kind::refusal) co_await fail(peer_status(got->code, text));
  if (got->kind != message_kind::reply) co_await fail(data_loss_error("a message that is not an answer"));
  if (got->code != status_code::ok) co_return peer_status(got->code, text);
  co_return std::string(text);
}

task<result<std::string>> network_channel::call(std::string method, std::string request, time_point deadline) {
  status wrong = check_call(method, request);
  if (!wrong.ok()) co_await fail(std::move(wrong));
  const std::string what = absl::StrCat("call ", method);
  link over = take_idle();
  auto calling = call_over(over, std::move(method), std::move(request), deadline);
  auto answer = co_await calling.as_result();
  if (!answer.ok()) {
    over.reset();  // the server sees it, and stops the handler
    drop_idle();
    co_await fail(transport_error(answer.why(), address_, what));
  }
  keep_idle(std::move(over));
  co_return std::move(*answer);
}

task<std::unique_ptr<frame_reader>> network_channel::open(std::string method, std::string request,
                                                          stream_options options, time_point deadline) {
  status wrong = check_call(method, request);
  if (wrong.ok()) wrong = check_options(options);
  if (!wrong.ok()) co_await fail(std::move(wrong));
  const std::string what = absl::StrCat("stream ", method);
  auto connecting = connect(deadline);
  auto over = co_await connecting.as_result();
  if (!over.ok()) co_await fail(transport_error(over.why(), address_, what));
  std::string first;
  append_u64(first, options.credit_bytes);
  append_u64(first, options.frame_bytes_max);
  first += method;
  auto putting =
      (*over)->sink.put(message_kind::open, status_code::ok, method.size(), std::move(first), request, deadline);
  status why = co_await putting.as_result();
  if (why.ok()) {
    auto flushing = (*over)->sink.flush(deadline);
    why = co_await flushing.as_result();
  }
  if (!why.ok()) co_await fail(transport_error(why, address_, what));
  co_return std::make_unique<network_reader>(std::move(*over), address_, method, options);
}

}  // namespace sluice::lib
