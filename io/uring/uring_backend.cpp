// SPDX-License-Identifier: Apache-2.0
#include "io/uring/uring_backend.hpp"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <future>
#include <iterator>
#include <system_error>

namespace sluice::detail {
namespace {

constexpr unsigned kSubmissions = 256;
constexpr unsigned kCompletions = 4096;
// Fewer than the completion queue holds, so that it never overflows, cancellations included.
constexpr unsigned kInFlightMax = 1024;
constexpr int kPatienceSeconds = 10;
// user_data of what is not an operation; nodes are never at these addresses.
constexpr std::uint64_t kWakeUp = 1;
constexpr std::uint64_t kCancellation = 2;

// What to try, best first: DEFER_TASKRUN is of 6.1, COOP_TASKRUN of 5.19.
constexpr unsigned kSetupFlags[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP |
        IORING_SETUP_SUBMIT_ALL,
    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
    IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
};

status check_opcodes(io_uring& ring) {
  io_uring_probe* probe = ::io_uring_get_probe_ring(&ring);
  if (!probe) return unavailable_error("io_uring cannot be asked for its opcodes");
  status why;
  for (int opcode : {IORING_OP_OPENAT, IORING_OP_READ, IORING_OP_ASYNC_CANCEL})
    if (!::io_uring_opcode_supported(probe, opcode))
      why = unavailable_error(absl::StrCat("io_uring lacks the opcode ", opcode));
  ::io_uring_free_probe(probe);
  return why;
}

}  // namespace

result<std::unique_ptr<backend>> uring_backend::open(unsigned threads_max) {
  std::unique_ptr<uring_backend> made(new uring_backend(threads_max));
  status why = made->set_up();
  if (!why.ok()) return why;
  return std::unique_ptr<backend>(std::move(made));
}

status uring_backend::set_up() {
  event_ = ::eventfd(0, EFD_CLOEXEC);
  if (event_ < 0) return errno_error(errno, "eventfd");
  // The ring must be made on the thread that is to own it.
  std::promise<status> made;
  std::future<status> outcome = made.get_future();
  try {
    reactor_ = std::thread([this, &made] {
      pthread_setname_np(pthread_self(), "sluice-uring");
      int error = -EINVAL;
      for (std::size_t i = 0; error == -EINVAL && i < std::size(kSetupFlags); ++i) {
        io_uring_params params{};
        params.flags = kSetupFlags[i];
        params.cq_entries = kCompletions;
        error = ::io_uring_queue_init_params(kSubmissions, &ring_, &params);
      }
      if (error < 0) {
        made.set_value(unavailable_error(errno_error(-error, "io_uring is not available").message()));
        return;
      }
      ::io_uring_register_ring_fd(&ring_);  // cheaper entries; without it all works
      status why = check_opcodes(ring_);
      bool usable = why.ok();
      made.set_value(std::move(why));
      if (usable) serve();
      ::io_uring_queue_exit(&ring_);
    });
  } catch (const std::system_error& e) { return unavailable_error(absl::StrCat("no thread for io_uring: ", e.what())); }
  return outcome.get();
}

uring_backend::~uring_backend() {
  closing_.store(true, std::memory_order_release);
  notify();
  if (reactor_.joinable()) reactor_.join();
  if (event_ >= 0) ::close(event_);
}

void uring_backend::submit(operation* op) noexcept {
  if (op->what == operation::kind::call) {
    threads_.submit(op);
    return;
  }
  push(submitted_, &operation::next, op);
  notify();
}

void uring_backend::cancel(operation* op) noexcept {
  if (op->what == operation::kind::call) return;
  op->add_reference();  // the list's
  push(cancelled_, &operation::next_cancel, op);
  notify();
}

// Release: the reactor's exchange must see the node whole.
void uring_backend::push(std::atomic<operation*>& list, operation* operation::* link, operation* op) noexcept {
  operation* head = list.load(std::memory_order_relaxed);
  do op->*link = head;
  while (!list.compare_exchange_weak(head, op, std::memory_order_release, std::memory_order_relaxed));
}

// Both sides exchange, acq_rel. Either we find `true`: then the reactor's clearing exchange comes later, reads ours,
// and so sees our push when it takes the lists. Or we find `false`, and write.
void uring_backend::notify() noexcept {
  if (notified_.exchange(true, std::memory_order_acq_rel)) return;
  std::uint64_t one = 1;
  while (::write(event_, &one, sizeof one) < 0 && errno == EINTR) {}
}

io_uring_sqe* uring_backend::next_sqe() noexcept {
  io_uring_sqe* sqe = ::io_uring_get_sqe(&ring_);
  while (!sqe) {
    ::io_uring_submit(&ring_);
    sqe = ::io_uring_get_sqe(&ring_);
  }
  return sqe;
}

void uring_backend::arm_wake_up() noexcept {
  if (wake_up_armed_) return;
  io_uring_sqe* sqe = next_sqe();
  ::io_uring_prep_read(sqe, event_, &event_value_, sizeof event_value_, 0);
  ::io_uring_sqe_set_data64(sqe, kWakeUp);
  wake_up_armed_ = true;
}

void uring_backend::serve() noexcept {
  for (;;) {
    take_submissions();
    take_cancellations();
    // Closing, there is nothing more to be told, and a read in the kernel must not outlive event_value_.
    const bool closing = closing_.load(std::memory_order_acquire);
    if (closing && in_flight_ == 0 && !waiting_first_) return;
    if (!closing) arm_wake_up();
    int error = closing ? wait_for_last() : ::io_uring_submit_and_wait(&ring_, 1);
    // EBUSY, EAGAIN: completions must be taken first, which is what comes next. EINTR: a signal. ETIME: the watchdog.
    if (error < 0 && error != -EBUSY && error != -EAGAIN && error != -EINTR && error != -ETIME) std::terminate();
    reap();
  }
}

// A disk or a mount that does not answer keeps the process here: better to say why than to hang in silence.
int uring_backend::wait_for_last() noexcept {
  __kernel_timespec patience{.tv_sec = kPatienceSeconds, .tv_nsec = 0};
  io_uring_cqe* cqe = nullptr;
  int error = ::io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, &patience, nullptr);
  if (error == -ETIME)
    std::fprintf(stderr, "sluice: waiting for %u file operations that the kernel has begun\n", in_flight_);
  return error;
}

void uring_backend::take_submissions() noexcept {
  operation* newest = submitted_.exchange(nullptr, std::memory_order_acquire);
  operation* oldest = nullptr;
  operation* const last = newest;
  while (newest) {
    operation* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  if (oldest) {
    (waiting_last_ ? waiting_last_->next : waiting_first_) = oldest;
    waiting_last_ = last;
  }
  while (waiting_first_ && in_flight_ < kInFlightMax) {
    operation* op = waiting_first_;
    waiting_first_ = op->next;
    if (!waiting_first_) waiting_last_ = nullptr;
    start(op);
  }
}

void uring_backend::start(operation* op) noexcept {
  if (op->cancel_wanted.load(std::memory_order_relaxed)) {
    op->complete(-ECANCELED);
    return;
  }
  io_uring_sqe* sqe = next_sqe();
  if (op->what == operation::kind::open) ::io_uring_prep_openat(sqe, AT_FDCWD, op->path.c_str(), op->open_flags, 0);
  else
    ::io_uring_prep_read(sqe, op->from->number, op->to->data() + op->at, static_cast<unsigned>(op->length), op->offset);
  ::io_uring_sqe_set_data(sqe, op);  // prep does not reset user_data: every SQE sets it
  op->in_kernel = true;
  ++in_flight_;
}

void uring_backend::take_cancellations() noexcept {
  operation* op = cancelled_.exchange(nullptr, std::memory_order_acquire);
  while (op) {
    operation* next = op->next_cancel;
    if (op->in_kernel) {
      io_uring_sqe* sqe = next_sqe();
      ::io_uring_prep_cancel(sqe, op, 0);
      ::io_uring_sqe_set_data64(sqe, kCancellation);
    }
    op->drop_reference();
    op = next;
  }
}

void uring_backend::reap() noexcept {
  io_uring_cqe* cqe = nullptr;
  while (::io_uring_peek_cqe(&ring_, &cqe) == 0) {
    std::uint64_t data = ::io_uring_cqe_get_data64(cqe);
    std::int64_t outcome = cqe->res;
    ::io_uring_cqe_seen(&ring_, cqe);
    if (data == kWakeUp) {
      wake_up_armed_ = false;
      notified_.exchange(false, std::memory_order_acq_rel);  // see notify()
    } else if (data != kCancellation && data != LIBURING_UDATA_TIMEOUT) {
      auto* op = reinterpret_cast<operation*>(data);
      op->in_kernel = false;
      --in_flight_;
      op->complete(outcome);
    }
  }
}

}  // namespace sluice::detail
