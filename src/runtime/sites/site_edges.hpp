// SPDX-License-Identifier: Apache-2.0
// The stages of a run as a graph, from their reports.
#pragma once

#include <cstddef>
#include <vector>

#include "sluice/runtime/site_table.hpp"

namespace sluice::lib {

/// For each site the indices of its inputs among `sites`, in the order of site_report::inputs. A site that is its own
/// input, or is missing, is left out.
/// Time: proportional to the number of sites and inputs.
std::vector<std::vector<std::size_t>> site_edges(const std::vector<site_report>& sites);

}  // namespace sluice::lib
