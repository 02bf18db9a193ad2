// SPDX-License-Identifier: Apache-2.0
#include "io/operation.hpp"

#include <unistd.h>

namespace sluice::lib::detail {

descriptor::~descriptor() { ::close(number); }

operation::~operation() {
  // Opened, and nobody took it: the waiter had gone.
  if (what == kind::open && result >= 0 && from == nullptr && abandoned_.load(std::memory_order_acquire))
    ::close(static_cast<int>(result));
}

void operation::complete(std::int64_t outcome) noexcept {
  result = outcome;
  if (!abandoned_.load(std::memory_order_acquire)) exec->post(waiter);
  drop_reference();
}

}  // namespace sluice::lib::detail
