// SPDX-License-Identifier: Apache-2.0
#include "io/threads/thread_backend.hpp"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace sluice::lib::detail {

namespace {

/// Uses preadv2 only if flags require it, because sandboxes refuse it.
std::int64_t read_once(const operation& op, int fd) noexcept {
  char* to = op.to->data() + op.at;
  if (op.read_flags == 0) return ::pread(fd, to, op.length, static_cast<off_t>(op.offset));
  iovec piece{to, op.length};
  return ::preadv2(fd, &piece, 1, static_cast<off_t>(op.offset), op.read_flags);
}

std::int64_t open_once(open_operation& op) noexcept {
  int fd;
  do fd = ::open(op.path.c_str(), op.open_flags);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return -errno;
  if (op.opened(fd)) op.has_read(read_once(op, fd));
  return fd;
}

}  // namespace

std::int64_t carry_out(operation& op) noexcept {
  if (op.cancel_wanted.load(std::memory_order_relaxed)) return -ECANCELED;
  std::int64_t got = -1;
  switch (op.what) {
    case operation::kind::open: return open_once(static_cast<open_operation&>(op));
    case operation::kind::read:
      do got = read_once(op, op.from->number);
      while (got < 0 && errno == EINTR);
      return got < 0 ? -errno : got;
    case operation::kind::call: op.run(); return op.result;
  }
  return -EINVAL;
}

thread_backend::thread_backend(unsigned threads_max, std::string why)
    : threads_max_(std::max(1u, threads_max)), why_(std::move(why)) {}

thread_backend::~thread_backend() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
    threads.swap(threads_);
  }
  for (auto& t : threads) t.join();
}

void thread_backend::submit(operation* op) noexcept {
  // No thread can be started: the caller executes the operation instead of losing it.
  if (!enqueue(op)) op->complete(carry_out(*op));
}

bool thread_backend::enqueue(operation* op) noexcept {
  absl::MutexLock lock(&mutex_);
  if (queued_ >= idle_ && threads_.size() < threads_max_) start_thread();
  if (threads_.empty()) return false;
  op->next = nullptr;
  (last_ ? last_->next : first_) = op;
  last_ = op;
  ++queued_;
  return true;
}

void thread_backend::start_thread() noexcept {
  try {
    threads_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // The limit on threads is reached: the existing threads will execute it.
  }
}

operation* thread_backend::take() noexcept {
  absl::MutexLock lock(&mutex_);
  ++idle_;
  mutex_.Await(
      absl::Condition(+[](thread_backend* self) ABSL_NO_THREAD_SAFETY_ANALYSIS { return self->wanted(); }, this));
  --idle_;
  operation* op = first_;
  if (!op) return nullptr;
  first_ = op->next;
  if (!first_) last_ = nullptr;
  --queued_;
  return op;
}

void thread_backend::serve() noexcept {
  pthread_setname_np(pthread_self(), "sluice-io");
  while (operation* op = take()) op->complete(carry_out(*op));
}

std::string thread_backend::description() const { return why_.empty() ? "threads" : absl::StrCat("threads: ", why_); }

}  // namespace sluice::lib::detail
