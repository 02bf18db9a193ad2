// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/watch.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>

namespace sluice::lib::cli {
namespace {

constexpr int kTickMs = 200;  // updates five times a second look live and cost little

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  // nohup sets SIGHUP to ignored. A blocked signal would arrive here all the same.
  struct sigaction of_hangup{};
  bool is_ignored = ::sigaction(SIGHUP, nullptr, &of_hangup) == 0 && of_hangup.sa_handler == SIG_IGN;
  if (!is_ignored) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

watch::watch() {
  sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  done_ = eventfd(0, EFD_CLOEXEC);
  interrupted_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { look(); });
}

watch::~watch() {
  stop();
  close(signals_);
  close(done_);
  close(interrupted_);
}

void watch::hold() {
  mutex_lock lock(mutex_);
  is_held_ = true;
}

void watch::start(std::function<void()> on_interrupt, std::function<void()> on_tick) {
  mutex_lock lock(mutex_);
  is_held_ = true;
  on_interrupt_ = std::move(on_interrupt);
  on_tick_ = std::move(on_tick);
  if (first_signal_ != 0) on_interrupt_();
}

void watch::stop() {
  if (!thread_.joinable()) return;
  eventfd_write(done_, 1);
  thread_.join();
}

void watch::look() {
  bool asked = false;
  for (;;) {
    pollfd fds[] = {{done_, POLLIN, 0}, {signals_, POLLIN, 0}};
    poll(fds, 2, kTickMs);
    if (fds[0].revents) return;
    if (fds[1].revents) {
      signalfd_siginfo info;
      if (read(signals_, &info, sizeof info) != sizeof info) continue;
      take(static_cast<int>(info.ssi_signo), asked);
    }
    mutex_lock lock(mutex_);
    if (on_tick_) on_tick_();
  }
}

void watch::take(int signal, bool& asked) {
  mutex_lock lock(mutex_);
  if (!is_held_) _exit(128 + signal);
  if (asked && signal != SIGHUP) _exit(exit_status());  // the second request: something does not stop
  // A terminal that closes causes several signals, from the kernel and from the shell. The end of a session adds a
  // SIGTERM.
  asked |= signal != SIGHUP;
  int none = 0;
  if (!first_signal_.compare_exchange_strong(none, signal)) return;
  if (on_interrupt_) on_interrupt_();
  eventfd_write(interrupted_, 1);
}

}  // namespace sluice::lib::cli
