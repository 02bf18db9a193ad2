// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/limited_executor.hpp"

#include <cstdint>
#include <deque>
#include <exception>
#include <utility>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {

class limited_executor::queue {
 public:
  queue(executor& in, unsigned limit) : inner(in), most(limit) {}

  void add(const std::shared_ptr<queue>& self, std::coroutine_handle<> h, bool later) noexcept;
  void work_once(std::coroutine_handle<> h) noexcept;
  /// Returns the next coroutine to resume. Null: none is ready, and the calling runner ends.
  std::coroutine_handle<> next() noexcept;
  bool is_inside() const noexcept;

  executor& inner;
  const unsigned most;

 private:
  static constexpr std::uint32_t kLaterFirst = 16;

  mutex mutex_;
  std::deque<std::coroutine_handle<>> ready_ ABSL_GUARDED_BY(mutex_), later_ ABSL_GUARDED_BY(mutex_);
  unsigned runners_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint32_t picks_ ABSL_GUARDED_BY(mutex_) = 0;
};

namespace {

thread_local const void* t_inside = nullptr;  // the queue whose runner this thread runs

/// A coroutine that nobody awaits. Its frame is destroyed when it ends.
struct runner {
  struct promise_type {
    runner get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }  // coroutines of the library throw nothing here
  };
  std::coroutine_handle<> handle;
};

struct let_others_run {
  executor& inner;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) const noexcept { inner.post_later(h); }
  void await_resume() const noexcept {}
};

template <class Queue> runner run(std::shared_ptr<Queue> shared) {
  std::shared_ptr<Queue> queue = std::move(shared);
  while (std::coroutine_handle<> h = queue->next()) {
    queue->work_once(h);
    let_others_run pause{queue->inner};
    co_await pause;
  }
}

}  // namespace

void limited_executor::queue::add(const std::shared_ptr<queue>& self, std::coroutine_handle<> h, bool later) noexcept {
  {
    mutex_lock lock(mutex_);
    (later ? later_ : ready_).push_back(h);
    if (runners_ == most) return;
    ++runners_;
  }
  std::coroutine_handle<> started = run(self).handle;
  if (later) inner.post_later(started);
  else inner.post(started);
}

std::coroutine_handle<> limited_executor::queue::next() noexcept {
  mutex_lock lock(mutex_);
  const bool later_first = ++picks_ % kLaterFirst == 0;
  auto& first = later_first ? later_ : ready_;
  auto& from = first.empty() ? (later_first ? ready_ : later_) : first;
  if (from.empty()) {
    --runners_;
    return {};
  }
  std::coroutine_handle<> h = from.front();
  from.pop_front();
  return h;
}

// Not inlined into the coroutine, which continues on other threads: the address of t_inside differs there.
[[gnu::noinline]] void limited_executor::queue::work_once(std::coroutine_handle<> h) noexcept {
  const void* outside = std::exchange(t_inside, this);
  h.resume();
  t_inside = outside;
}

bool limited_executor::queue::is_inside() const noexcept { return t_inside == this; }

limited_executor::limited_executor(executor& inner, unsigned most) : queue_(std::make_shared<queue>(inner, most)) {}

void limited_executor::post(std::coroutine_handle<> h) noexcept { queue_->add(queue_, h, false); }
void limited_executor::post_later(std::coroutine_handle<> h) noexcept { queue_->add(queue_, h, true); }
bool limited_executor::worth_sharing(std::chrono::nanoseconds took, const moved_data& moved) noexcept {
  return queue_->most > 1 && queue_->inner.worth_sharing(took, moved);
}
bool limited_executor::on_worker() const noexcept { return queue_->inner.on_worker(); }
bool limited_executor::admits_caller() const noexcept { return queue_->is_inside(); }
executor::driven limited_executor::drive() { return queue_->inner.drive(); }
std::string_view limited_executor::complaint() const noexcept { return queue_->inner.complaint(); }

}  // namespace sluice::lib
