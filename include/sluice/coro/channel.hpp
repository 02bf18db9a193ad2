// SPDX-License-Identifier: Apache-2.0
// A bounded queue between coroutines, limited in elements and in bytes: back-pressure for pipelines written by hand.
// Between the stages of a plan the library uses channels of blocks instead (src/ahead/ordered_ring.hpp).
//
//   channel<packet> c({.elements = 16, .bytes = 1 << 20});
//   bool sent = co_await c.send(std::move(p), p_bytes);       // waits for room; false: the channel is closed
//   while (auto p = co_await c.receive()) use(*p);            // waits for an element; nullopt: closed and empty
//
//   task<> produce(channel<packet>& to) {                     // the sender closes the channel, which ends the receiver
//     status why;
//     try {
//       while (auto p = co_await next_packet()) {
//         std::size_t bytes = p->size();
//         bool sent = co_await to.send(std::move(*p), bytes);
//         if (!sent) break;
//       }
//     } catch (const error& e) { why = e.why(); }
//     to.close(std::move(why));
//   }
//
// A channel belongs to neither side: it lives in the scope that joins both, or they share its ownership.
//
// Order:  first in, first out. Waiting senders are served in the order in which they began to wait, and so are
//         receivers; no sender overtakes one that waits.
// Ends:   after close() receivers get the remaining elements, and then nullopt. After close(why) they get the remaining
//         elements, and then `why` is thrown.
// Errors: send: none; on a closed channel it returns false. receive: the status given to close() or discard_with().
//         Both: `cancelled`, after a stop; std::bad_alloc.
// Cancel: a stop of the waiting coroutine's environment ends its wait. The elements in the channel stay there. The
//         element whose send was stopped is destroyed with the awaiter. A waiting coroutine may be destroyed.
// Thread: any number of senders and receivers on any threads. REQUIRES for the destructor: no coroutine waits, and no
//         other thread uses the channel.
// Units:  the sender states the bytes of an element. An element larger than the limit is admitted when the channel is
//         empty.
// Owns:   the elements in it.
// Cost:   An operation that is ready locks the mutex once. A wait locks it twice. The ring allocates only when it
//         grows, to the largest number of elements that it ever contained.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/detail/waiter.hpp"

namespace sluice::lib {

/// A send waits if the channel is not empty and the element would exceed a limit, or if an earlier sender waits.
/// Waiting senders are admitted once half of both limits is free.
struct channel_limits {
  std::size_t elements = 1;
  std::size_t bytes = ~std::size_t{0};
};

/// Counters of a channel since it was made.
struct channel_counts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t send_waits = 0;     ///< sends that waited: the receivers are too slow, or the limits too low
  std::uint64_t receive_waits = 0;  ///< receives that waited: the senders are too slow
};

namespace detail {

/// A ring buffer that doubles when it is full and never shrinks, so that the steady state allocates nothing.
/// front() and pop_front() REQUIRE size() > 0. Thread: not safe for concurrent use.
template <class T> class ring {
 public:
  ring() = default;
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;
  ~ring() {
    while (count_) pop_front();
    std::allocator<T>().deallocate(data_, capacity_);
  }

  std::size_t size() const noexcept { return count_; }
  T& front() noexcept { return data_[head_]; }
  template <class... Args> void emplace_back(Args&&... args) {
    if (count_ == capacity_) grow();
    ::new (static_cast<void*>(data_ + ((head_ + count_) & (capacity_ - 1)))) T(std::forward<Args>(args)...);
    ++count_;
  }
  void pop_front() noexcept {
    data_[head_].~T();
    head_ = (head_ + 1) & (capacity_ - 1);
    --count_;
  }

 private:
  void grow() {
    std::size_t larger = capacity_ ? capacity_ * 2 : 4;  // a power of two: indices are masked
    T* to = std::allocator<T>().allocate(larger);
    for (std::size_t i = 0; i < count_; ++i) {
      T& from = data_[(head_ + i) & (capacity_ - 1)];
      ::new (static_cast<void*>(to + i)) T(std::move(from));
      from.~T();
    }
    std::allocator<T>().deallocate(data_, capacity_);
    data_ = to;
    capacity_ = larger;
    head_ = 0;
  }

  T* data_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace detail

template <class T> class channel {
 public:
  explicit channel(channel_limits limits) noexcept : limits_(limits) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() { SLUICE_REQUIRES(senders_.empty() && receivers_.empty(), "a coroutine waits for the channel"); }

  class send_awaiter;
  class receive_awaiter;
  class receive_n_awaiter;

  /// `co_await` returns true once the element is in the channel or was passed to a waiting receiver. It returns false
  /// if the channel is closed, even if it was closed during the wait; the element is then destroyed.
  [[nodiscard]] send_awaiter send(T value, std::size_t bytes = 0) {
    return send_awaiter(*this, std::move(value), bytes);
  }
  /// `co_await` returns the first element; nullopt if the channel is closed and empty.
  [[nodiscard]] receive_awaiter receive() { return receive_awaiter(*this); }
  /// `co_await` waits for at least one element, and moves all elements of the channel, at most `max`, to the end of
  /// `to`. Returns their number; 0 if the channel is closed and empty. REQUIRES: `to` lives until the co_await has
  /// finished; max >= 1.
  [[nodiscard]] receive_n_awaiter receive_n(std::vector<T>& to, std::size_t max) {
    SLUICE_REQUIRES(max >= 1, "a receive takes at least one element");
    return receive_n_awaiter(*this, to, max);
  }

  /// Sends without waiting. Returns false if the channel is full or closed; `value` is then unchanged.
  bool try_send(T&& value, std::size_t bytes = 0);
  /// Receives without waiting. Returns nullopt if the channel is empty, whether or not it is closed.
  std::optional<T> try_receive();

  /// Ends the channel: waiting and later sends return false. Receives continue until the channel is empty; then they
  /// fail with `why`, or return nullopt if it is ok. Only the first call has an effect.
  void close(status why = {});
  /// Closes the channel and destroys the elements in it: for a receiver that needs no more of them. Returns the sum of
  /// their bytes.
  std::size_t discard() { return discard_with({}); }
  /// Does what discard() does. If `why` is not ok, receives fail with it from now on, even if the channel was closed
  /// before.
  std::size_t discard_with(status why);
  /// Changes the limits, effective at once. Higher limits admit waiting senders. After lower limits the elements in the
  /// channel stay there, and sends wait until the new limits have room.
  void set_limits(channel_limits limits);

  // Each of these returns a snapshot: if other threads use the channel, it may be out of date when the call returns.
  std::size_t size() const {
    mutex_lock lock(mutex_);
    return ring_.size();
  }
  std::size_t size_bytes() const {
    mutex_lock lock(mutex_);
    return bytes_;
  }
  channel_limits limits() const {
    mutex_lock lock(mutex_);
    return limits_;
  }
  channel_counts counts() const {
    mutex_lock lock(mutex_);
    return counts_;
  }
  bool closed() const {
    mutex_lock lock(mutex_);
    return closed_;
  }

 private:
  class receiver;
  struct slot {
    slot(T&& v, std::size_t b) : value(std::move(v)), bytes(b) {}
    T value;
    std::size_t bytes;
  };

  // REQUIRES for all: the caller has mutex_. Functions with a parameter `woken` append to it the waiters that they
  // serve.

  bool has_room(std::size_t bytes) const noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (ring_.size() == 0) return true;
    return ring_.size() < limits_.elements && bytes <= limits_.bytes && bytes_ <= limits_.bytes - bytes;
  }
  /// Waiting senders are admitted when half of the limits is free, not whenever an element leaves. A wake-up costs more
  /// than the transfer of an element, and a sender that is woken then can send several before it waits again.
  bool is_half_empty() const noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ring_.size() <= limits_.elements / 2 && bytes_ <= limits_.bytes / 2;
  }
  /// Moves the value to the first waiting receiver, or else to the end of the ring. REQUIRES: has_room(bytes).
  void put(T&& value, std::size_t bytes, detail::wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Returns `done` if the value was moved; `pending` if no room is left, or another sender waits: the value is
  /// unchanged.
  detail::attempt try_put(T&& value, std::size_t bytes, detail::wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Moves elements to `r` until it has enough or the ring is empty. Returns `pending` if the channel is empty and
  /// open.
  detail::attempt try_take(receiver& r, detail::wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Serves waiting senders, in order, while the ring has room.
  void admit_senders(detail::wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Moves the first element out and calls take(element).
  template <class F> void take_front(F take) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    take(std::move(ring_.front().value));
    bytes_ -= ring_.front().bytes;
    ring_.pop_front();
    ++counts_.received;
  }

  mutable mutex mutex_;
  channel_limits limits_ ABSL_GUARDED_BY(mutex_);
  detail::ring<slot> ring_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  status why_ ABSL_GUARDED_BY(mutex_);
  channel_counts counts_ ABSL_GUARDED_BY(mutex_);
  /// Invariant: once the ring is at most half full, it has no room for the element of the first one.
  detail::waiter_list senders_ ABSL_GUARDED_BY(mutex_);
  detail::waiter_list receivers_ ABSL_GUARDED_BY(mutex_);  ///< invariant: empty while the ring is not
};

/// The value lives in the awaiter until it is moved into the ring, or into the awaiter of a receiver.
template <class T> class [[nodiscard]] channel<T>::send_awaiter final : detail::waiter {
 public:
  send_awaiter(channel& c, T&& value, std::size_t bytes) : channel_(c), value_(std::move(value)), bytes_(bytes) {}
  ~send_awaiter() { this->abandon(); }

  bool await_ready() {
    detail::waking_lock lock(channel_.mutex_);
    bool ready = offer(lock.woken) == detail::attempt::done;
    if (!ready) ++channel_.counts_.send_waits;
    return ready;
  }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return this->wait(h, channel_.mutex_, channel_.senders_,
                      [this](detail::wake_list& woken)
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(channel_.mutex_) { return offer(woken); });
  }
  bool await_resume() const {
    this->throw_if_failed();
    return sent_;
  }

 private:
  friend class channel;
  detail::attempt offer(detail::wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(channel_.mutex_) {
    if (channel_.closed_) return detail::attempt::done;
    detail::attempt a = channel_.try_put(std::move(value_), bytes_, woken);
    sent_ = a == detail::attempt::done;
    return a;
  }
  /// This sender gives up. A later sender with a smaller element may fit now.
  void left(detail::wake_list& woken) noexcept override ABSL_EXCLUSIVE_LOCKS_REQUIRED(channel_.mutex_) {
    channel_.admit_senders(woken);
  }

  channel& channel_;
  T value_;
  std::size_t bytes_;
  bool sent_ = false;
};

/// Base class of the two receiving awaiters. Elements are moved into them, by themselves or by the sender that serves
/// them.
template <class T> class channel<T>::receiver : public detail::waiter {
 public:
  explicit receiver(channel& c) noexcept : channel_(c) {}

  bool await_ready() {
    detail::waking_lock lock(channel_.mutex_);
    bool ready = channel_.try_take(*this, lock.woken) == detail::attempt::done;
    if (!ready) ++channel_.counts_.receive_waits;
    return ready;
  }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return this->wait(h, channel_.mutex_, channel_.receivers_,
                      [this](detail::wake_list& woken)
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(channel_.mutex_) { return channel_.try_take(*this, woken); });
  }
  /// Stores an element. Returns true if it accepts another one. REQUIRES: the mutex is locked.
  virtual bool take(T&& value) = 0;
  /// Stores the status that the wait fails with. REQUIRES: the mutex is locked.
  void fail(status why) noexcept { this->why_ = std::move(why); }

 protected:
  ~receiver() = default;
  channel& channel_;
};

template <class T> class [[nodiscard]] channel<T>::receive_awaiter final : public receiver {
 public:
  using receiver::receiver;
  ~receive_awaiter() { this->abandon(); }
  bool take(T&& value) override {
    value_.emplace(std::move(value));
    return false;
  }
  std::optional<T> await_resume() {
    this->throw_if_failed();
    return std::move(value_);
  }

 private:
  std::optional<T> value_;
};

template <class T> class [[nodiscard]] channel<T>::receive_n_awaiter final : public receiver {
 public:
  receive_n_awaiter(channel& c, std::vector<T>& to, std::size_t max) noexcept : receiver(c), to_(to), max_(max) {}
  ~receive_n_awaiter() { this->abandon(); }
  bool take(T&& value) override {
    to_.push_back(std::move(value));
    return ++taken_ < max_;
  }
  std::size_t await_resume() const {
    this->throw_if_failed();
    return taken_;
  }

 private:
  std::vector<T>& to_;
  std::size_t max_;
  std::size_t taken_ = 0;
};

template <class T> void channel<T>::put(T&& value, std::size_t bytes, detail::wake_list& woken) {
  ++counts_.sent;
  if (auto* w = receivers_.front()) {  // then the ring is empty, and the value is moved into the receiver's frame
    ++counts_.received;
    static_cast<receiver*>(w)->take(std::move(value));
    w->wake_into(woken);
    return;
  }
  ring_.emplace_back(std::move(value), bytes);
  bytes_ += bytes;
}

template <class T> detail::attempt channel<T>::try_put(T&& value, std::size_t bytes, detail::wake_list& woken) {
  if (!senders_.empty() || !has_room(bytes)) return detail::attempt::pending;  // a waiting sender is served first
  put(std::move(value), bytes, woken);
  return detail::attempt::done;
}

template <class T> detail::attempt channel<T>::try_take(receiver& r, detail::wake_list& woken) {
  bool any = ring_.size() > 0;
  for (bool more = true; more && ring_.size() > 0;) {
    take_front([&](T&& front) { more = r.take(std::move(front)); });
  }
  if (any) {
    if (is_half_empty()) admit_senders(woken);
    return detail::attempt::done;
  }
  if (!closed_) return detail::attempt::pending;
  r.fail(why_);
  return why_.ok() ? detail::attempt::done : detail::attempt::failed;
}

template <class T> void channel<T>::admit_senders(detail::wake_list& woken) {
  while (auto* w = static_cast<send_awaiter*>(senders_.front())) {
    if (!has_room(w->bytes_)) return;
    put(std::move(w->value_), w->bytes_, woken);
    w->sent_ = true;
    w->wake_into(woken);
  }
}

template <class T> bool channel<T>::try_send(T&& value, std::size_t bytes) {
  detail::waking_lock lock(mutex_);
  return !closed_ && try_put(std::move(value), bytes, lock.woken) == detail::attempt::done;
}

template <class T> std::optional<T> channel<T>::try_receive() {
  std::optional<T> value;
  detail::waking_lock lock(mutex_);
  if (ring_.size() == 0) return value;
  take_front([&](T&& front) { value.emplace(std::move(front)); });
  if (is_half_empty()) admit_senders(lock.woken);
  return value;
}

template <class T> void channel<T>::close(status why) {
  detail::waking_lock lock(mutex_);
  if (closed_) return;
  closed_ = true;
  why_ = why;
  while (auto* w = senders_.front()) w->wake_into(lock.woken);
  while (auto* w = receivers_.front()) w->wake_into(lock.woken, why);
}

template <class T> std::size_t channel<T>::discard_with(status why) {
  close(why);
  detail::ring<slot> dropped;  // destroyed after the lock is released: destructors of elements may do anything
  mutex_lock lock(mutex_);
  if (!why.ok()) why_ = std::move(why);
  std::size_t bytes = std::exchange(bytes_, 0);
  while (ring_.size() > 0) {
    dropped.emplace_back(std::move(ring_.front()));
    ring_.pop_front();
  }
  return bytes;
}

template <class T> void channel<T>::set_limits(channel_limits limits) {
  detail::waking_lock lock(mutex_);
  limits_ = limits;
  admit_senders(lock.woken);
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::channel;
using lib::channel_counts;
using lib::channel_limits;

}  // namespace sluice
