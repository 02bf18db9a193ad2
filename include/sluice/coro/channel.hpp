// SPDX-License-Identifier: Apache-2.0
// A bounded queue between coroutines, limited in elements and in bytes.
//
//   channel<packet> c({.elements = 16, .bytes = 1 << 20});
//   bool taken = co_await c.send(std::move(p), p_bytes);      // false: closed, nobody wants it any more
//   while (auto p = co_await c.receive()) use(*p);            // nullopt: closed and drained
//
// Order:  first in, first out; waiting senders and waiting receivers are served in the order in which they came.
// Ends:   close() lets the receivers take what is left, then gives nullopt. close(why) makes them throw it instead.
// Cancel: a stop of the waiter's environment ends its wait with `cancelled`; nothing of the channel is lost, an
//         element whose send was stopped is dropped with the sender.
// Thread: any number of senders and receivers on any threads. Waiters must be gone before the channel is.
// Units:  bytes are what senders say; an element larger than the byte limit passes when the channel is empty.
// Cost:   no allocation per operation: the ring grows to the largest number of elements that was ever inside.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/coro/waiter.hpp"

namespace sluice::lib {

struct channel_limits {
  std::size_t elements = 1;
  std::size_t bytes = ~std::size_t{0};
};

/// What passed and how often somebody had to wait: the autotuner's view of a channel.
struct channel_counts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t send_waits = 0;
  std::uint64_t receive_waits = 0;
};

namespace detail {

/// A growing ring buffer; never shrinks.
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

  class send_awaiter;
  class receive_awaiter;
  class receive_n_awaiter;

  /// `co_await` → bool: true when the channel took it, false when it is closed.
  [[nodiscard]] send_awaiter send(T value, std::size_t bytes = 0) {
    return send_awaiter(*this, std::move(value), bytes);
  }
  /// `co_await` → std::optional<T>.
  [[nodiscard]] receive_awaiter receive() { return receive_awaiter(*this); }
  /// `co_await` → std::size_t: appends 1..max elements to `to`, as many as are there; 0 is the end.
  [[nodiscard]] receive_n_awaiter receive_n(std::vector<T>& to, std::size_t max) {
    return receive_n_awaiter(*this, to, max);
  }

  /// False: full or closed, and `value` is untouched.
  bool try_send(T&& value, std::size_t bytes = 0);
  std::optional<T> try_receive();

  /// The first close counts. Waiting senders get false.
  void close(status why = {});
  /// Closes and drops what is inside, for a receiver that leaves. Returns the bytes dropped.
  std::size_t discard() { return discard_with({}); }
  /// The same, and from now on `why` is what receivers fail with, also when the channel was closed before.
  std::size_t discard_with(status why);
  /// Takes effect at once: more room wakes senders, less keeps what is inside and admits no more.
  void set_limits(channel_limits limits);

  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return ring_.size();
  }
  std::size_t size_bytes() const {
    std::lock_guard lock(mutex_);
    return bytes_;
  }
  channel_limits limits() const {
    std::lock_guard lock(mutex_);
    return limits_;
  }
  channel_counts counts() const {
    std::lock_guard lock(mutex_);
    return counts_;
  }
  bool closed() const {
    std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  class receiver;
  struct slot {
    slot(T&& v, std::size_t b) : value(std::move(v)), bytes(b) {}
    T value;
    std::size_t bytes;
  };

  // All under mutex_.
  bool has_room(std::size_t bytes) const noexcept {
    if (ring_.size() == 0) return true;
    return ring_.size() < limits_.elements && bytes <= limits_.bytes && bytes_ <= limits_.bytes - bytes;
  }
  /// Waiting senders are let in when half the room is free, not at every pop: one wake then serves several elements.
  bool is_half_empty() const noexcept { return ring_.size() <= limits_.elements / 2 && bytes_ <= limits_.bytes / 2; }
  void put(T&& value, std::size_t bytes, detail::wake_list& woken);
  detail::attempt try_put(T&& value, std::size_t bytes, detail::wake_list& woken);
  detail::attempt try_take(receiver& r, detail::wake_list& woken);
  void admit_senders(detail::wake_list& woken);
  template <class F> void take_front(F take) {
    take(std::move(ring_.front().value));
    bytes_ -= ring_.front().bytes;
    ring_.pop_front();
    ++counts_.received;
  }

  mutable std::mutex mutex_;
  channel_limits limits_;
  detail::ring<slot> ring_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
  status why_;
  channel_counts counts_;
  detail::waiter_list senders_;    ///< only while the ring is more than half full
  detail::waiter_list receivers_;  ///< only while the ring is empty
};

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
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
    return this->wait(h, channel_.mutex_, channel_.senders_, [this](detail::wake_list& woken) { return offer(woken); });
  }
  bool await_resume() const {
    this->throw_if_failed();
    return sent_;
  }

 private:
  friend class channel;
  detail::attempt offer(detail::wake_list& woken) {
    if (channel_.closed_) return detail::attempt::done;
    detail::attempt a = channel_.try_put(std::move(value_), bytes_, woken);
    sent_ = a == detail::attempt::done;
    return a;
  }
  void left(detail::wake_list& woken) noexcept override { channel_.admit_senders(woken); }

  channel& channel_;
  T value_;
  std::size_t bytes_;
  bool sent_ = false;
};

/// What the two receiving awaiters share: being handed elements.
template <class T> class channel<T>::receiver : public detail::waiter {
 public:
  explicit receiver(channel& c) noexcept : channel_(c) {}

  bool await_ready() {
    detail::waking_lock lock(channel_.mutex_);
    bool ready = channel_.try_take(*this, lock.woken) == detail::attempt::done;
    if (!ready) ++channel_.counts_.receive_waits;
    return ready;
  }
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
    return this->wait(h, channel_.mutex_, channel_.receivers_,
                      [this](detail::wake_list& woken) { return channel_.try_take(*this, woken); });
  }
  /// Takes one; true while it wants more.
  virtual bool take(T&& value) = 0;
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
  if (auto* w = receivers_.front()) {  // then the ring is empty, and the value goes straight into the other frame
    ++counts_.received;
    static_cast<receiver*>(w)->take(std::move(value));
    w->wake_into(woken);
    return;
  }
  ring_.emplace_back(std::move(value), bytes);
  bytes_ += bytes;
}

template <class T> detail::attempt channel<T>::try_put(T&& value, std::size_t bytes, detail::wake_list& woken) {
  if (!senders_.empty() || !has_room(bytes)) return detail::attempt::pending;  // no overtaking
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
  detail::ring<slot> dropped;  // elements are destroyed outside the lock: their destructors are not ours to know
  std::lock_guard lock(mutex_);
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

// What users write.
using lib::channel;
using lib::channel_counts;
using lib::channel_limits;

}  // namespace sluice
