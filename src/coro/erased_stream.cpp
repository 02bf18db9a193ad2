// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/erased_stream.hpp"

#include <cstring>

namespace sluice::lib {

// Elements of the view that were taken before this part stay behind it, constructed; a block that moves elements out
// must be the first of its owner's live ones, so they go now.
block erased_stream::take_part() {
  if (view_owner_->begin() < cur_) {
    auto taken = static_cast<std::uint32_t>(static_cast<std::size_t>(cur_ - view_owner_->begin()) / element_bytes_);
    block(view_owner_, &type(), view_owner_->begin(), taken).drop_front(taken);
  }
  std::uint32_t n = std::min(request_want_, left());
  block part(view_owner_, &type(), cur_, n);
  cur_ += std::size_t{n} * element_bytes_;
  return part;
}

void erased_stream::take_up() {
  check_not_empty();
  set_view();
  if (!child_->waiter->is_task()) return;
  asked_.store(false, std::memory_order_relaxed);
  if (cur_ == end_) throw_if_failed();
}

block erased_stream::take_odd_view() {
  take_up();
  if (cur_ == end_) return {};
  if (left() > request_want_) return take_part();
  block all = peek();
  cur_ = end_;
  return all;
}

std::uint32_t erased_stream::move_out(char* to, std::uint32_t n) {
  const element_type& t = child_->type();
  std::size_t ready_bytes = static_cast<std::size_t>(end_ - cur_), wanted_bytes = n * t.size;
  if (ready_bytes < wanted_bytes) {
    n = static_cast<std::uint32_t>(ready_bytes / t.size);
    wanted_bytes = ready_bytes;
  }
  if (n == 0) return 0;  // there may be no view at all
  if (t.relocatable) std::memcpy(to, cur_, wanted_bytes);
  else t.relocate(t, to, cur_, n, t.size, t.size);
  cur_ += wanted_bytes;
  if (!t.trivially_destroyed) view_owner_->forget_front(n);
  return n;
}

bool block_promise::pass_yielded() {
  auto passed = static_cast<std::uint32_t>(std::min<std::uint64_t>(skip_, handed_.size()));
  skip_ -= passed;
  handed_.drop_front(passed);
  return !handed_.empty();
}

std::coroutine_handle<> block_promise::passed_all(std::coroutine_handle<> me) {
  if (!must_yield()) return look_around(me);
  status why = send_up_later_errors();
  return why.ok() ? go_on(me) : unwind(this, std::move(why));
}

std::coroutine_handle<> outlet::error_awaiter::await_suspend(std::coroutine_handle<> me) {
  if (!fatal_.ok()) return unwind(&promise_, std::move(fatal_));
  return promise_.drop_elements(me, errors_);
}

outlet::error_awaiter outlet::drop(dropped_errors errors) { return {*promise_, std::move(errors), status()}; }

outlet::error_awaiter outlet::drop(dropped_error e) {
  dropped_errors one;
  one.add(std::move(e));
  return drop(std::move(one));
}

outlet::error_awaiter outlet::end_with(status why) { return {*promise_, {}, std::move(why)}; }

std::uint64_t outlet::pass(std::uint64_t most) {
  std::uint64_t n = std::min(most, promise_->skip_);
  promise_->skip_ -= n;
  return n;
}

void outlet::unpass(std::uint64_t n) { promise_->skip_ += n; }

}  // namespace sluice::lib
