// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "absl/strings/str_cat.h"
#include "io/messages/credit_gate.hpp"
#include "io/messages/frame_inbox.hpp"
#include "io/messages/message_limits.hpp"
#include "io/messages/request_queue.hpp"
#include "sluice/io/message_transport.hpp"

namespace sluice::lib {
namespace {

/// A call that a client has handed to a server.
class local_call final : public served_request {
 public:
  local_call(std::string m, std::string r) : method_(std::move(m)), request_(std::move(r)) {}
  task<> serve(message_handler& handler) override {
    result<std::string> with = internal_error("the handler has not answered");
    try {
      with = co_await handler.on_call(std::move(method_), std::move(request_));
    } catch (...) { with = current_exception_status(); }
    // A handler that a close has stopped has not answered.
    environment* env = co_await this_environment();
    if (!env->stop.stop_requested()) slot.answer(checked_answer(std::move(with)));
  }
  void abandon(status why) override { slot.fail(std::move(why)); }

  answer_slot slot;

 private:
  std::string method_, request_;
};

class local_stream final : public served_request, public frame_writer {
 public:
  local_stream(std::string m, std::string r, const stream_options& o)
      : options(o), gate(o.credit_bytes), method_(std::move(m)), request_(std::move(r)) {}
  task<> serve(message_handler& handler) override {
    status why;
    try {
      co_await handler.on_stream(std::move(method_), std::move(request_), *this);
    } catch (...) { why = current_exception_status(); }
    environment* env = co_await this_environment();
    if (!env->stop.stop_requested()) inbox.end(std::move(why));
  }
  void abandon(status why) override { inbox.fail(std::move(why)); }

  task<> write(slice frame) override {
    const std::size_t bytes = frame.size();
    status wrong = check_frame(bytes, options.frame_bytes_max);
    if (!wrong.ok()) co_await fail(std::move(wrong));
    bool open = co_await gate.take(credit_of(bytes));
    if (!open) co_await fail(cancelled_error("the client is gone"));
    inbox.push(std::move(frame));
  }
  bool is_cancelled() const noexcept override { return handling.is_stopped(); }

  const stream_options options;
  credit_gate gate;
  frame_inbox inbox;

 private:
  std::string method_, request_;
};

class local_reader final : public frame_reader {
 public:
  local_reader(std::shared_ptr<local_stream> s, std::string what) : stream_(std::move(s)), what_(std::move(what)) {}
  ~local_reader() override { cancel(); }
  task<result<std::optional<slice>>> next(time_point deadline) override {
    auto frame = co_await stream_->inbox.next(what_, deadline);
    if (frame.ok() && *frame) stream_->gate.give(credit_of((**frame).size()));
    co_return std::move(frame);
  }
  void cancel() noexcept override {
    stream_->inbox.cancel();
    stream_->handling.stop();  // first, so that a write that fails finds the stream cancelled
    stream_->gate.close();
  }

 private:
  const std::shared_ptr<local_stream> stream_;
  const std::string what_;
};

/// The servers of a transport. Shared by servers and clients, which may outlive it.
struct local_addresses {
  mutex guard;
  std::map<std::string, std::shared_ptr<request_queue>> queues ABSL_GUARDED_BY(guard);
  std::uint64_t next ABSL_GUARDED_BY(guard) = 1;

  std::shared_ptr<request_queue> find(const std::string& address) {
    mutex_lock lock(guard);
    auto i = queues.find(address);
    return i == queues.end() ? nullptr : i->second;
  }
};

class local_server final : public message_server {
 public:
  local_server(std::shared_ptr<local_addresses> all, std::string address, std::shared_ptr<request_queue> requests,
               message_handler& handler)
      : all_(std::move(all)), address_(std::move(address)), requests_(std::move(requests)), handler_(handler) {}
  ~local_server() override { close(); }
  const std::string& address() const noexcept override { return address_; }
  task<> serve() override { return requests_->serve(handler_); }
  void close() noexcept override {
    {
      mutex_lock lock(all_->guard);
      auto i = all_->queues.find(address_);
      if (i != all_->queues.end() && i->second == requests_) all_->queues.erase(i);
    }
    requests_->close();
  }

 private:
  const std::shared_ptr<local_addresses> all_;
  const std::string address_;
  const std::shared_ptr<request_queue> requests_;
  message_handler& handler_;
};

class local_channel final : public message_channel {
 public:
  local_channel(std::shared_ptr<local_addresses> all, std::string address)
      : all_(std::move(all)), address_(std::move(address)) {}
  const std::string& address() const noexcept override { return address_; }

  task<result<std::string>> call(std::string method, std::string request, time_point deadline) override {
    status wrong = check_call(method, request);
    if (!wrong.ok()) co_await fail(std::move(wrong));
    std::string what = absl::StrCat(address_, ": call ", method);
    auto mine = std::make_shared<local_call>(std::move(method), std::move(request));
    status why = hand_over(mine);
    if (!why.ok()) co_await fail(std::move(why));
    auto taking = mine->slot.take(std::move(what), deadline);
    auto answer = co_await taking.as_result();
    if (!answer.ok()) {
      mine->handling.stop();
      co_await fail(answer.why());
    }
    co_return std::move(*answer);
  }
  task<std::unique_ptr<frame_reader>> open(std::string method, std::string request, stream_options options,
                                           time_point deadline) override {
    (void)deadline;  // nothing waits
    status wrong = check_call(method, request);
    if (wrong.ok()) wrong = check_options(options);
    if (!wrong.ok()) co_await fail(std::move(wrong));
    std::string what = absl::StrCat(address_, ": stream ", method);
    auto mine = std::make_shared<local_stream>(std::move(method), std::move(request), options);
    status why = hand_over(mine);
    if (!why.ok()) co_await fail(std::move(why));
    co_return std::make_unique<local_reader>(std::move(mine), std::move(what));
  }

 private:
  status hand_over(std::shared_ptr<served_request> request) const {
    auto requests = all_->find(address_);
    if (!requests) return unavailable_error(absl::StrCat(address_, ": no server of this process has this address"));
    if (requests->put(std::move(request))) return {};
    return unavailable_error(absl::StrCat(address_, ": the server is closed, or too many requests wait for it"));
  }

  const std::shared_ptr<local_addresses> all_;
  const std::string address_;
};

class local_transport final : public message_transport {
 public:
  task<std::unique_ptr<message_server>> listen(std::string address, message_handler& handler) override {
    std::shared_ptr<request_queue> requests;
    {
      mutex_lock lock(all_->guard);
      while (address.empty() || address == "local:0") {
        std::string free = absl::StrCat("local:", all_->next++);
        if (!all_->queues.count(free)) address = std::move(free);
      }
      if (!all_->queues.count(address)) {
        requests = std::make_shared<request_queue>(address);
        all_->queues.emplace(address, requests);
      }
    }
    if (!requests) co_await fail(unavailable_error(absl::StrCat(address, " is in use by another server")));
    co_return std::make_unique<local_server>(all_, std::move(address), std::move(requests), handler);
  }
  std::unique_ptr<message_channel> connect(std::string address) override {
    return std::make_unique<local_channel>(all_, std::move(address));
  }

 private:
  const std::shared_ptr<local_addresses> all_ = std::make_shared<local_addresses>();
};

}  // namespace

std::unique_ptr<message_transport> make_local_transport() { return std::make_unique<local_transport>(); }

}  // namespace sluice::lib
