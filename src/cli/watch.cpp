// SPDX-License-Identifier: Apache-2.0
#include "cli/watch.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>

namespace sluice::lib::cli {
namespace {

constexpr int kTickMs = 200;  // five times a second reads as alive and costs nothing

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

watch::watch() {
  sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  done_ = eventfd(0, EFD_CLOEXEC);
  interrupted_ = eventfd(0, EFD_CLOEXEC);
}

watch::~watch() {
  stop();
  close(signals_);
  close(done_);
  close(interrupted_);
}

void watch::start(std::function<void()> on_interrupt, std::function<void()> on_tick) {
  on_interrupt_ = std::move(on_interrupt);
  on_tick_ = std::move(on_tick);
  thread_ = std::thread([this] { look(); });
}

void watch::stop() {
  if (!thread_.joinable()) return;
  eventfd_write(done_, 1);
  thread_.join();
}

void watch::look() {
  bool interrupted = false;
  for (;;) {
    pollfd fds[] = {{done_, POLLIN, 0}, {signals_, POLLIN, 0}};
    poll(fds, 2, kTickMs);
    if (fds[0].revents) return;
    if (fds[1].revents) {
      signalfd_siginfo info;
      if (read(signals_, &info, sizeof info) != sizeof info) continue;
      if (interrupted) _exit(exit_status());  // asked twice: something does not stop
      interrupted = true;
      first_signal_ = static_cast<int>(info.ssi_signo);
      on_interrupt_();
      eventfd_write(interrupted_, 1);
    }
    on_tick_();
  }
}

}  // namespace sluice::lib::cli
