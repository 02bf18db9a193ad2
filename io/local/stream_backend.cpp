// SPDX-License-Identifier: Apache-2.0
#include "io/local/stream_backend.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace sluice::lib::detail {
namespace {

/// Reads the bytes that poll() has reported. Returns -EAGAIN if another process that reads the same pipe was faster.
std::int64_t read_now(const operation& op) noexcept {
  ssize_t got;
  do got = ::read(op.from->number, op.to->data() + op.at, op.length);
  while (got < 0 && errno == EINTR);
  return got < 0 ? -errno : got;
}

}  // namespace

stream_backend::~stream_backend() {
  std::thread served;
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
    served = std::move(thread_);
  }
  if (served.joinable()) {
    wake();
    served.join();
  }
  if (event_ >= 0) ::close(event_);
}

void stream_backend::submit(operation* op) noexcept {
  int error;
  {
    absl::MutexLock lock(&mutex_);
    error = start();
    if (error == 0) arrived_.push_back(op);
  }
  if (error == 0) wake();
  else op->complete(-error);
}

void stream_backend::cancel(operation*) noexcept { wake(); }  // the thread examines every operation's flag

int stream_backend::start() noexcept {
  if (thread_.joinable()) return 0;
  if (event_ < 0) event_.store(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), std::memory_order_release);
  if (event_ < 0) return errno;
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error&) { return EAGAIN; }
  return 0;
}

void stream_backend::wake() noexcept {
  std::uint64_t one = 1;
  int event = event_.load(std::memory_order_acquire);
  if (event < 0) return;  // no operation was submitted yet: submit() wakes the thread, which then sees the flag
  while (::write(event, &one, sizeof one) < 0 && errno == EINTR) {}
}

void stream_backend::drain_event() noexcept {
  std::uint64_t count;
  while (::read(event_, &count, sizeof count) < 0 && errno == EINTR) {}
}

bool stream_backend::take_arrivals() noexcept {
  absl::MutexLock lock(&mutex_);
  waiting_.insert(waiting_.end(), arrived_.begin(), arrived_.end());
  arrived_.clear();
  return !closing_;
}

void stream_backend::serve() noexcept {
  ::pthread_setname_np(::pthread_self(), "sluice-streams");
  std::vector<pollfd> polled;
  for (;;) {
    const bool open = take_arrivals();
    std::vector<operation*> still;
    polled.assign(1, pollfd{event_, POLLIN, 0});
    for (operation* op : waiting_) {
      if (!open || op->cancel_wanted.load(std::memory_order_relaxed)) {
        op->complete(-ECANCELED);
      } else {
        still.push_back(op);
        polled.push_back(pollfd{op->from->number, POLLIN, 0});
      }
    }
    waiting_ = std::move(still);
    if (!open) return;
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;  // EINTR
    if (polled[0].revents) drain_event();
    still = {};
    for (std::size_t i = 0; i != waiting_.size(); ++i) {
      std::int64_t got = polled[i + 1].revents ? read_now(*waiting_[i]) : -EAGAIN;
      if (got == -EAGAIN) still.push_back(waiting_[i]);
      else waiting_[i]->complete(got);
    }
    waiting_ = std::move(still);
  }
}

}  // namespace sluice::lib::detail
