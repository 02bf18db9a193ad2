// SPDX-License-Identifier: Apache-2.0
// The client of the transport over gRPC.
#pragma once

#include <grpcpp/generic/generic_stub.h>

#include <condition_variable>

#include "sluice/base/mutex.hpp"
#include "sluice/io/transport.hpp"

namespace sluice::lib {

/// The calls and streams of a channel that gRPC has not finished. gRPC must not drop the last reference of its channel on
/// one of its own threads: it then counts the references of the channel's queue wrongly (1.51, one of some hundred runs).
class unfinished_calls {
 public:
  void begin() {
    mutex_lock lock(mutex_);
    ++count_;
  }
  void end() {
    mutex_lock lock(mutex_);  // the notification, too: the waiter destroys this object
    if (--count_ == 0) none_.notify_all();
  }
  /// Blocks; calls that were cancelled end within milliseconds.
  void wait_for_none() {
    mutex_lock lock(mutex_);
    while (count_ != 0) none_.wait(lock.inner());
  }

 private:
  mutex mutex_;
  std::condition_variable none_;
  std::size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

class grpc_channel final : public message_channel {
 public:
  explicit grpc_channel(std::string address);
  ~grpc_channel() override { unfinished_.wait_for_none(); }

  task<result<std::string>> call(std::string method, std::string request, time_point deadline) override;
  task<std::unique_ptr<frame_reader>> open(std::string method, std::string request, stream_options options,
                                           time_point deadline) override;
  const std::string& address() const noexcept override { return address_; }

 private:
  const std::string address_;
  grpc::GenericStub stub_;
  unfinished_calls unfinished_;
};

}  // namespace sluice::lib
