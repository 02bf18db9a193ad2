// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/stage_counts.hpp"

#include <memory>
#include <new>

namespace sluice::lib {

stage_counts::~stage_counts() { delete rare_.load(std::memory_order_relaxed); }

stage_counts::rare_counts& stage_counts::make_rare() noexcept {
  std::unique_ptr<rare_counts> made(new (std::nothrow) rare_counts);
  if (!made) {
    static rare_counts lost;
    return lost;
  }
  rare_counts* known = nullptr;
  if (!rare_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    return *known;  // another thread was first
  return *made.release();
}

void stage_counts::add_to_other_class(std::size_t i, std::uint64_t count, std::uint64_t ns) noexcept {
  size_class& c = rare().by_size[i];
  add(c.elements, count);
  add(c.ns, ns);
}

}  // namespace sluice::lib
