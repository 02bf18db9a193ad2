// SPDX-License-Identifier: Apache-2.0
// Elements of a stream for programs built on asio: each waits on its own executor, in asio's own ways.
//
//   asio::awaitable<void> serve(tcp::socket socket, stream<std::string> s) {
//     while (auto line = co_await async_next(s, asio::use_awaitable))      // std::optional<std::string>
//       co_await asio::async_write(socket, asio::buffer(*line), asio::use_awaitable);
//   }
//   async_next(s, [](std::exception_ptr why, std::optional<std::string> element) { … });
//   std::future<std::optional<std::string>> f = async_next(s, asio::use_future);
//
// Shape:  completes with void(std::exception_ptr, std::optional<T>); nullopt is the end.
// Order:  one wait on a stream at a time; another is answered with failed_precondition.
// Errors: `sluice::error`, after the elements before it; the stream stays failed.
// Cancel: the token's cancellation slot (terminal or partial) ends the wait at once with `cancelled`. The stream lives:
//         the pull goes on, and the next async_next gets its element; nothing is lost. To stop the run, drop the stream.
// Thread: the handler runs on its associated executor, never inside async_next. The stream object is used from there
//         only. While a wait is outstanding, or one was cancelled and none has completed since, it may be moved,
//         destroyed, stopped (request_stop) and waited on, and nothing else.
// Owns:   the wait holds work on the executor. A stream destroyed while one is outstanding ends it with `cancelled`; its
//         run stops, and what was at work for it is joined by the runtime. No destructor blocks.
// Cost:   while elements of the last block are left, one post; else one allocation and a hop to the workers and back.
#pragma once

#include <exception>
#include <optional>

#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>

#include "sluice/coro/stream.hpp"
#include "sluice/pipeline/loan.hpp"

namespace sluice {
namespace detail {

inline std::exception_ptr as_exception(const status& why) {
  if (why.ok()) return nullptr;
  try {
    throw_status(why);
  } catch (...) {
    return std::current_exception();
  }
}

/// A handler on the way to its executor, as that executor runs it. With a loan: brings the tree back first.
template <class T, class Handler>
class delivery {
 public:
  using executor_type = asio::associated_executor_t<Handler>;
  using allocator_type = asio::associated_allocator_t<Handler>;

  explicit delivery(Handler handler) : handler_(std::move(handler)), work_(asio::get_associated_executor(handler_)) {}
  executor_type get_executor() const noexcept { return asio::get_associated_executor(handler_); }
  allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler_); }
  asio::associated_cancellation_slot_t<Handler> slot() const { return asio::get_associated_cancellation_slot(handler_); }

  void carry(T* element) { if (element) element_.emplace(std::move(*element)); }
  void carry(status why) { why_ = std::move(why); }
  void carry(std::shared_ptr<loan> l) { loan_ = std::move(l); }
  static void post(delivery d) {
    auto executor = d.get_executor();
    asio::post(executor, std::move(d));
  }

  void operator()() {
    if (loan_) take_back();
    if (auto s = slot(); s.is_connected()) s.clear();
    auto work = std::move(work_);   // until the handler has had its chance to start the next operation
    auto handler = std::move(handler_);
    std::move(handler)(as_exception(why_), std::move(element_));
  }

 private:
  void take_back() {
    auto* s = static_cast<stream<T>*>(loan_->give_back());
    loan_.reset();
    if (!s) return carry(cancelled_error("the stream was dropped"));
    if (s->left()) return carry(s->next().await_resume());
    carry(s->stage()->failure);
  }

  Handler handler_;
  asio::executor_work_guard<executor_type> work_;
  std::optional<T> element_;
  status why_;
  std::shared_ptr<loan> loan_;
};

template <class T, class Handler>
class asio_waiter final : public loan::waiter {
 public:
  explicit asio_waiter(Handler handler) : delivery_(std::move(handler)) {}
  auto slot() const { return delivery_.slot(); }
  void ready(std::shared_ptr<loan> from) noexcept override {
    delivery_.carry(std::move(from));
    delivery<T, Handler>::post(std::move(delivery_));
  }
  void give_up(status why) {
    delivery_.carry(std::move(why));
    delivery<T, Handler>::post(std::move(delivery_));
  }

 private:
  delivery<T, Handler> delivery_;
};

template <class T>
struct start_next {
  template <class Handler>
  void operator()(Handler&& handler, stream<T>* s) const {
    using own_handler = std::decay_t<Handler>;
    using own_waiter = asio_waiter<T, own_handler>;
    std::shared_ptr<loan> out = loan::of(*s);
    if (out && out->give_back()) out.reset();   // what a cancelled wait left behind has come to rest
    if (!out && s->left()) {
      delivery<T, own_handler> d(std::forward<Handler>(handler));
      d.carry(s->next().await_resume());
      return d.post(std::move(d));
    }
    auto waiting = std::make_unique<own_waiter>(std::forward<Handler>(handler));
    auto slot = waiting->slot();
    std::unique_ptr<loan::waiter> w = std::move(waiting);
    auto refuse = [](std::unique_ptr<loan::waiter> w, status why) { static_cast<own_waiter&>(*w).give_up(std::move(why)); };
    if (!out && !(*s && s->run())) return refuse(std::move(w), failed_precondition_error("this is no stream of a run: ask iterate() for one"));
    if (!out) out = loan::lend(*s);
    // Before wait(): once told, the handler may be running, and the slot another operation's.
    if (slot.is_connected()) {
      slot.assign([refuse, l = std::weak_ptr<loan>(out), who = w.get()](asio::cancellation_type type) {
        if ((type & (asio::cancellation_type::terminal | asio::cancellation_type::partial)) == asio::cancellation_type::none) return;
        auto out = l.lock();
        if (!out) return;
        if (auto w = out->abandon(who)) refuse(std::move(w), cancelled_error("the wait was cancelled"));
      });
    }
    if (!out->wait(w)) refuse(std::move(w), failed_precondition_error("somebody waits on this stream already"));
  }
};

}  // namespace detail

template <class T, class Token>
auto async_next(stream<T>& s, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr, std::optional<T>)>(detail::start_next<T>(), token, &s);
}

}  // namespace sluice
