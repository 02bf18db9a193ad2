// SPDX-License-Identifier: Apache-2.0
// Patterns in place of the path of a reader. csv("data/*.csv", header=true) is the plan
//
//   list_files("data/*.csv") | flat_map(csv(header=true, schema="…"))
//
// which reads the matching files one after another, in the order of their names. It is made when the plan is built: a
// schema that is not given is inferred from all files then. A path that exists is no pattern.
// Thread: blocks if the path has wildcards.
#pragma once

#include <string>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Returns the path that a source reads; empty if it reads none.
std::string path_of_source(const node& source);
/// Returns the plan that reads the files that the path of the source matches; null if it is no pattern.
/// Errors: throws not_found: a schema is inferred, and nothing matches; the errors of the files.
node_ptr plan_of_matching_files(const node& source);

}  // namespace sluice::lib
