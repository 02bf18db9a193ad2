// SPDX-License-Identifier: Apache-2.0
#include "io/grpc/grpc_channel.hpp"

#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "io/grpc/grpc_bytes.hpp"
#include "io/grpc/grpc_server.hpp"
#include "io/messages/credit_gate.hpp"
#include "io/messages/frame_inbox.hpp"
#include "sluice/io/grpc_transport.hpp"

namespace sluice::lib {
namespace {

std::shared_ptr<grpc::Channel> channel_to(const std::string& address) {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(static_cast<int>(kFrameBytesMax + 1024));
  args.SetMaxSendMessageSize(-1);
  // A server that restarts is found again within a second. gRPC's own maximum is two minutes.
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // Channels of one process to one server have connections of their own, and no proxy of the environment.
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), args);
}

/// gRPC has one reference until OnDone(), the caller another.
/// Each hand-over to gRPC's threads is ordered by a mutex that ThreadSanitizer sees, in contrast to gRPC's own.
class grpc_call final : public grpc::ClientUnaryReactor {
 public:
  explicit grpc_call(unfinished_calls& all) : unfinished_(all) {}
  void begin(grpc::GenericStub& stub, std::string_view method, std::string_view request,
             std::shared_ptr<grpc_call> self) {
    {
      mutex_lock lock(mutex_);
      request_ = grpc_message(message_kind::call, status_code::ok, method.size(), method, request);
      self_ = std::move(self);
    }
    unfinished_.begin();
    stub.PrepareUnaryCall(&context_, kGrpcCallMethod, {}, &request_, &answer_, this);
    StartCall();
  }
  void OnDone(const grpc::Status& s) override {
    std::shared_ptr<grpc_call> last;
    mutex_lock lock(mutex_);
    last.swap(self_);
    settle(s);
    lock.unlock();  // before the object, and the mutex, may be destroyed
    unfinished_calls& all = unfinished_;
    last.reset();
    all.end();
  }
  void cancel() { context_.TryCancel(); }

  answer_slot slot;

 private:
  void settle(const grpc::Status& s) {
    if (!s.ok()) return slot.fail(status_of(s));
    auto got = read_grpc_message(answer_);
    if (!got.ok()) return slot.fail(got.why());
    if (got->kind != message_kind::reply) return slot.fail(data_loss_error("a message that is not an answer"));
    const std::string_view text = got->payload.view();
    if (got->code != status_code::ok) slot.answer(peer_status(got->code, text));
    else slot.answer(std::string(text));
  }

  unfinished_calls& unfinished_;
  mutex mutex_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_, answer_;
  std::shared_ptr<grpc_call> self_ ABSL_GUARDED_BY(mutex_);
};

/// A stream. It has a hold until it has ended or is cancelled, because credit is written from other threads.
class grpc_stream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  grpc_stream(const stream_options& o, unfinished_calls& all) : options(o), unfinished_(all) {}

  void begin(grpc::GenericStub& stub, std::string_view method, std::string_view request,
             std::shared_ptr<grpc_stream> self) {
    std::string first;
    append_u64(first, options.credit_bytes);
    append_u64(first, options.frame_bytes_max);
    first.append(method);
    {
      mutex_lock lock(mutex_);
      self_ = std::move(self);
      writing_ = grpc_message(message_kind::open, status_code::ok, method.size(), first, request);
      is_writing_ = true;
    }
    unfinished_.begin();
    stub.PrepareBidiStreamingCall(&context_, kGrpcStreamMethod, {}, this);
    AddHold();
    StartWrite(&writing_);
    StartRead(&received_);
    StartCall();
  }
  void OnReadDone(bool ok) override {
    mutex_lock lock(mutex_);
    if (!ok) return end(lock);
    auto got = read_grpc_message(received_);
    received_.Clear();
    lock.unlock();
    if (got.ok() && got->kind == message_kind::frame) {
      status wrong = check_frame(got->payload.size(), options.frame_bytes_max);
      if (wrong.ok()) inbox.push(std::move(got->payload));
      else inbox.fail(data_loss_error(error_text(wrong)));
    } else if (got.ok() && got->kind == message_kind::end) {
      status why;
      if (got->code != status_code::ok) why = peer_status(got->code, got->payload.view());
      inbox.end(std::move(why));
    } else {
      inbox.fail(got.ok() ? data_loss_error("a message that does not belong to a stream") : got.why());
      context_.TryCancel();
    }
    StartRead(&received_);
  }
  void OnWriteDone(bool ok) override {
    mutex_lock lock(mutex_);
    is_writing_ = false;
    if (ok) write_credit(lock);
  }
  void OnDone(const grpc::Status& s) override {
    status why = unavailable_error("the server ended the stream without its last message");
    if (!s.ok()) why = status_of(s);
    inbox.fail(std::move(why));  // without an effect after the last message
    std::shared_ptr<grpc_stream> last;
    mutex_lock lock(mutex_);
    last.swap(self_);
    lock.unlock();  // before the object, and the mutex, may be destroyed
    unfinished_calls& all = unfinished_;
    last.reset();
    all.end();
  }

  /// The reader has taken a frame.
  void give(std::size_t bytes) {
    mutex_lock lock(mutex_);
    owed_ += bytes;
    if (owed_ >= credit_gate::may_owe(options.credit_bytes)) write_credit(lock);
  }
  void cancel() {
    inbox.cancel();
    context_.TryCancel();
    mutex_lock lock(mutex_);
    end(lock);
  }

  const stream_options options;
  frame_inbox inbox;

 private:
  void write_credit(mutex_lock& lock) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (is_ended_ || is_writing_ || owed_ < std::max<std::size_t>(1, credit_gate::may_owe(options.credit_bytes)))
      return;
    std::string bytes;
    append_u64(bytes, std::exchange(owed_, 0));
    writing_ = grpc_message(message_kind::credit, status_code::ok, 0, bytes, {});
    is_writing_ = true;
    ++starting_;
    lock.unlock();
    StartWrite(&writing_);
    lock.lock();
    --starting_;
    release_hold(lock);
  }
  /// Nothing is written from other threads any more.
  void end(mutex_lock& lock) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    is_ended_ = true;
    release_hold(lock);
  }
  void release_hold(mutex_lock& lock) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!is_ended_ || starting_ || is_released_) return;
    is_released_ = true;
    lock.unlock();
    RemoveHold();
    lock.lock();
  }

  unfinished_calls& unfinished_;
  mutex mutex_;
  grpc::ClientContext context_;
  grpc::ByteBuffer received_, writing_;  ///< gRPC's, between Start…() and On…Done()
  std::shared_ptr<grpc_stream> self_ ABSL_GUARDED_BY(mutex_);
  std::size_t owed_ ABSL_GUARDED_BY(mutex_) = 0;
  int starting_ ABSL_GUARDED_BY(mutex_) = 0;  ///< threads between the decision to write and StartWrite()
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_released_ ABSL_GUARDED_BY(mutex_) = false;
};

class grpc_reader final : public frame_reader {
 public:
  grpc_reader(std::shared_ptr<grpc_stream> s, std::string address, const std::string& method)
      : stream_(std::move(s)), address_(std::move(address)), what_(absl::StrCat("stream ", method)) {}
  ~grpc_reader() override { cancel(); }
  task<result<std::optional<slice>>> next(time_point deadline) override {
    auto taking = stream_->inbox.next(what_, deadline);
    auto got = co_await taking.as_result();
    if (!got.ok()) co_await fail(transport_error(got.why(), address_, what_));
    if (got->ok() && **got) stream_->give(credit_of((***got).size()));
    co_return std::move(*got);
  }
  void cancel() noexcept override { stream_->cancel(); }

 private:
  const std::shared_ptr<grpc_stream> stream_;
  const std::string address_;
  const std::string what_;
};

class grpc_transport final : public message_transport {
 public:
  task<std::unique_ptr<message_server>> listen(std::string address, message_handler& handler) override {
    auto made = grpc_server::start(address, handler);
    if (!made.ok()) co_await fail(made.why());
    co_return std::move(*made);
  }
  std::unique_ptr<message_channel> connect(std::string address) override {
    return std::make_unique<grpc_channel>(std::move(address));
  }
};

}  // namespace

grpc_channel::grpc_channel(std::string address) : address_(std::move(address)), stub_(channel_to(address_)) {}

task<result<std::string>> grpc_channel::call(std::string method, std::string request, time_point deadline) {
  status wrong = check_call(method, request);
  if (!wrong.ok()) co_await fail(std::move(wrong));
  const std::string what = absl::StrCat("call ", method);
  auto mine = std::make_shared<grpc_call>(unfinished_);
  mine->begin(stub_, method, request, mine);
  auto taking = mine->slot.take(what, deadline);
  auto answer = co_await taking.as_result();
  if (!answer.ok()) {
    mine->cancel();
    co_await fail(transport_error(answer.why(), address_, what));
  }
  co_return std::move(*answer);
}

task<std::unique_ptr<frame_reader>> grpc_channel::open(std::string method, std::string request, stream_options options,
                                                       time_point deadline) {
  (void)deadline;  // nothing waits: gRPC connects in the background, and next() reports an error
  status wrong = check_call(method, request);
  if (wrong.ok()) wrong = check_options(options);
  if (!wrong.ok()) co_await fail(std::move(wrong));
  auto mine = std::make_shared<grpc_stream>(options, unfinished_);
  mine->begin(stub_, method, request, mine);
  co_return std::make_unique<grpc_reader>(std::move(mine), address_, method);
}

std::unique_ptr<message_transport> make_grpc_transport() {
  // gRPC would print an error, for example of an address in use, besides the status that reports it.
  if (!std::getenv("GRPC_VERBOSITY")) gpr_set_log_verbosity(static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1));
  return std::make_unique<grpc_transport>();
}

}  // namespace sluice::lib
