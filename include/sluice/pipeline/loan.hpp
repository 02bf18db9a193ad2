// SPDX-License-Identifier: Apache-2.0
// Requests on a stream by a consumer that is not a coroutine of this library; the base of adapters such as
// sluice/asio.hpp.
//
// Such a consumer has no coroutine frame that the tree could resume, and it may destroy its stream object at any time,
// even during a request. So the tree is *lent*: lend() moves it out of the stream object to a task of the run, which
// makes a request on the runtime's workers. When that is finished, give_back() moves the tree back, on the consumer's
// own thread. In between, the stream object has no stage, only a reference to its loan: moving the object informs the
// loan, and destroying it stops the run and leaves the tree to the task. No call blocks.
//
// Cancel: the consumer may abandon its wait. The request continues, and its block is available to the next wait, so no
//         element is lost.
// Thread: lend, wait, abandon, give_back and all use of the stream object: the consumer's thread (or strand).
//         waiter::ready() is called on any thread.
// Owns:   the tree while it is lent. The runtime's destructor waits for the end of the request, but not for the
//         consumer.
#pragma once

#include <memory>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/stream_base.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class run_task;

class loan final : public run_base, public std::enable_shared_from_this<loan> {
 public:
  /// A consumer that waits for the end of the request.
  class waiter {
   public:
    virtual ~waiter() = default;
    /// Called once, when the request has ended; within wait() if it has ended already.
    virtual void ready(std::shared_ptr<loan> from) noexcept = 0;
  };

  /// The loan that has the tree of `s`; null if it is not lent.
  static std::shared_ptr<loan> of(const stream_base& s);
  /// Moves the tree out of `s` and starts a request on it. REQUIRES: `s` is the root of a run, at rest, and not lent.
  static std::shared_ptr<loan> lend(stream_base& s);

  /// Registers `w` for the end of the request. Returns false if another waiter exists; `w` is then unchanged.
  bool wait(std::unique_ptr<waiter>& w);
  /// Removes and returns the waiter `who`; null if it was called already, or is not the registered one.
  std::unique_ptr<waiter> abandon(const waiter* who);
  /// If the request has ended, moves the tree back and returns the stream object. Null while the request is
  /// outstanding, and if the stream object was destroyed.
  stream_base* give_back();

  void request_stop() noexcept override;
  std::string seal(std::string position) const override { return run_->seal(std::move(position)); }
  void when_drained(void (*done)(void*) noexcept, void* argument) noexcept override {
    run_->when_drained(done, argument);
  }
  void owner_moved(stream_base* to) noexcept override;

  loan(stream_base& s, std::shared_ptr<run_base> run);

 private:
  /// The lent tree. Its task makes a request and leaves all elements of the view to the consumer.
  struct borrowed : stream_base {
    explicit borrowed(stream_base&& s) noexcept : stream_base(std::move(s)) {}
    struct fill_awaiter {
      borrowed& s;
      bool await_ready() const noexcept { return s.cur_ != s.end_; }
      template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) const {
        s.request_want_ = 0;
        return s.ask(h.promise());
      }
      void await_resume() const {
        if (s.cur_ != s.end_) return;
        s.set_view();
        s.end_task_fill();
      }
    };
  };
  static run_task fill(std::shared_ptr<run_context>& run, std::shared_ptr<loan> self);
  void came_to_rest();

  const std::shared_ptr<run_base> run_;
  std::atomic<bool> returned_{false};
  stream_base* owner_;  ///< the stream object; null if destroyed. Used on the consumer's thread only
  mutex mutex_;
  borrowed tree_;  ///< used by the request until at_rest_
  bool at_rest_ ABSL_GUARDED_BY(mutex_) = false;
  bool owner_gone_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<waiter> waiter_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
