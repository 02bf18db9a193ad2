// SPDX-License-Identifier: Apache-2.0
// One request to the operating system, from submission to completion.
//
// The node, never the coroutine frame, owns what the kernel uses: path, descriptor, buffer. It has two references, the
// awaiter's and the back end's, and dies with the later; it stays until the kernel has answered. A deadline parts the two: the
// awaiter goes on, and the node waits for the kernel alone. A frame that waits here may
// be destroyed only when its executor will not run it again (at the end of everything); else it is stopped, and resumed.
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

/// A file descriptor, closed after its last use: files and the reads in flight on them share it.
struct descriptor {
  explicit descriptor(int n) noexcept : number(n) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor();
  const int number;
};

class backend;

struct operation {
  /// perform()'s answer where the deadline came first. No system call gives it.
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

  // The back end's, guarded by its own rules.
  operation* next = nullptr;
  operation* next_cancel = nullptr;
  bool in_kernel = false;
  unsigned in_kernel_at = 0;  ///< its place among those in the kernel

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  /// The last drop must see every use of the node before it frees it: acq_rel.
  void drop_reference() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Has `io` end it as soon as it can. Stops and deadlines may both ask; the back end is told once.
  void ask_to_cancel(backend& io) noexcept;
  /// The back end is done: resumes the waiter unless it is gone, and drops the back end's reference.
  void complete(std::int64_t outcome) noexcept;
  /// The waiter is gone: nobody is resumed.
  void abandon() noexcept { waiter_is_.store(state::gone, std::memory_order_release); }

  /// Resumes the waiter at `deadline` where the back end has not done so before. The timer holds a reference.
  void arm(clock& time, time_point deadline, backend& io) noexcept;
  /// Before the waiter reads anything, and before it goes.
  void disarm(clock& time) noexcept;
  /// From here on the operation may be submitted, and the waiter resumed. False: the deadline has passed already.
  bool begin() noexcept;
  /// The deadline came first: `result` is the back end's still.
  bool timed_out() const noexcept { return waiter_is_.load(std::memory_order_acquire) == state::timed_out; }

 private:
  struct deadline_timer : timer_node {
    operation* of = nullptr;
    backend* home = nullptr;
  };
  static void on_deadline(timer_node& node) noexcept;

  // Back end and deadline both want to resume the waiter: the first to change `waits` does. Release and acquire: the waiter
  // sees what the back end has written.
  enum class state : std::uint8_t { starts, waits, resumed, timed_out, gone };
  std::atomic<state> waiter_is_{state::starts};
  std::atomic<std::uint32_t> references_{2};
  deadline_timer timer_;
};

/// path, open_flags → result: a descriptor; and what a look at it told. With `length`, of a regular file the first so many bytes
/// are
/// read into `to` before it completes: one hop for both. What goes wrong with that leaves head_bytes 0 and is no error of the
/// open.
struct open_operation final : operation {
  open_operation() noexcept : operation(kind::open) {}

  struct stat found{};
  int stat_error = 0;  ///< why `found` is not known: an errno
  std::size_t head_bytes = 0;

  /// The file is open: looks at it. True: a read of its head, `length` bytes at 0, comes next.
  bool opened(int fd) noexcept;
  /// The read of the head has come to this.
  void has_read(std::int64_t got) noexcept { head_bytes = got > 0 ? static_cast<std::size_t>(got) : 0; }
  int fd = -1;  ///< while the head is read
};

/// What carries operations out. Thread: any.
class backend {
 public:
  virtual ~backend() = default;
  /// Takes over one reference; completes the operation exactly once, later, on any thread.
  virtual void submit(operation* op) noexcept = 0;
  /// Best effort; the operation still completes. The caller keeps its reference.
  virtual void cancel(operation* op) noexcept = 0;
  virtual std::string description() const = 0;
};

/// `auto n = co_await perform(io, op, deadline);` submits and waits; n is op->result, or kTimedOut. Takes over the awaiter's
/// reference.
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
    // Before it begins: after that we may be resumed, and gone, on another thread.
    if (env->stop.stop_possible()) stop_.emplace(env->stop, canceller{&io_, op_});
    if (deadline_ != time_point::max()) op_->arm(*(time_ = env->time), deadline_, io_);
    operation* op = op_;
    backend& io = io_;
    if (op->begin()) return io.submit(op), true;
    op->drop_reference();  // the back end's
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
  clock* time_ = nullptr;  ///< while the deadline's timer is armed
  bool waiting_ = false;
  std::optional<std::stop_callback<canceller>> stop_;
};

}  // namespace sluice::lib::detail
