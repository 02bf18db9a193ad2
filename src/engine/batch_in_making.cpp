// SPDX-License-Identifier: Apache-2.0
#include "engine/batch_in_making.hpp"

namespace sluice::lib {

status charge_growth(held_memory& memory, batch_in_making& part, std::size_t made_bytes, const block& from,
                     std::uint32_t n) try {
  std::size_t growth = part.growth(from, n, false);
  if (growth == 0) return {};
  if (!memory.has_room_for(made_bytes + part.bytes() + growth)) growth = part.growth(from, n, true);
  std::size_t bytes = made_bytes + part.bytes() + growth;
  return memory.has_room_for(bytes) ? memory.resize(bytes) : memory.refused_of(bytes);
} catch (const error& e) { return e.why().in_stage(memory.label()); }

}  // namespace sluice::lib
