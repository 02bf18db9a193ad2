// SPDX-License-Identifier: Apache-2.0
// A dispatcher and workers inside a run: what distribute() without an address uses.
// Owns:   they live as long as the link, and end with the run.
#pragma once

#include <memory>

#include "service/client/service_link.hpp"
#include "sluice/op/distribute.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// Returns the link to a new dispatcher with options.workers workers, whose elements are handed over without a network.
std::shared_ptr<service_link> embedded_service(const std::shared_ptr<run_context>& run,
                                               const distribute_options& options);

}  // namespace sluice::lib
