// SPDX-License-Identifier: Apache-2.0
// One request to the operating system, from submission to completion.
//
// The node, never the coroutine frame, owns what the kernel uses: path, descriptor, buffer. It has two references, the
// awaiter's and the back end's, and dies with the later; it stays until the kernel has answered. A frame that waits here may
// be destroyed only when its executor will not run it again (at the end of everything); else it is stopped, and resumed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sluice/base/buffer.hpp"
#include "sluice/coro/promise.hpp"

namespace sluice::lib::detail {

/// A file descriptor, closed after its last use: files and the reads in flight on them share it.
struct descriptor {
  explicit descriptor(int n) noexcept : number(n) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor();
  const int number;
};

struct operation {
  enum class kind : std::uint8_t {
    open,  ///< path, open_flags → result: a descriptor
    read,  ///< from, offset, length, to, at → result: bytes
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
  std::uint64_t offset = 0;
  std::int64_t result = 0;  ///< ≥ 0, or a negative errno

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
  /// The back end is done: resumes the waiter unless it is gone, and drops the back end's reference.
  void complete(std::int64_t outcome) noexcept;
  /// The waiter is gone: nobody is resumed.
  void abandon() noexcept { abandoned_.store(true, std::memory_order_release); }

 private:
  std::atomic<std::uint32_t> references_{2};
  std::atomic<bool> abandoned_{false};
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

/// `auto n = co_await perform(io, op);` submits and waits; n is op->result. Takes over the awaiter's reference.
class [[nodiscard]] perform {
 public:
  perform(backend& io, operation* op) noexcept : io_(io), op_(op) {}
  perform(const perform&) = delete;
  ~perform() {
    stop_.reset();
    if (waiting_) op_->abandon();
    op_->drop_reference();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) noexcept {
    environment* env = h.promise().env;
    op_->exec = env->exec;
    op_->waiter = h;
    waiting_ = true;
    // Before the submission: after it we may be resumed, and gone, on another thread.
    if (env->stop.stop_possible()) stop_.emplace(env->stop, canceller{&io_, op_});
    io_.submit(op_);
  }
  std::int64_t await_resume() noexcept {
    waiting_ = false;
    stop_.reset();
    return op_->result;
  }

 private:
  struct canceller {
    backend* io;
    operation* op;
    void operator()() const noexcept {
      op->cancel_wanted.store(true, std::memory_order_relaxed);
      io->cancel(op);
    }
  };
  backend& io_;
  operation* op_;
  bool waiting_ = false;
  std::optional<std::stop_callback<canceller>> stop_;
};

}  // namespace sluice::lib::detail
