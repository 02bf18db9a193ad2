// SPDX-License-Identifier: Apache-2.0
// Starts a run that shows its elements and errors to a watch (pipeline/replay.hpp).
#pragma once

#include <memory>

#include "runtime/quarantine_sink.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// No rule rewrites the plan, and each stage makes one element at a time.
any_stream open_replay(runtime& rt, const node_ptr& plan, const iterate_options& o, std::shared_ptr<error_watch> watch);

}  // namespace sluice::lib
