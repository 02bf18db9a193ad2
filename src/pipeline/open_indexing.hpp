// SPDX-License-Identifier: Apache-2.0
// Starts a run whose reader records the places of its elements.
#pragma once

#include <memory>

#include "engine/by_number/element_places.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/plan/node.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

erased_stream open_indexing_run(runtime& rt, const node_ptr& reader, std::shared_ptr<element_places> places);

}  // namespace sluice::lib
