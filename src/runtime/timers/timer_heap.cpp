// SPDX-License-Identifier: Apache-2.0
#include "runtime/timers/timer_heap.hpp"

#include "sluice/base/assert.hpp"

namespace sluice::lib {

bool timer_heap::before(const entry& a, const entry& b) noexcept {
  return a.node->due != b.node->due ? a.node->due < b.node->due : a.number < b.number;
}

void timer_heap::put(std::size_t at, entry e) noexcept {
  entries_[at] = e;
  e.node->heap_index = at;
}

void timer_heap::rise(std::size_t at, entry e) noexcept {
  for (; at > 0 && before(e, entries_[(at - 1) / 2]); at = (at - 1) / 2) put(at, entries_[(at - 1) / 2]);
  put(at, e);
}

void timer_heap::sink(std::size_t at, entry e) noexcept {
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= entries_.size()) break;
    if (child + 1 < entries_.size() && before(entries_[child + 1], entries_[child])) ++child;
    if (!before(entries_[child], e)) break;
    put(at, entries_[child]);
    at = child;
  }
  put(at, e);
}

void timer_heap::push(timer_node& node) {
  SLUICE_REQUIRES(node.heap_index == kAbsent, "a timer is armed twice");
  entries_.push_back({&node, armed_});
  rise(entries_.size() - 1, {&node, armed_++});
}

void timer_heap::remove(std::size_t at) noexcept {
  entries_[at].node->heap_index = kAbsent;
  entry last = entries_.back();
  entries_.pop_back();
  if (at == entries_.size()) return;
  if (at > 0 && before(last, entries_[(at - 1) / 2])) rise(at, last);
  else sink(at, last);
}

timer_node* timer_heap::pop() {
  timer_node* first = entries_.front().node;
  remove(0);
  return first;
}

bool timer_heap::erase(timer_node& node) {
  if (node.heap_index == kAbsent) return false;
  remove(node.heap_index);
  return true;
}

}  // namespace sluice::lib
