// SPDX-License-Identifier: Apache-2.0
#include "io/uring/uring_backend.hpp"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <future>
#include <iterator>
#include <system_error>

namespace sluice::lib::detail {
namespace {

constexpr unsigned kSubmissions = 256;
constexpr unsigned kCompletions = 4096;
// Less than the size of the completion queue, so that it never overflows, cancellations included.
constexpr unsigned kInFlightMax = 1024;
constexpr int kPatienceSeconds = 10;
// The number of attempts to enter a kernel that lacks memory, after 1, 2, 4 … ms: a second in all, in which other
// processes may free some.
constexpr int kEntriesMax = 10;
// The time that operations in the kernel may take after the ring was given up.
constexpr std::chrono::seconds kPatienceWithoutRing{1};
// Values of user_data that are no operations; no node has such an address.
constexpr std::uint64_t kWakeUp = 1;
constexpr std::uint64_t kCancellation = 2;

// The flags to try, best first. DEFER_TASKRUN exists since Linux 6.1, COOP_TASKRUN since 5.19.
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

void prepare_read(io_uring_sqe* sqe, const operation& op, int fd) noexcept {
  ::io_uring_prep_read(sqe, fd, op.to->data() + op.at, static_cast<unsigned>(op.length), op.offset);
  sqe->rw_flags = op.read_flags;
}

/// Returns the descriptor of an open whose head is being read; else -1.
int fd_of(const operation& op) noexcept {
  return op.what == operation::kind::open ? static_cast<const open_operation&>(op).fd : -1;
}

void pause_ms(int ms) noexcept { ::poll(nullptr, 0, ms); }

}  // namespace

uring_backend::uring_backend(unsigned threads_max) : threads_(threads_max) { in_kernel_.reserve(kInFlightMax); }

std::string uring_backend::description() const {
  int why = given_up_.load(std::memory_order_acquire);
  if (!why) return "io_uring";
  return absl::StrCat("threads: ", std::string(errno_error(why, "io_uring stopped working").message()));
}

result<std::unique_ptr<backend>> uring_backend::open(unsigned threads_max) {
  std::unique_ptr<uring_backend> made(new uring_backend(threads_max));
  status why = made->set_up();
  if (!why.ok()) return why;
  return std::unique_ptr<backend>(std::move(made));
}

namespace {

/// The number of rings that were closed. The kernel may map a new ring where an old one was. ThreadSanitizer does not see
/// that, and this counter orders the uses of the new one after those of the old one.
std::atomic<std::uint64_t> rings_closed{0};

}  // namespace

status uring_backend::set_up() {
  event_ = ::eventfd(0, EFD_CLOEXEC);
  if (event_ < 0) return errno_error(errno, "eventfd");
  // The ring must be created on the thread that will own it.
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
      (void)rings_closed.load(std::memory_order_acquire);
      ::io_uring_register_ring_fd(&ring_);  // makes entering cheaper, and may fail
      status why = check_opcodes(ring_);
      bool usable = why.ok();
      made.set_value(std::move(why));
      if (usable) serve();
      rings_closed.fetch_add(1, std::memory_order_release);
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
  if (op->what == operation::kind::call || given_up_.load(std::memory_order_acquire)) {
    threads_.submit(op);
    return;
  }
  push(submitted_, &operation::next, op);
  notify();
}

void uring_backend::cancel(operation* op) noexcept {
  if (op->what == operation::kind::call) return;
  op->add_reference();  // the list's reference
  push(cancelled_, &operation::next_cancel, op);
  notify();
}

// Release: the reactor's exchange must see the whole node.
void uring_backend::push(std::atomic<operation*>& list, operation* operation::* link, operation* op) noexcept {
  operation* head = list.load(std::memory_order_relaxed);
  do op->*link = head;
  while (!list.compare_exchange_weak(head, op, std::memory_order_release, std::memory_order_relaxed));
}

// Both sides exchange with acq_rel. If this exchange returns `true`, the reactor's clearing exchange comes later and
// reads this one, so the reactor sees the push when it takes the lists. If it returns `false`, this function writes to
// the eventfd.
void uring_backend::notify() noexcept {
  if (notified_.exchange(true, std::memory_order_acq_rel)) return;
  // By the same reasoning this exchange came after the one that followed give_up(), so its store is visible.
  if (given_up_.load(std::memory_order_acquire)) {
    notified_.notify_one();
    return;
  }
  std::uint64_t one = 1;
  while (::write(event_, &one, sizeof one) < 0 && errno == EINTR) {}
}

template <class F> int uring_backend::enter(F enter) noexcept {
  for (int attempt = 0;; ++attempt) {
    int error = enter();
    if (error >= 0 || error == -EINTR || error == -ETIME) return 0;  // a signal, or the watchdog
    // Completions must be consumed first, which the callers do next. io_uring_get_events requests them, because an
    // entry whose submissions are refused returns none. If none has arrived, entering again at once could loop forever,
    // so the thread pauses.
    const bool is_busy = error == -EBUSY || error == -EAGAIN;
    if (is_busy) ::io_uring_get_events(&ring_);
    if (is_busy && ::io_uring_cq_ready(&ring_) != 0) return 0;
    if ((!is_busy && error != -ENOMEM) || attempt == kEntriesMax) return -error;
    pause_ms(1 << attempt);
  }
}

io_uring_sqe* uring_backend::next_sqe() noexcept {
  while (!given_up_.load(std::memory_order_relaxed)) {
    if (io_uring_sqe* sqe = ::io_uring_get_sqe(&ring_)) return sqe;
    int error = enter([this] { return ::io_uring_submit(&ring_); });
    if (error) give_up(error);
    else reap();
  }
  return nullptr;
}

void uring_backend::arm_wake_up() noexcept {
  if (wake_up_armed_) return;
  io_uring_sqe* sqe = next_sqe();
  if (!sqe) return;
  ::io_uring_prep_read(sqe, event_, event_value_.get(), sizeof *event_value_, 0);
  ::io_uring_sqe_set_data64(sqe, kWakeUp);
  wake_up_armed_ = true;
}

void uring_backend::serve() noexcept {
  while (!given_up_.load(std::memory_order_relaxed)) {
    take_submissions();
    take_cancellations();
    // While closing, no wake-up is needed, and a read in the kernel must not outlive event_value_.
    const bool closing = closing_.load(std::memory_order_acquire);
    if (closing && in_kernel_.empty() && !waiting_first_) return;
    if (!closing) arm_wake_up();
    int error = enter([&] { return closing ? wait_for_last() : ::io_uring_submit_and_wait(&ring_, 1); });
    if (error) give_up(error);
    else reap();
  }
  serve_without_ring();
}

// Takes back what the kernel has not consumed from the ring, and replaces it by no-ops in case the kernel reads it
// later.
void uring_backend::give_up(int error) noexcept {
  if (given_up_.load(std::memory_order_relaxed)) return;
  (void)event_value_.release();  // the kernel may write to it forever
  given_up_.store(error, std::memory_order_release);
  io_uring_sq& sq = ring_.sq;
  for (unsigned i = __atomic_load_n(sq.khead, __ATOMIC_ACQUIRE); i != sq.sqe_tail; ++i) {
    io_uring_sqe* sqe = &sq.sqes[i & sq.ring_mask];
    std::uint64_t data = sqe->user_data;
    ::io_uring_prep_nop(sqe);
    ::io_uring_sqe_set_data64(sqe, kCancellation);
    if (data == kWakeUp || data == kCancellation || data == LIBURING_UDATA_TIMEOUT) continue;
    auto* op = reinterpret_cast<operation*>(data);
    came_back(op);
    if (const int fd = fd_of(*op); fd >= 0) op->complete(fd);  // without its head
    else threads_.submit(op);
  }
}

void uring_backend::serve_without_ring() noexcept {
  const auto until = std::chrono::steady_clock::now() + kPatienceWithoutRing;
  for (;;) {
    notified_.exchange(false, std::memory_order_acq_rel);  // see notify()
    take_submissions();                                    // start() passes them to threads
    take_cancellations();
    if (!in_kernel_.empty()) {
      (void)::io_uring_get_events(&ring_);  // the ring may work again, or completions may have arrived
      reap();
      if (std::chrono::steady_clock::now() >= until) leave_to_kernel();
      pause_ms(1);
    } else if (closing_.load(std::memory_order_acquire)) {
      return;
    } else {
      notified_.wait(false, std::memory_order_acquire);
    }
  }
}

// One reference is never dropped. It retains the buffer, which the kernel may still write.
void uring_backend::leave_to_kernel() noexcept {
  while (!in_kernel_.empty()) {
    operation* op = in_kernel_.back();
    came_back(op);
    op->add_reference();
    if (const int fd = fd_of(*op); fd >= 0) ::close(fd);
    op->complete(-EIO);
  }
}

void uring_backend::came_back(operation* op) noexcept {
  op->in_kernel = false;
  in_kernel_[op->in_kernel_at] = in_kernel_.back();
  in_kernel_[op->in_kernel_at]->in_kernel_at = op->in_kernel_at;
  in_kernel_.pop_back();
}

// A disk or a mount that does not answer delays the end of the process. The message explains the wait.
int uring_backend::wait_for_last() noexcept {
  __kernel_timespec patience{.tv_sec = kPatienceSeconds, .tv_nsec = 0};
  io_uring_cqe* cqe = nullptr;
  int error = ::io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, &patience, nullptr);
  if (error == -ETIME)
    std::fprintf(stderr, "sluice: waiting for %zu file operations that the kernel has begun\n", in_kernel_.size());
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
  while (waiting_first_ && (in_kernel_.size() < kInFlightMax || given_up_.load(std::memory_order_relaxed))) {
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
  if (!sqe) {
    threads_.submit(op);
    return;
  }
  if (op->what == operation::kind::open) ::io_uring_prep_openat(sqe, AT_FDCWD, op->path.c_str(), op->open_flags, 0);
  else prepare_read(sqe, *op, op->from->number);
  ::io_uring_sqe_set_data(sqe, op);  // prep does not reset user_data, so every SQE sets it
  op->in_kernel = true;
  op->in_kernel_at = static_cast<unsigned>(in_kernel_.size());
  in_kernel_.push_back(op);
}

// The ring executes an open and the read of its head one after the other, so that its submitter waits once. A chain of
// links over a direct descriptor is not faster (docs/internals/decisions/files.md).
bool uring_backend::continues(operation* op, std::int64_t& outcome) noexcept {
  if (op->what != operation::kind::open) return false;
  auto* opening = static_cast<open_operation*>(op);
  if (opening->fd >= 0) {
    opening->has_read(outcome);
    outcome = opening->fd;
    return false;
  }
  if (outcome < 0 || !opening->opened(static_cast<int>(outcome))) return false;
  io_uring_sqe* sqe = next_sqe();
  if (!sqe) return false;  // without its head
  prepare_read(sqe, *op, opening->fd);
  ::io_uring_sqe_set_data(sqe, op);
  return true;
}

void uring_backend::take_cancellations() noexcept {
  operation* op = cancelled_.exchange(nullptr, std::memory_order_acquire);
  while (op) {
    operation* next = op->next_cancel;
    if (op->in_kernel) {
      if (io_uring_sqe* sqe = next_sqe()) {
        ::io_uring_prep_cancel(sqe, op, 0);
        ::io_uring_sqe_set_data64(sqe, kCancellation);
      }
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
      if (continues(op, outcome)) continue;
      came_back(op);
      op->complete(outcome);
    }
  }
}

}  // namespace sluice::lib::detail
