// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/erased_stream.hpp"

#include <algorithm>
#include <cstring>

#include "sluice/base/assert.hpp"

namespace sluice::lib {

void erased_stream::destroy_given() {
  auto given = static_cast<std::uint32_t>(static_cast<std::size_t>(cur_ - view_owner_->begin()) / element_bytes_);
  block(view_owner_, &type(), view_owner_->begin(), given).drop_front(given);
}

void erased_stream::skip_within_view() {
  std::uint32_t passed = static_cast<std::uint32_t>(std::min<std::uint64_t>(request_skip_, left()));
  drop(passed);
  request_skip_ -= passed;
}

void erased_stream::drop(std::uint32_t n) {
  if (n == 0) return;
  SLUICE_REQUIRES(n <= left(), "more elements are dropped than the view has");
  settle();
  block(view_owner_, &type(), cur_, n).drop_front(n);
  cur_ += std::size_t{n} * element_bytes_;
}

block erased_stream::take(std::uint32_t n) {
  n = std::min(n, left());
  if (n == 0) return {};
  settle();
  block taken(view_owner_, &type(), cur_, n);
  cur_ += std::size_t{n} * element_bytes_;
  return taken;
}

void erased_stream::take_up() {
  check_not_empty();
  set_view();
  if (!child_->waiter->is_task()) return;
  came_to_rest();
  if (cur_ == end_) throw_if_failed();
}

block erased_stream::take_odd_view() {
  take_up();
  if (cur_ == end_) return {};
  return take(request_want_);
}

std::uint32_t erased_stream::move_to(char* to, std::uint32_t n, std::size_t stride_bytes) {
  const std::size_t size = element_bytes_;
  std::size_t ready_bytes = static_cast<std::size_t>(end_ - cur_), moved_bytes = n * size;
  if (ready_bytes < moved_bytes) {
    n = static_cast<std::uint32_t>(ready_bytes / size);
    moved_bytes = ready_bytes;
  }
  if (n == 0) return 0;  // the stream may have no stage
  const element_type& t = child_->type();
  // If elements have no destructor, their owner need not know at once that they are destroyed: settle() reports it.
  if (!t.trivially_destroyed) settle();
  if (t.relocatable && stride_bytes == size) std::memcpy(to, cur_, moved_bytes);
  else t.relocate(t, to, cur_, n, stride_bytes, size);
  cur_ += moved_bytes;
  if (!t.trivially_destroyed) view_owner_->forget_front(n);
  return n;
}

}  // namespace sluice::lib
