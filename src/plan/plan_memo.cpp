// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/plan_memo.hpp"

namespace sluice::lib {

plan_memo::entry::~entry() = default;

plan_memo::~plan_memo() {
  for (const entry* e = first_.load(std::memory_order_relaxed); e;) {
    const entry* next = e->next_;
    delete e;
    e = next;
  }
}

const plan_memo::entry* plan_memo::find(std::uint64_t key) const noexcept {
  // Acquire pairs with the release in add(): the entries are complete.
  for (const entry* e = first_.load(std::memory_order_acquire); e; e = e->next_)
    if (e->key_ == key) return e;
  return nullptr;
}

const plan_memo::entry* plan_memo::add(std::unique_ptr<entry>& e) const noexcept {
  const entry* first = first_.load(std::memory_order_acquire);
  do {
    int entries = 0;
    for (const entry* known = first; known; known = known->next_, ++entries)
      if (known->key_ == e->key_) return known;
    if (entries >= kEntriesMax) return nullptr;
    e->next_ = first;
  } while (!first_.compare_exchange_weak(first, e.get(), std::memory_order_acq_rel, std::memory_order_acquire));
  return e.release();
}

}  // namespace sluice::lib
