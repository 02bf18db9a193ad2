// SPDX-License-Identifier: Apache-2.0
// The memory that an output keeps until its files end, such as the table of a Bagz file, on the runtime's ledger.
// Thread: one caller.
#pragma once

#include <cstddef>

#include "sluice/base/status.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

class kept_memory {
 public:
  /// `rt`: outlives this object; null: nothing is charged.
  explicit kept_memory(runtime* rt);
  kept_memory(const kept_memory&) = delete;
  ~kept_memory() { charge(0); }

  /// Sets the number of bytes. Errors: resource_exhausted: it has grown, and more is held than the memory budget.
  status resize(std::size_t bytes);

 private:
  void charge(std::size_t bytes);

  runtime* const rt_;
  ledger_line* const line_;
  std::size_t charged_ = 0;
};

}  // namespace sluice::lib
