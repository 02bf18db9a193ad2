// SPDX-License-Identifier: Apache-2.0
// A blocking call with its arguments and results, shared by the waiter and the thread. The thread may continue after
// the waiter's deadline has passed.
//
//   shared_call<stat_call> call(stat_call{path});
//   std::int64_t got = co_await call.on(io, deadline);       // the call's result, operation::kTimedOut, or -ECANCELED
//   use(call->found);
#pragma once

#include <utility>

#include "io/local/operation.hpp"

namespace sluice::lib::detail {

template <class Call> struct call_operation final : operation {
  explicit call_operation(Call c) : operation(kind::call), call(std::move(c)) {}
  void run() noexcept override { result = call(); }
  Call call;
};

/// The waiter's reference to a call, from which it reads the results.
template <class Call> class shared_call {
 public:
  explicit shared_call(Call c) : op_(new call_operation<Call>(std::move(c))) { op_->add_reference(); }
  shared_call(const shared_call&) = delete;
  ~shared_call() { op_->drop_reference(); }
  /// Starts the call. REQUIRES: it was not called before.
  perform on(backend& io, time_point deadline) { return perform(io, op_, deadline); }
  /// Returns the results. REQUIRES: on() has returned anything but kTimedOut.
  Call* operator->() { return &op_->call; }

 private:
  call_operation<Call>* op_;
};

}  // namespace sluice::lib::detail
