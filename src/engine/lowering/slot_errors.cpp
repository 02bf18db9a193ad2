// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/slot_errors.hpp"

#include <utility>
#include <vector>

namespace sluice::lib {

bool drop_or_fail(ring_slot* slot, std::uint32_t input, const status& why, const error_gate& gate, kept_bytes bytes) {
  std::vector<dropped_input>& dropped = slot->dropped;
  bool apart = dropped.size() < gate.kept_apart();
  status located = apart ? gate.located(why, slot->first + input) : dropped.back().why;
  if (!gate.may_drop(why)) {
    slot->why = gate.located(why, slot->first + input);
    return false;
  }
  dropped.push_back({input, located, gate.account(), gate.into(), std::move(bytes)});
  if (dropped.size() > gate.errors_max())
    slot->why = std::move(located);  // the reader ends at this error, or at an earlier one
  return slot->why.ok();
}

}  // namespace sluice::lib
