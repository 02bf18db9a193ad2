// SPDX-License-Identifier: Apache-2.0
// Pulling on a stream for somebody who is not one of our coroutines: what adapters (sluice/asio.hpp) stand on.
//
// A consumer outside has no frame that the tree could resume, and its stream object may go away at any time. So the
// tree is lent: a task of the run takes it out of the stream object, fills its view on the runtime's workers, and it
// comes back in give_back(), on the consumer's own thread. Between the two the stream object is a stub that knows its
// loan: moving it tells the loan, destroying it stops the run and leaves the tree to the task. Nobody ever blocks.
//
// Cancel: who waits may leave (abandon); the pull goes on, and the next wait finds what it brought. Nothing is lost.
// Thread: lend, wait, abandon, give_back and all use of the stream object: the consumer's thread (or strand). ready() is
//         called on any thread.
// Owns:   the tree while it is lent. The runtime's end waits for the pull, not for the consumer.
#pragma once

#include <memory>
#include <mutex>

#include "sluice/coro/stream_base.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class run_task;

class loan final : public run_base, public std::enable_shared_from_this<loan> {
 public:
  /// Told once that the pull is over, or that it was over already.
  class waiter {
   public:
    virtual ~waiter() = default;
    virtual void ready(std::shared_ptr<loan> from) noexcept = 0;
  };

  /// The loan on which a stream's tree is out; null when the stream has it.
  static std::shared_ptr<loan> of(const stream_base& s);
  /// Takes the tree of a run's stream and starts to pull.
  static std::shared_ptr<loan> lend(stream_base& s);

  /// `w` hears of the end of the pull. False: somebody waits already, and `w` is untouched.
  bool wait(std::unique_ptr<waiter>& w);
  /// Has `who` back, if it waits and has not been told yet.
  std::unique_ptr<waiter> abandon(const waiter* who);
  /// Puts the tree back when it is at rest. The stream; null while the pull goes on, and when the stream is gone.
  stream_base* give_back();

  void request_stop() noexcept override;
  std::string seal(std::string position) const override { return run_->seal(std::move(position)); }
  void when_drained(void (*done)(void*) noexcept, void* argument) noexcept override {
    run_->when_drained(done, argument);
  }
  void owner_moved(stream_base* to) noexcept override;

  loan(stream_base& s, std::shared_ptr<run_base> run);

 private:
  /// The tree, as a consumer of its own: fills the view and takes nothing of it.
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
  stream_base* owner_;  ///< the consumer's thread only; null: gone
  std::mutex mutex_;
  borrowed tree_;         ///< the pull's until at_rest_
  bool at_rest_ = false;  ///< guarded by mutex_, as are the two below
  bool owner_gone_ = false;
  std::unique_ptr<waiter> waiter_;
};

}  // namespace sluice::lib
