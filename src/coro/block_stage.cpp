// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/block_stage.hpp"

#include <algorithm>
#include <utility>

namespace sluice::lib {

bool block_stage::pass_yielded() {
  auto passed = static_cast<std::uint32_t>(std::min<std::uint64_t>(skip_, handed_.size()));
  skip_ -= passed;
  handed_.drop_front(passed);
  return !handed_.empty();
}

std::coroutine_handle<> block_stage::passed_all(std::coroutine_handle<> me) {
  if (!must_yield()) return look_around(me);
  status why = send_up_later_errors();
  return why.ok() ? go_on(me) : unwind(this, std::move(why));
}

mark block_stage::snapshot(std::uint64_t made) {
  if (block_stage::follows_input()) return state_.take_input(made);
  return state_.take(made, 0, false);
}

std::coroutine_handle<> block_stage::flush() noexcept {
  end();
  // A task of this stage found no memory, and cannot name its stage. An error that already has a stage keeps it.
  if (failure.code() == status_code::resource_exhausted) failure = failure.in_stage(label());
  block made = std::exchange(held_, block{});
  auto passed = static_cast<std::uint32_t>(std::min<std::uint64_t>(skip_, made.size()));
  skip_ -= passed;
  if (passed != made.size()) {
    if (passed) made.drop_front(passed);
    handed_ = made;
    return waiter->self;
  }
  if (must_yield()) {  // the errors follow elements that were built and are skipped
    status why = send_up_later_errors();
    if (!why.ok()) failure = std::move(why);
  }
  return {};
}

}  // namespace sluice::lib
