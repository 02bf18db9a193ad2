// SPDX-License-Identifier: Apache-2.0
// A request to the operating system, from submission to completion.
//
// The node, never the coroutine frame, owns the memory that the kernel uses: path, descriptor, buffer. It has two
// references, the awaiter's and the back end's, and is destroyed with the last one, after the kernel has answered. At a
// deadline the awaiter continues, and the node alone waits for the kernel. A waiting frame may be destroyed only if its
// executor will not run it again (at the end of everything); otherwise it is stopped and resumed.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "sluice/base/buffer.hpp"
#include "sluice/coro/detail/promise.hpp"

namespace sluice::lib::detail {

/// A file descriptor that is closed after its last use. Files and the reads in flight on them share it.
struct descriptor {
  explicit descriptor(int n) noexcept : number(n) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor();
  const int number;
};

class backend;

struct operation {
  /// The result of perform() if the deadline comes first. No system call returns this value.
  static constexpr std::int64_t kTimedOut = -ETIME;

  enum class kind : std::uint8_t {
    open,  ///< an open_operation
    read,  ///< from, offset, length, to, at, read_flags → result: bytes
    call,  ///< run(): blocks a thread
  };

  explicit operation(kind k) noexcept : what(k) {}
  virtual ~operation();
  virtual void run() noexcept {}

  const kind what;
  std::string path;
  std::shared_ptr<descriptor> from;
  buffer_ref to;
  std::size_t at = 0, length = 0;
  int open_flags = 0;
  int read_flags = 0;  ///< of preadv2
  std::uint64_t offset = 0;
  std::int64_t result = -ECANCELED;  ///< ≥ 0, or a negative errno

  executor* exec = nullptr;
  std::coroutine_handle<> waiter;
  std::atomic<bool> cancel_wanted{false};

  // For the back end, guarded by its own rules.
  operation* next = nullptr;
  operation* next_cancel = nullptr;
  bool in_kernel = false;
  unsigned in_kernel_at = 0;  ///< its index among the operations in the kernel

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  /// Drops a reference. The last drop must see every use of the node before it frees it: acq_rel.
  void drop_reference() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Requests cancellation from `io`. Stops and deadlines may both call this; the back end is notified once.
  void ask_to_cancel(backend& io) noexcept;
  /// Called by the back end at the end: resumes the waiter unless it is gone, and drops the back end's reference.
  void complete(std::int64_t outcome) noexcept;
  /// Declares that the waiter is gone, so that it is not resumed.
  void abandon() noexcept { waiter_is_.store(state::gone, std::memory_order_release); }

  /// Starts a timer that resumes the waiter at `deadline` unless the back end has done so. The timer holds a reference.
  void arm(clock& time, time_point deadline, backend& io) noexcept;
  /// Stops the timer. The waiter calls this before it reads any result, and before it ends.
  void disarm(clock& time) noexcept;
  /// Allows submission and resumption from now on. Returns false if the deadline has already passed.
  bool begin() noexcept;
  /// Returns true if the deadline came first. `result` still belongs to the back end then.
  bool timed_out() const noexcept { return waiter_is_.load(std::memory_order_acquire) == state::timed_out; }

 private:
  struct deadline_timer : timer_node {
    operation* of = nullptr;
    backend* home = nullptr;
  };
  static void on_deadline(timer_node& node) noexcept;

  // Back end and deadline both try to resume the waiter. The first one to change `waits` does so. Release and acquire:
  // the waiter sees the memory that the back end has written.
  enum class state : std::uint8_t { starts, waits, resumed, timed_out, gone };
  std::atomic<state> waiter_is_{state::starts};
  std::atomic<std::uint32_t> references_{2};
  deadline_timer timer_;
};

/// path, open_flags → result: a descriptor, and the file's status. With `length`, the first `length` bytes of a regular
/// file are read into `to` before completion, so that one hop does both. If this read fails, head_bytes is 0, and the
/// open still succeeds.
struct open_operation final : operation {
  open_operation() noexcept : operation(kind::open) {}

  struct stat found{};
  int stat_error = 0;  ///< an errno if `found` is unknown
  std::size_t head_bytes = 0;

  /// Reads the status of the opened file. Returns true if the head must be read next: `length` bytes at 0.
  bool opened(int fd) noexcept;
  /// Stores the result of reading the head.
  void has_read(std::int64_t got) noexcept { head_bytes = got > 0 ? static_cast<std::size_t>(got) : 0; }
  int fd = -1;  ///< valid while the head is read
};

/// Executes operations. Thread: any.
class backend {
 public:
  virtual ~backend() = default;
  /// Takes over one reference, and completes the operation exactly once, later, on any thread.
  virtual void submit(operation* op) noexcept = 0;
  /// Requests cancellation, best effort; the operation still completes. The caller retains its reference.
  virtual void cancel(operation* op) noexcept = 0;
  virtual std::string description() const = 0;
};

/// `auto n = co_await perform(io, op, deadline);` submits and waits; n is op->result, or kTimedOut. It takes over the
/// awaiter's reference.
class [[nodiscard]] perform {
 public:
  perform(backend& io, operation* op, time_point deadline = time_point::max()) noexcept
      : io_(io), op_(op), deadline_(deadline) {}
  perform(const perform&) = delete;
  ~perform() {
    stop_.reset();
    if (time_) op_->disarm(*time_);
    if (waiting_) op_->abandon();
    op_->drop_reference();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
    environment* env = h.promise().env;
    op_->exec = env->exec;
    op_->waiter = h;
    waiting_ = true;
    // Before begin(): afterwards another thread may resume and destroy this object.
    if (env->stop.stop_possible()) stop_.emplace(env->stop, canceller{&io_, op_});
    if (deadline_ != time_point::max()) op_->arm(*(time_ = env->time), deadline_, io_);
    operation* op = op_;
    backend& io = io_;
    if (op->begin()) return io.submit(op), true;
    op->drop_reference();  // the back end's reference
    return false;
  }
  std::int64_t await_resume() noexcept {
    waiting_ = false;
    stop_.reset();
    if (!time_) return op_->result;
    op_->disarm(*std::exchange(time_, nullptr));
    return op_->timed_out() ? operation::kTimedOut : op_->result;
  }

 private:
  struct canceller {
    backend* io;
    operation* op;
    void operator()() const noexcept { op->ask_to_cancel(*io); }
  };
  backend& io_;
  operation* op_;
  time_point deadline_;
  clock* time_ = nullptr;  ///< not null while the deadline's timer is armed
  bool waiting_ = false;
  std::optional<std::stop_callback<canceller>> stop_;
};

}  // namespace sluice::lib::detail
