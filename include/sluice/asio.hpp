// SPDX-License-Identifier: Apache-2.0
// async_next: an asio operation that completes with the next element of a stream, for any executor and completion
// token. async_push: one that pushes an element into a channel (op/from_channel.hpp).
//
//   asio::awaitable<void> serve(tcp::socket socket, stream<std::string> s) {
//     while (auto line = co_await async_next(s, asio::use_awaitable))      // std::optional<std::string>
//       co_await asio::async_write(socket, asio::buffer(*line), asio::use_awaitable);
//   }
//   async_next(s, [](std::exception_ptr why, std::optional<std::string> element) { … });
//   std::future<std::optional<std::string>> f = async_next(s, asio::use_future);
//
//   auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
//   timed_next<std::string> got = co_await async_next(s, soon, asio::use_awaitable);   // an element, the end, or late
//
//   asio::awaitable<void> receive(tcp::socket socket, channel_sender<std::string> push) {
//     std::string line;
//     while (co_await read_line(socket, line))
//       if (!co_await async_push(push, line, asio::use_awaitable)) break;    // the pipeline is gone
//   }
//
// The following describes async_next; the declaration of async_push lists the differences.
// Shape:  completes with void(std::exception_ptr, std::optional<T>); nullopt is the end.
// Order:  one operation on a stream at a time; a second one completes with failed_precondition.
// Errors: `sluice::error`, after the elements before it; every later operation completes with the same error.
// Cancel: the token's cancellation slot (terminal or partial) completes the operation at once with `cancelled`. The
//         stream stays usable: the request continues, and the next async_next gets its element, so none is lost. To
//         stop the run, destroy the stream or call request_stop().
// Thread: the handler is called on its associated executor, never inside async_next. The stream object must only be
//         used there. While an operation is outstanding, or one was cancelled and none has completed since, the object
//         may be moved, destroyed, stopped (request_stop) and used for async_next, and for nothing else.
// Owns:   an operation counts as work on its executor, and its handler is destroyed with the execution context, as
//         those of asio's own operations are. If the stream is destroyed meanwhile, the operation completes with
//         `cancelled`. The run stops, and the runtime joins its tasks. No destructor blocks.
// Cost:   one post while elements of the last block are left; otherwise a few allocations, and a switch to the workers
//         and back.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <unordered_set>

#include <asio/any_io_executor.hpp>
#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/dispatch.hpp>
#include <asio/execution/context.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/query.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/system_executor.hpp>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/stream.hpp"
#include "sluice/op/from_channel.hpp"
#include "sluice/pipeline/loan.hpp"

namespace sluice::lib {

/// The result of async_next with a deadline.
template <class T> struct timed_next {
  std::optional<T> element;  ///< empty at the end of the stream and after the deadline
  bool is_late = false;      ///< the deadline has passed without an element; the next request returns the element
  explicit operator bool() const noexcept { return element.has_value(); }
  T& operator*() noexcept { return *element; }
  T* operator->() noexcept { return &*element; }
};

namespace detail {

inline std::exception_ptr as_exception(const status& why) {
  if (why.ok()) return nullptr;
  try {
    throw_status(why);
  } catch (...) { return std::current_exception(); }
}

/// An outstanding operation, whose handler must not outlive its execution context.
class owned_wait {
 public:
  virtual ~owned_wait() = default;
  virtual void drop() = 0;  ///< destroys the handler without calling it
};

/// The outstanding operations of one execution context. A request ends on a worker of the runtime, perhaps while the
/// context is being destroyed on another thread. The thread that removes the operation from this set, under the mutex,
/// owns its handler.
struct waits {
  lib::mutex mutex;
  std::unordered_set<std::shared_ptr<owned_wait>> outstanding ABSL_GUARDED_BY(mutex);
};

/// Destroys the handlers of outstanding operations when their context is destroyed, as asio does for its own.
class waits_service final : public asio::execution_context::service {
 public:
  static inline asio::execution_context::id id;
  explicit waits_service(asio::execution_context& context) : service(context) {}
  const std::shared_ptr<waits>& here() const { return waits_; }

 private:
  void shutdown() override {
    std::unordered_set<std::shared_ptr<owned_wait>> ended;
    {
      mutex_lock lock(waits_->mutex);
      ended.swap(waits_->outstanding);
    }
    for (auto& w : ended) w->drop();
  }
  std::shared_ptr<waits> waits_ = std::make_shared<waits>();
};

/// The function object that is posted to the handler's executor: it moves a lent tree back, then calls the handler.
template <class T, class Handler> class delivery {
 public:
  using executor_type = asio::associated_executor_t<Handler>;
  using allocator_type = asio::associated_allocator_t<Handler>;

  explicit delivery(Handler handler) : handler_(std::move(handler)), work_(asio::get_associated_executor(handler_)) {}
  executor_type get_executor() const noexcept { return asio::get_associated_executor(handler_); }
  allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler_); }
  asio::associated_cancellation_slot_t<Handler> slot() const {
    return asio::get_associated_cancellation_slot(handler_);
  }

  void carry(T* element) {
    if (element) element_.emplace(std::move(*element));
  }
  void carry(status why) { why_ = std::move(why); }
  void carry(std::shared_ptr<loan> l) { loan_ = std::move(l); }
  static void post(delivery d) {
    auto executor = d.get_executor();
    asio::post(executor, std::move(d));
  }

  void operator()() {
    if (loan_) take_back();
    if (auto s = slot(); s.is_connected()) s.clear();
    auto work = std::move(work_);  // kept until the handler has returned: it may start the next operation
    auto handler = std::move(handler_);
    std::move(handler)(as_exception(why_), std::move(element_));
  }

 private:
  void take_back() {
    stream_base* back = loan_->give_back();
    loan_.reset();
    if (!back) return carry(cancelled_error("the stream was dropped"));
    if (back->left()) return carry(engine_access::typed<stream<T>>(*back).next().await_resume());
    carry(back->stage()->failure);
  }

  Handler handler_;
  asio::executor_work_guard<executor_type> work_;
  std::optional<T> element_;
  status why_;
  std::shared_ptr<loan> loan_;
};

template <class T, class Handler> class asio_waiter final : public loan::waiter {
 public:
  explicit asio_waiter(Handler handler) : wait_(std::make_shared<wait>(std::move(handler))) {
    all_ = waits_of(wait_->what->get_executor());
    mutex_lock lock(all_->mutex);
    all_->outstanding.insert(wait_);
  }
  auto slot() const { return wait_->what->slot(); }
  void ready(std::shared_ptr<loan> from) noexcept override { answer(std::move(from)); }
  void give_up(status why) { answer(std::move(why)); }
  void give(T value) { answer(&value); }

 private:
  struct wait final : owned_wait {
    explicit wait(Handler handler) : what(std::in_place, std::move(handler)) {}
    void drop() override { what.reset(); }
    std::optional<delivery<T, Handler>> what;
  };

  template <class Executor> static std::shared_ptr<waits> waits_of(const Executor& executor) {
    if constexpr (asio::can_query_v<Executor, asio::execution::context_t>) {
      asio::execution_context& context = asio::query(executor, asio::execution::context);
      return asio::use_service<waits_service>(context).here();
    }
    return std::make_shared<waits>();  // use_future's executor has no context that could be destroyed
  }

  template <class What> void answer(What with) {
    mutex_lock lock(all_->mutex);  // locked while posting, too, so that the context is not destroyed meanwhile
    if (!all_->outstanding.erase(wait_)) return;
    wait_->what->carry(std::move(with));
    delivery<T, Handler>::post(*std::move(wait_->what));
    wait_->what.reset();  // a strand in the handler must not outlive the context
  }

  std::shared_ptr<wait> wait_;
  std::shared_ptr<waits> all_;
};

template <class T> struct start_next {
  template <class Handler> void operator()(Handler&& handler, stream<T>* s) const {
    using own_handler = std::decay_t<Handler>;
    using own_waiter = asio_waiter<T, own_handler>;
    stream_base& tree = engine_access::of(*s);
    std::shared_ptr<loan> out = loan::of(tree);
    if (out && out->give_back()) out.reset();  // the request of a cancelled operation has ended by now
    if (!out && tree.left()) {
      delivery<T, own_handler> d(std::forward<Handler>(handler));
      d.carry(s->next().await_resume());
      return d.post(std::move(d));
    }
    auto waiting = std::make_unique<own_waiter>(std::forward<Handler>(handler));
    auto slot = waiting->slot();
    std::unique_ptr<loan::waiter> w = std::move(waiting);
    auto refuse = [](std::unique_ptr<loan::waiter> who, status why) {
      static_cast<own_waiter&>(*who).give_up(std::move(why));
    };
    if (const environment* e = !out && tree ? tree.stage()->env : nullptr; e && e->is_homeless.load())
      return refuse(std::move(w), e->stop_error());
    if (!out && !(tree && tree.run()))
      return refuse(std::move(w), failed_precondition_error("this is no stream of a run: ask iterate() for one"));
    if (!out) out = loan::lend(tree);
    // Before wait(): after wait() the handler may have been called, and the slot may belong to its next operation.
    if (slot.is_connected()) {
      slot.assign([refuse, l = std::weak_ptr<loan>(out), who = w.get()](asio::cancellation_type type) {
        if ((type & (asio::cancellation_type::terminal | asio::cancellation_type::partial)) ==
            asio::cancellation_type::none)
          return;
        auto lent = l.lock();
        if (!lent) return;
        if (auto left = lent->abandon(who)) refuse(std::move(left), cancelled_error("the wait was cancelled"));
      });
    }
    if (!out->wait(w)) refuse(std::move(w), failed_precondition_error("another wait on this stream is outstanding"));
  }
};

/// An async_next and a timer. The timer cancels the request when the deadline passes; only the request's completion
/// calls the handler, so an element that is ready by then is delivered. Thread: start(): any; the rest: the strand.
template <class T, class Handler> class timed_wait : public std::enable_shared_from_this<timed_wait<T, Handler>> {
 public:
  using executor = asio::associated_executor_t<Handler>;

  timed_wait(Handler handler, std::chrono::steady_clock::time_point deadline)
      : handler_(std::move(handler)),
        executor_(asio::get_associated_executor(handler_)),
        work_(executor_),
        strand_(strand_of(executor_)),
        timer_(strand_, deadline) {}

  void start(stream<T>* s) {
    if (auto slot = asio::get_associated_cancellation_slot(handler_); slot.is_connected())
      slot.assign([me = this->weak_from_this()](asio::cancellation_type type) {
        if (auto there = me.lock()) asio::post(there->strand_, [there, type] { there->stop_.emit(type); });
      });
    auto me = this->shared_from_this();
    auto done = [me](std::exception_ptr why, std::optional<T> x) { me->finish(std::move(why), std::move(x)); };
    // The request begins in this call: the stream may be moved or destroyed after it. The strand may run finish() on
    // another thread from here on.
    start_next<T>()(asio::bind_cancellation_slot(stop_.slot(), asio::bind_executor(strand_, std::move(done))), s);
    asio::dispatch(strand_, [me] {
      if (me->is_over_) return;
      me->timer_.async_wait([me](asio::error_code why) {
        if (why || me->is_over_) return;
        me->is_late_ = true;
        me->stop_.emit(asio::cancellation_type::terminal);
      });
    });
  }

 private:
  static asio::any_io_executor strand_of(const executor& e) {
    if constexpr (std::is_constructible_v<asio::any_io_executor, asio::strand<executor>>) return asio::make_strand(e);
    else return asio::make_strand(asio::system_executor());  // use_future's executor has no timers
  }
  static bool is_cancelled(const std::exception_ptr& why) {
    try {
      if (why) std::rethrow_exception(why);
    } catch (const error& e) { return e.code() == status_code::cancelled; } catch (...) {
    }
    return false;
  }
  void finish(std::exception_ptr why, std::optional<T> element) {
    is_over_ = true;
    timer_.cancel();
    if (auto slot = asio::get_associated_cancellation_slot(handler_); slot.is_connected()) slot.clear();
    timed_next<T> got{std::move(element), is_late_ && is_cancelled(why)};
    if (got.is_late) why = nullptr;
    asio::dispatch(executor_, [handler = std::move(handler_), work = std::move(work_), why = std::move(why),
                               got = std::move(got)]() mutable { std::move(handler)(std::move(why), std::move(got)); });
  }

  Handler handler_;
  executor executor_;
  asio::executor_work_guard<executor> work_;
  asio::any_io_executor strand_;  // a work guard of a strand of any_io_executor does not compile with asio 1.22
  asio::steady_timer timer_;
  asio::cancellation_signal stop_;
  bool is_over_ = false, is_late_ = false;
};

template <class T> struct start_timed_next {
  template <class Handler>
  void operator()(Handler&& handler, stream<T>* s, std::chrono::steady_clock::time_point deadline) const {
    std::make_shared<timed_wait<T, std::decay_t<Handler>>>(std::forward<Handler>(handler), deadline)->start(s);
  }
};

/// Converts the handler of an async_push to one of an async_next of bools.
template <class Handler> struct push_handler {
  using executor_type = asio::associated_executor_t<Handler>;
  using allocator_type = asio::associated_allocator_t<Handler>;
  using cancellation_slot_type = asio::associated_cancellation_slot_t<Handler>;
  Handler handler;
  executor_type get_executor() const noexcept { return asio::get_associated_executor(handler); }
  allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return asio::get_associated_cancellation_slot(handler);
  }
  void operator()(std::exception_ptr why, std::optional<bool> sent) {
    std::move(handler)(std::move(why), sent.value_or(false));
  }
};

template <class T, class Handler> class asio_push final : value_holder<T>, public element_queue::pending {
 public:
  asio_push(Handler handler, T&& x)
      : value_holder<T>(std::move(x)),
        pending(&this->room.value, bytes_of(this->room.value)),
        waiting_(std::move(handler)) {}
  ~asio_push() override {
    if (!is_taken_) this->room.value.~T();
  }
  auto slot() const { return waiting_.slot(); }
  void finished(bool sent, status why) noexcept override {
    is_taken_ = sent;
    if (why.ok()) waiting_.give(sent);
    else waiting_.give_up(std::move(why));
  }

 private:
  asio_waiter<bool, Handler> waiting_;
  bool is_taken_ = false;
};

template <class T> struct start_push {
  template <class Handler> void operator()(Handler&& handler, std::shared_ptr<element_queue> queue, T value) const {
    using own_handler = push_handler<std::decay_t<Handler>>;
    auto p = std::make_unique<asio_push<T, own_handler>>(own_handler{std::forward<Handler>(handler)}, std::move(value));
    // Before push(): after push() the handler may have been called, and the slot may belong to its next operation.
    if (auto slot = p->slot(); slot.is_connected()) {
      slot.assign([q = std::weak_ptr<element_queue>(queue), who = p.get()](asio::cancellation_type type) {
        if ((type & (asio::cancellation_type::terminal | asio::cancellation_type::partial)) ==
            asio::cancellation_type::none)
          return;
        auto there = q.lock();
        if (!there) return;
        if (auto left = there->abandon(who)) left->finished(false, cancelled_error("the push was cancelled"));
      });
    }
    queue->push(std::move(p));
  }
};

}  // namespace detail

/// Pushes `value` into the channel. Completes with void(std::exception_ptr, bool): true once the value is in the
/// channel, false if the channel is closed. Any number of operations may be outstanding. Cancel: the value is
/// destroyed; the channel remains usable.
template <class T, class Token> auto async_push(const channel_sender<T>& push, T value, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr, bool)>(detail::start_push<T>(), token, push.queue(),
                                                                     std::move(value));
}

template <class T, class Token> auto async_next(stream<T>& s, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr, std::optional<T>)>(detail::start_next<T>(), token, &s);
}

/// Completes with void(std::exception_ptr, timed_next<T>): an element, the end, or neither if the deadline passes first.
/// A late request is not lost: the next async_next returns its element. (asio's `||` with a timer would drop the error of
/// a request that fails before the timer, because it waits for the first success.)
template <class T, class Token>
auto async_next(stream<T>& s, std::chrono::steady_clock::time_point deadline, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr, timed_next<T>)>(detail::start_timed_next<T>(), token, &s,
                                                                              deadline);
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::async_next;
using lib::async_push;
using lib::timed_next;

}  // namespace sluice
