// SPDX-License-Identifier: Apache-2.0
#include "io/grpc/grpc_server.hpp"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <optional>

#include "absl/strings/str_cat.h"
#include "io/grpc/grpc_bytes.hpp"
#include "io/messages/credit_gate.hpp"
#include "io/messages/listening.hpp"
#include "sluice/io/network.hpp"

namespace sluice::lib {
namespace {

/// One call or stream. gRPC has one reference until OnDone(), the server another until the handler has ended.
/// Each hand-over to gRPC's threads is ordered by mutex_, which ThreadSanitizer sees, in contrast to gRPC's own.
class grpc_request final : public grpc::ServerGenericBidiReactor, public served_request, public frame_writer {
 public:
  grpc_request(request_queue& requests, std::string peer, bool is_stream)
      : requests_(requests), peer_(std::move(peer)), is_stream_(is_stream) {}

  void begin(std::shared_ptr<grpc_request> self) {
    {
      mutex_lock lock(mutex_);
      self_ = std::move(self);
    }
    StartRead(&received_);
  }

  void OnReadDone(bool ok) override {
    mutex_lock lock(mutex_);
    if (!ok) return;  // the client writes no more; OnCancel() follows if it is gone
    auto got = read_grpc_message(received_);
    received_.Clear();
    lock.unlock();
    status wrong = got.why();
    if (wrong.ok()) wrong = accept(std::move(*got));
    if (!wrong.ok()) return abandon(wrong.with_message(absl::StrCat(peer_, ": ", error_text(wrong))));
    if (is_stream_) StartRead(&received_);
  }
  void OnWriteDone(bool) override { write_next(true); }
  void OnCancel() override {
    handling.stop();  // first, so that a write that fails finds the stream cancelled
    if (auto* open = gate()) open->close();
    abandon(cancelled_error("the client is gone"));
  }
  void OnDone() override {
    std::shared_ptr<grpc_request> last;
    mutex_lock lock(mutex_);
    last.swap(self_);
    lock.unlock();  // before the object, and the mutex, may be destroyed
  }

  task<> serve(message_handler& handler) override {
    if (is_stream_) {
      status why;
      try {
        co_await handler.on_stream(std::move(method_), std::move(request_), *this);
      } catch (...) { why = current_exception_status(); }
      environment* env = co_await this_environment();
      if (env->stop.stop_requested()) co_return;
      std::string text;
      if (!why.ok()) text = error_text(why);
      conclude(grpc_message(message_kind::end, why.code(), 0, text, {}), grpc::Status::OK);
      co_return;
    }
    result<std::string> answer = internal_error("the handler has not answered");
    try {
      answer = co_await handler.on_call(std::move(method_), std::move(request_));
    } catch (...) { answer = current_exception_status(); }
    environment* env = co_await this_environment();
    if (env->stop.stop_requested()) co_return;
    answer = checked_answer(std::move(answer));
    std::string text;
    if (answer.ok()) text = std::move(*answer);
    else text = error_text(answer.why());
    conclude(grpc_message(message_kind::reply, answer.why().code(), 0, text, {}), grpc::Status::OK);
  }
  void abandon(status why) override { conclude(std::nullopt, grpc_status_of(why)); }

  task<> write(slice frame) override {
    const std::size_t bytes = frame.size();
    status wrong = check_frame(bytes, options_.frame_bytes_max);
    if (!wrong.ok()) co_await fail(std::move(wrong));
    bool open = co_await gate_->take(credit_of(bytes));
    open = open && put(grpc_frame(std::move(frame)));
    if (!open) co_await fail(cancelled_error("the client is gone"));
  }
  bool is_cancelled() const noexcept override { return handling.is_stopped(); }

 private:
  /// Takes a message of the client.
  status accept(message m) {
    const std::string_view payload = m.payload.view();
    if (m.kind == message_kind::credit && gate()) {
      gate()->give(read_u64(payload.data()));
      return {};
    }
    const auto expected = is_stream_ ? message_kind::open : message_kind::call;
    if (m.kind != expected || m.method.empty() || has_begun_)
      return status(status_code::data_loss, "a message that does not belong here");
    has_begun_ = true;
    method_ = std::string(m.method.view());
    request_ = std::string(payload.substr((is_stream_ ? 16 : 0) + method_.size()));
    if (is_stream_) {
      options_.credit_bytes = read_u64(payload.data());
      options_.frame_bytes_max = read_u64(payload.data() + 8);
      status wrong = check_options(options_);
      if (!wrong.ok()) return wrong;
      mutex_lock lock(mutex_);
      gate_.emplace(options_.credit_bytes);
    }
    std::shared_ptr<served_request> self;
    {
      mutex_lock lock(mutex_);
      self = self_;
    }
    if (requests_.put(std::move(self))) return {};
    return requests_.closed_error();
  }
  credit_gate* gate() {
    mutex_lock lock(mutex_);
    return gate_ ? &*gate_ : nullptr;
  }
  bool put(grpc::ByteBuffer frame) {
    {
      mutex_lock lock(mutex_);
      if (end_) return false;
      queue_.push_back(std::move(frame));
    }
    write_next(false);
    return true;
  }
  /// The last message, if there is one, and the end. The first call counts.
  void conclude(std::optional<grpc::ByteBuffer> last, grpc::Status end) {
    {
      mutex_lock lock(mutex_);
      if (end_) return;
      if (last) queue_.push_back(std::move(*last));
      else queue_.clear();
      end_ = std::move(end);
    }
    write_next(false);
  }
  /// Gives gRPC the next message, or the end after the last one. gRPC accepts one at a time.
  void write_next(bool is_written) {
    mutex_lock lock(mutex_);
    if (is_written) is_writing_ = false;
    if (is_writing_ || is_finished_) return;
    if (!queue_.empty()) {
      is_writing_ = true;
      writing_ = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      return StartWrite(&writing_);
    }
    if (!end_) return;
    is_finished_ = true;
    const grpc::Status end = *end_;
    lock.unlock();
    Finish(end);
  }

  request_queue& requests_;
  const std::string peer_;
  const bool is_stream_;
  bool has_begun_ = false;  ///< used by OnReadDone() alone
  stream_options options_;
  std::string method_, request_;

  mutex mutex_;
  std::optional<credit_gate> gate_;  ///< set once, with mutex_, before the handler begins
  std::shared_ptr<grpc_request> self_ ABSL_GUARDED_BY(mutex_);
  std::deque<grpc::ByteBuffer> queue_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ByteBuffer received_, writing_;  ///< gRPC's, between Start…() and On…Done()
};

class unknown_method final : public grpc::ServerGenericBidiReactor {
 public:
  explicit unknown_method(const std::string& name) {
    Finish({grpc::StatusCode::UNIMPLEMENTED, absl::StrCat("unknown method ", name)});
  }
  void OnDone() override { delete this; }
};

}  // namespace

result<std::unique_ptr<message_server>> grpc_server::start(const std::string& address, message_handler& handler) {
  const bool is_path = address.starts_with(kUnixPrefix);
  std::string host;
  if (!is_path) {
    auto at = parse_address(address);
    if (!at.ok()) return at.why();
    host = address.substr(0, address.rfind(':'));
  }
  // gRPC would take the path away from a server that listens there.
  if (is_path && !remove_abandoned_socket(address.substr(kUnixPrefix.size()))) return listen_error(address, EADDRINUSE);
  std::unique_ptr<grpc_server> made(new grpc_server(handler));
  made->requests_ = std::make_unique<request_queue>(address);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers at one port would share its clients
  builder.SetMaxReceiveMessageSize(static_cast<int>(kCallBytesMax + kMethodBytesMax + 1024));
  builder.SetMaxSendMessageSize(-1);
  builder.RegisterCallbackGenericService(made.get());
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server || port == 0) return why_not_listening(address);
  {
    mutex_lock lock(made->server_mutex_);
    made->server_ = std::move(server);
  }
  made->address_ = is_path ? address : absl::StrCat(host, ":", port);
  return std::unique_ptr<message_server>(std::move(made));
}

grpc_server::~grpc_server() {
  if (!requests_) return;
  requests_->close();
  shut_down();
}

void grpc_server::shut_down() {
  std::unique_ptr<grpc::Server> ending;
  {
    mutex_lock lock(server_mutex_);
    ending.swap(server_);
  }
  if (!ending) return;
  ending->Shutdown(std::chrono::system_clock::now());  // no handler runs any more: gRPC's threads end what is left
  ending->Wait();
}

void grpc_server::report_draining() noexcept {
  mutex_lock lock(server_mutex_);
  if (server_) server_->GetHealthCheckService()->SetServingStatus(false);
}

task<> grpc_server::serve() {
  auto serving = requests_->serve(handler_);
  status why = co_await serving.as_result();
  requests_->close();
  shut_down();
  if (!why.ok()) co_await fail(std::move(why));
}

grpc::ServerGenericBidiReactor* grpc_server::CreateReactor(grpc::GenericCallbackServerContext* context) {
  const bool is_stream = context->method() == kGrpcStreamMethod;
  if (!is_stream && context->method() != kGrpcCallMethod) return new unknown_method(context->method());
  auto request = std::make_shared<grpc_request>(*requests_, context->peer(), is_stream);
  request->begin(request);
  return request.get();
}

}  // namespace sluice::lib
