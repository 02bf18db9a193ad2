// SPDX-License-Identifier: Apache-2.0
// The parts of a run's report that describe its stages and what limits it, as JSON (docs/report.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib::cli {

/// Adds `verdict`, `consumer`, `cpu_seconds`, `stages`, `edges` and `knobs`.
void add_profile(const run_report& report, nlohmann::ordered_json& to);

}  // namespace sluice::lib::cli
