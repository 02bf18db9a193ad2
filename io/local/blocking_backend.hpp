// SPDX-License-Identifier: Apache-2.0
// Executes calls on the runtime's threads for blocking calls, or, simulated, at a virtual moment.
#pragma once

#include <string>

#include "io/local/operation.hpp"
#include "sluice/runtime/blocking.hpp"

namespace sluice::lib::detail {

/// The back end for operations of kind::call. A call cannot be cancelled, even before it has begun; it always
/// completes.
class blocking_backend final : public backend {
 public:
  explicit blocking_backend(blocking_service& threads) : threads_(threads) {}

  void submit(operation* op) noexcept override {
    auto* on_its_way = new queued;
    on_its_way->op = op;
    on_its_way->env = nullptr;
    on_its_way->run = [](blocking_call& call) noexcept {
      auto& me = static_cast<queued&>(call);
      operation* mine = me.op;
      delete &me;
      mine->run();
      mine->complete(mine->result);
    };
    threads_.submit(*on_its_way);
  }
  void cancel(operation*) noexcept override {}
  std::string description() const override { return "threads for blocking calls"; }

 private:
  struct queued : blocking_call {
    operation* op = nullptr;
  };
  blocking_service& threads_;
};

}  // namespace sluice::lib::detail
