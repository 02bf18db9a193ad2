// SPDX-License-Identifier: Apache-2.0
// Asks a dispatcher for a registered plan while another plan is built. The layer `service` defines it (src/service/client).
#pragma once

#include <string>

#include "sluice/engine/distribute_options.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// The registered plan, and distribute with these options. Waits on a small runtime of its own. Errors: throws those of
/// op/from_dataset_id.hpp.
node_ptr registered_plan(const std::string& address, const std::string& dataset_id, const distribute_options& o);

}  // namespace sluice::lib
