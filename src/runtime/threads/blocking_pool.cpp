// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/blocking_pool.hpp"

namespace sluice::lib {

blocking_pool::~blocking_pool() {
  mutex_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  lock.unlock();
  for (auto& t : threads_)
    if (t.joinable()) t.join();  // no calls are submitted any more, so the vector does not change
}

void blocking_pool::submit(blocking_call& call) {
  mutex_lock lock(mutex_);
  call.next = nullptr;
  (last_ ? last_->next : first_) = &call;
  last_ = &call;
  ++waiting_;
  if (waiting_ > idle_ && live_ < options_.threads_max && start_thread()) return;
  if (live_ > 0) return changed_.notify_one();  // existing threads will take the calls
  // No thread is available: it is better to block the caller than to lose its call.
  first_ = last_ = nullptr;
  --waiting_;
  lock.unlock();
  call.run(call);
}

unsigned blocking_pool::threads() const {
  mutex_lock lock(mutex_);
  return live_;
}

/// Reuses the slot of a thread that has ended: joining that thread takes no time.
bool blocking_pool::start_thread() {
  if (expired_.empty()) {
    expired_.push_back(threads_.size());
    threads_.emplace_back();
  }
  std::size_t slot = expired_.back();
  if (threads_[slot].joinable()) threads_[slot].join();
  try {
    threads_[slot] = std::thread([this, slot] { run(slot); });
  } catch (const std::system_error&) { return false; }  // a limit on threads
  expired_.pop_back();
  ++live_;
  return true;
}

void blocking_pool::run(std::size_t slot) {
  mutex_lock lock(mutex_);
  for (;;) {
    if (blocking_call* call = first_) {
      first_ = call->next;
      if (!first_) last_ = nullptr;
      --waiting_;
      lock.unlock();
      if (call->env) call->wait.end(*call->env);
      call->run(*call);  // resumes the awaiter elsewhere; the call no longer exists
      lock.lock();
      continue;
    }
    if (stopping_) break;
    ++idle_;
    bool called = changed_.wait_for(lock.inner(), options_.idle_max,
                                    [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return first_ || stopping_; });
    --idle_;
    if (!called) break;
  }
  --live_;
  expired_.push_back(slot);  // the last action under the lock: a join only waits for this function to return
}

}  // namespace sluice::lib
