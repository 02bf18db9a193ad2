// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/when_all.hpp"

namespace sluice::lib::detail {

std::coroutine_handle<> fork(std::span<child_frame> children, junction& join, promise_base& parent) noexcept {
  join.start(parent, children.size());
  for (child_frame& c : children) c.prepare(join, parent.env);
  // The first child is not started yet, so not all have arrived, and the parent, which owns `children`, cannot be
  // resumed yet.
  for (std::size_t i = children.size(); i-- > 1;) parent.env->exec->post(children[i].handle());
  return children[0].handle();
}

}  // namespace sluice::lib::detail
