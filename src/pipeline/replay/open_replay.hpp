// SPDX-License-Identifier: Apache-2.0
// Starts runs whose bad elements go elsewhere than to files: to a watch (pipeline/replay.hpp), or to the consumer of a service.
#pragma once

#include <memory>

#include "runtime/quarantine_sink.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// No rule rewrites the plan, and each stage makes one element at a time.
any_stream open_replay(runtime& rt, const node_ptr& plan, const iterate_options& o, std::shared_ptr<error_watch> watch);

/// As open_rewritten_run(). `dropped_to`: null, or receives the elements that the run drops, instead of the files that the plan
/// and the options name.
erased_stream open_collecting_run(runtime& rt, const node_ptr& written, const node_ptr& rewritten,
                                  const iterate_options& o, std::shared_ptr<sink_maker> dropped_to);

}  // namespace sluice::lib
