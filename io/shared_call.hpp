// SPDX-License-Identifier: Apache-2.0
// A call that blocks a thread, with what it needs and what it finds, shared by the waiter and the thread: which may still be at it
// when a deadline has passed.
//
//   shared_call<stat_call> call(stat_call{path});
//   std::int64_t got = co_await call.on(io, deadline);       // what the call returns, or operation::kTimedOut, or -ECANCELED
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

/// The waiter's own share of a call: what was found is read from it.
template <class Call> class shared_call {
 public:
  explicit shared_call(Call c) : op_(new call_operation<Call>(std::move(c))) { op_->add_reference(); }
  shared_call(const shared_call&) = delete;
  ~shared_call() { op_->drop_reference(); }
  /// At most once.
  perform on(backend& io, time_point deadline) { return perform(io, op_, deadline); }
  /// Once it has given anything but kTimedOut.
  Call* operator->() { return &op_->call; }

 private:
  call_operation<Call>* op_;
};

}  // namespace sluice::lib::detail
