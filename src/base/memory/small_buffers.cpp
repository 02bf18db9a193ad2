// SPDX-License-Identifier: Apache-2.0
#include "base/memory/small_buffers.hpp"

#include <algorithm>

#include "base/memory/buffer_lists.hpp"
#include "base/memory/recycling.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib::small_buffers {
namespace {

/// Capacities that follow the previous range, in steps.
struct size_range {
  std::size_t end, step;
};
constexpr size_range kRanges[] = {{1 << 10, 16}, {4 << 10, 64}, {buffer::kSmallBytesMax, 256}};
constexpr std::size_t kClasses = (1 << 10) / 16 + (3 << 10) / 64 + (buffer::kSmallBytesMax - (4 << 10)) / 256;

/// Returns the number of capacities from 16 bytes up to, but not including, this one.
constexpr std::size_t class_of(std::size_t capacity) noexcept {
  std::size_t begin = 0, below = 0;
  for (const size_range& r : kRanges) {
    if (capacity <= r.end) return below + (capacity - begin) / r.step - 1;
    below += (r.end - begin) / r.step;
    begin = r.end;
  }
  return below;
}
static_assert(class_of(buffer::kSmallBytesMax) == kClasses - 1);

struct counted_list {
  buffer_list list;
  std::size_t count = 0;

  void push(buffer* b) noexcept {
    list.push(b);
    ++count;
  }
  buffer* pop() noexcept {
    --count;
    return list.pop();
  }
};

/// Returns the number of buffers that a thread moves to or from the common lists at a time.
constexpr std::size_t batch_of(std::size_t capacity) noexcept {
  return std::clamp<std::size_t>(kSizeBytesMax / 8 / capacity, 1, 64);
}

class common_lists {
 public:
  /// Takes up to a batch of buffers. Returns one of them, and adds the others to `to`.
  buffer* take(std::size_t capacity, counted_list& to) noexcept {
    mutex_lock lock(mutex_);
    counted_list& from = lists_[class_of(capacity)];
    if (from.count == 0) return nullptr;
    const std::size_t n = std::min(from.count, batch_of(capacity));
    for (std::size_t i = 1; i != n; ++i) to.push(from.pop());
    bytes_ -= n * capacity;
    return from.pop();
  }
  /// Moves n buffers here until the lists are full. Returns the number of those n that remain in `from`.
  std::size_t put(std::size_t capacity, counted_list& from, std::size_t n) noexcept {
    mutex_lock lock(mutex_);
    counted_list& to = lists_[class_of(capacity)];
    for (; n != 0 && bytes_ + capacity <= kCommonBytesMax; --n) {
      to.push(from.pop());
      bytes_ += capacity;
    }
    return n;
  }
  std::size_t bytes() noexcept {
    mutex_lock lock(mutex_);
    return bytes_;
  }
  void trim() noexcept {
    mutex_lock lock(mutex_);
    for (counted_list& l : lists_)
      while (l.count) buffer_access::destroy(l.pop());
    bytes_ = 0;
  }

 private:
  mutex mutex_;
  counted_list lists_[kClasses] ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

/// Never destroyed: the program's static objects may release buffers.
common_lists& common() {
  static common_lists& c = *new common_lists;
  return c;
}

struct thread_lists;
/// Null before the thread's first buffer, and after its end: then buffers use the common lists.
thread_local thread_lists* t_lists = nullptr;
thread_local bool t_ended = false;

struct thread_lists {
  counted_list lists[kClasses];
  std::size_t bytes = 0;

  thread_lists() { t_lists = this; }
  ~thread_lists() {
    t_lists = nullptr;
    t_ended = true;
    trim();
  }
  void trim() noexcept {
    for (counted_list& l : lists)
      while (l.count) buffer_access::destroy(l.pop());
    bytes = 0;
  }
};

thread_lists* lists_of_this_thread() {
  if (t_lists || t_ended) return t_lists;
  thread_local thread_lists lists;
  return &lists;
}

}  // namespace

std::size_t rounded(std::size_t bytes) noexcept {
  for (const size_range& r : kRanges)
    if (bytes <= r.end) return std::max((bytes + r.step - 1) / r.step, std::size_t{1}) * r.step;
  return bytes;
}

buffer* take(std::size_t capacity) noexcept {
  thread_lists* own = lists_of_this_thread();
  if (!own) return nullptr;
  counted_list& list = own->lists[class_of(capacity)];
  if (list.count) {
    own->bytes -= capacity;
    return list.pop();
  }
  buffer* b = common().take(capacity, list);
  own->bytes += list.count * capacity;
  return b;
}

bool keep(buffer* b) noexcept {
  thread_lists* own = kRecycles ? lists_of_this_thread() : nullptr;
  if (!own) return false;
  const std::size_t capacity = b->capacity();
  counted_list& list = own->lists[class_of(capacity)];
  if ((list.count + 1) * capacity > kSizeBytesMax || own->bytes + capacity > kThreadBytesMax) {
    const std::size_t n = std::min(batch_of(capacity), list.count);
    const std::size_t left = common().put(capacity, list, n);
    own->bytes -= (n - left) * capacity;
    if (left == n) return false;
  }
  list.push(b);
  own->bytes += capacity;
  return true;
}

std::size_t kept_bytes() noexcept { return common().bytes() + (t_lists ? t_lists->bytes : 0); }

void trim() noexcept {
  if (t_lists) t_lists->trim();
  common().trim();
}

}  // namespace sluice::lib::small_buffers
