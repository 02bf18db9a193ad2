// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/loan.hpp"

#include "runtime/run_task.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/resume_on.hpp"

namespace sluice::lib {

loan::loan(stream_base& s, std::shared_ptr<run_base> run) : run_(std::move(run)), owner_(&s), tree_(std::move(s)) {}

std::shared_ptr<loan> loan::of(const stream_base& s) {
  return s ? nullptr : std::dynamic_pointer_cast<loan>(s.shared_run());
}

std::shared_ptr<loan> loan::lend(stream_base& s) {
  environment* env = s ? s.stage()->env : nullptr;
  if (!env || !env->run || !s.run())
    throw_status(failed_precondition_error("this is no stream of a run: ask iterate() for one"));
  SLUICE_REQUIRES(s.at_rest(), "another request on the stream is outstanding");
  std::shared_ptr<run_context> run = env->run->shared_from_this();
  auto l = std::make_shared<loan>(s, s.shared_run());
  s.set_run(l);
  fill(run, l);
  return l;
}

run_task loan::fill(std::shared_ptr<run_context>& run, std::shared_ptr<loan> self) {
  auto me = std::move(self);
  resume_on to_a_worker(*run->exec);
  co_await to_a_worker;
  borrowed::fill_awaiter filled{me->tree_};
  co_await filled;
  me->came_to_rest();
}

void loan::came_to_rest() {
  mutex_lock lock(mutex_);
  at_rest_ = true;
  std::unique_ptr<waiter> woken = std::move(waiter_);
  if (owner_gone_) {
    lock.unlock();
    tree_.close();
  } else {
    lock.unlock();
  }
  if (woken) woken->ready(shared_from_this());
}

bool loan::wait(std::unique_ptr<waiter>& w) {
  mutex_lock lock(mutex_);
  if (waiter_) return false;
  if (!at_rest_) {
    waiter_ = std::move(w);
    return true;
  }
  lock.unlock();
  std::exchange(w, nullptr)->ready(shared_from_this());
  return true;
}

std::unique_ptr<loan::waiter> loan::abandon(const waiter* who) {
  mutex_lock lock(mutex_);
  return waiter_.get() == who ? std::move(waiter_) : nullptr;
}

stream_base* loan::give_back() {
  std::shared_ptr<loan> self = shared_from_this();  // the lent stream may hold the last reference
  {
    mutex_lock lock(mutex_);
    if (!at_rest_) return nullptr;
  }
  stream_base* owner = std::exchange(owner_, nullptr);
  if (!owner) return nullptr;
  returned_.store(true, std::memory_order_relaxed);  // the lent stream, closed next on this thread, then does nothing
  *owner = std::move(tree_);
  return owner;
}

void loan::request_stop() noexcept {
  if (!returned_.load(std::memory_order_relaxed)) run_->request_stop();
}

void loan::owner_moved(stream_base* to) noexcept {
  if (returned_.load(std::memory_order_relaxed)) return;
  owner_ = to;
  if (to) return;
  mutex_lock lock(mutex_);
  owner_gone_ = true;
  bool ours = at_rest_;
  lock.unlock();
  if (ours) tree_.close();
}

}  // namespace sluice::lib
