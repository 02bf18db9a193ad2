// SPDX-License-Identifier: Apache-2.0
// from_channel: elements that the program pushes during the run, such as the requests to a server.
//
//   auto both = from_channel<std::string>({.elements = 64, .bytes = 1 << 20});    // or: auto [push, requests] = …
//   auto batches_of_requests = both.elements | batch(32);
//   both.push.try_push("a request")              // in a task: co_await push(x); in asio: co_await async_push(push, x, token)
//   both.push.size()                             // close() is the end; with a status: an error behind the elements
//
// `push` is a channel_sender, which may be copied. If the last copy is destroyed without close(), the run fails with
// `unavailable`, because elements may be missing. A push waits while the channel is full, so a slow pipeline slows the
// producers down.
// Order:  the order of the pushes, which are served in the order in which they began to wait.
// Ends:   after the last element, when close() has been called.
// Errors: the status given to close(). failed_precondition: another run reads the channel, which allows one run at a
//         time. A push returns false if the channel is closed or its plan no longer exists; it fails with
//         failed_precondition if it should have begun at another ordinal (State). A plan with this source has no text
//         or JSON form (failed_precondition), because the channel has no name.
// Cancel: a stop of the run leaves the elements in the channel, for the next run. A stop of the pushing task ends its push.
// Thread: any thread or executor may push.
// Owns:   the elements in the channel, limited in number and in bytes; a single element that is larger is admitted
//         alone. While a run reads the channel, its elements are charged to the run's ledger, and a push also waits for
//         room in the memory budget.
// State:  the number of elements delivered. They cannot be read again, so a resumed run needs a producer that can send
//         some of them again. After iterate(), call resume_from(): it returns the ordinal of the first element to send.
//         Earlier pushes fail with failed_precondition. The ordinal may be before the checkpoint's element, because of
//         elements that stages buffered and elements since the last mark (docs/resuming.md). A run that continues in
//         the same process with the elements in the channel needs no resend.
//
// A source that can send from any ordinal opens a channel for each run and for each pass of a repeat, so that several
// runs may read it. A worker calls `open` when the run requests its first element; `open` starts the producer.
//
//   auto ds = from_channel<std::string>([](channel_sender<std::string> push, std::uint64_t from) { subscribe(push, from); });
//
// See:    examples/08_channel.cpp; coro/channel.hpp, a queue between tasks.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "sluice/base/shared_ref.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/engine/element_queue.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info from_channel_op;

/// A channel, or a function that opens one for each run, without the type of its elements.
struct channel_function : stage_function {
  bool is_data() const final { return queue != nullptr; }
  std::shared_ptr<element_queue> queue{};  ///< null: open() starts a producer for a new one
  element_queue::limits limits{};
  virtual void open(std::shared_ptr<element_queue>, std::uint64_t) const {}
};

struct from_channel_arguments {
  function_arg<channel_function> function = {};  ///< the channel
};

namespace detail {

struct shared_channel final : channel_function {
  explicit shared_channel(std::shared_ptr<element_queue> q);
  ~shared_channel() override;
};

/// Closes the queue when its last sender is gone.
class sending_end {
 public:
  explicit sending_end(std::shared_ptr<element_queue> q);
  sending_end(const sending_end&) = delete;
  ~sending_end();
  const std::shared_ptr<element_queue> queue;
};
shared_ref<const sending_end> begin_sending(const std::shared_ptr<element_queue>& q);

template <class T> std::size_t bytes_of(const T& x) {
  const element_type& t = type_of<T>();
  return sizeof(T) + (t.footprint ? t.footprint(t, &x, 1) : 0);
}

/// Storage for a T that may be destroyed before the storage is.
template <class T> union value_room {
  explicit value_room(T&& v) : value(std::move(v)) {}
  value_room(const value_room&) = delete;
  ~value_room() {}  // NOLINT(modernize-use-equals-default): a defaulted destructor of this union would be deleted
  T value;
};

/// The first base class of an operation that pushes a T.
template <class T> struct value_holder {
  explicit value_holder(T&& v) : room(std::move(v)) {}
  value_room<T> room;
};

}  // namespace detail

template <class T>
class [[nodiscard]] channel_push final : detail::value_holder<T>, public element_queue::push_awaiter {
 public:
  channel_push(const std::shared_ptr<element_queue>& q, T&& x)
      : detail::value_holder<T>(std::move(x)), push_awaiter(q, &this->room.value, detail::bytes_of(this->room.value)) {}
  ~channel_push() {
    if (!is_sent()) this->room.value.~T();
  }
};

template <class T> class channel_sender {
 public:
  explicit channel_sender(const std::shared_ptr<element_queue>& q) : end_(detail::begin_sending(q)) {}

  /// `co_await push(x)` returns true when x is in the channel. It returns false if the channel is closed; x is then
  /// destroyed.
  channel_push<T> operator()(T value) const { return channel_push<T>(end_->queue, std::move(value)); }
  /// Pushes without waiting. Returns false if the channel is full or closed, and leaves `value` unchanged. Errors: as
  /// for push.
  bool try_push(T&& value) const {
    detail::value_room<T> room(std::move(value));
    bool sent = false;
    try {
      sent = end_->queue->try_push(&room.value, detail::bytes_of(room.value)) == element_queue::pushed::sent;
    } catch (...) {
      give_back(room, value);
      throw;
    }
    if (!sent) give_back(room, value);
    return sent;
  }
  /// Ends the elements. With a status that is not ok the run fails with that status after the elements. Only the first
  /// call has an effect.
  void close(status why = {}) const { end_->queue->close(std::move(why)); }
  /// Returns the ordinal of the element to push next: 0 at first.
  std::uint64_t resume_from() const { return end_->queue->resume_from(); }
  /// Returns the number of elements that are now in the channel.
  std::size_t size() const { return end_->queue->size(); }
  const std::shared_ptr<element_queue>& queue() const { return end_->queue; }

 private:
  static void give_back(detail::value_room<T>& from, T& to) {
    to = std::move(from.value);
    from.value.~T();
  }
  shared_ref<const detail::sending_end> end_;
};

namespace detail {

template <class T, class F> struct opened_channel_function final : channel_function {
  F f;
  opened_channel_function(F function, element_queue::limits l) : f(std::move(function)) {
    limits = l;
    describe(*this, f, nullptr, &type_of<T>());
  }
  void open(std::shared_ptr<element_queue> q, std::uint64_t from) const override {
    detail::call(f, channel_sender<T>(q), from);
  }
};

}  // namespace detail

/// The two ends of a channel.
template <class T> struct channel_source {
  channel_sender<T> push;
  dataset<T> elements;
};

template <class T> channel_source<T> from_channel(element_queue::limits limits = {}) {
  auto q = std::make_shared<element_queue>(type_of<T>(), limits);
  from_channel_arguments a{detail::adopt(new detail::shared_channel(q))};
  return {channel_sender<T>(q), dataset<T>(from_channel_op, arguments::of(std::move(a)))};
}
/// Opens a channel for each run: calls open(sender, ordinal of the first element to push).
template <class T, std::invocable<channel_sender<T>, std::uint64_t> F>
dataset<T> from_channel(F open, element_queue::limits limits = {}) {
  from_channel_arguments a{detail::adopt(new detail::opened_channel_function<T, F>(std::move(open), limits))};
  return dataset<T>(from_channel_op, arguments::of(std::move(a)));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::channel_sender;
using lib::channel_source;
using lib::from_channel;

}  // namespace sluice
