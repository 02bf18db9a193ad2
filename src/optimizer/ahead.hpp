// SPDX-License-Identifier: Apache-2.0
// The common parts of rules that let stages work ahead of their consumer.
//
// Elements are then made before anybody requests them, and some of them in vain. That is exact only if no one can observe
// it: no stage may print, count or send something, pace its elements or be live, and no source may be a stream that is
// read once. A channel also reports only the first 1,000 of consecutive dropped elements apart, so none may be dropped.
#pragma once

#include <string>

#include "optimizer/rule.hpp"
#include "sluice/base/field_types.hpp"

namespace sluice::lib {

/// Returns the reason why the stages of the plan `n` may not work ahead, such as "sleep(1s) paces its elements"; empty if
/// they may. `settings`: those in force at `n`.
std::string why_not_ahead(const node& n, const in_force& settings);

/// Returns true if a stage of the plan `n` may fail.
bool may_fail_within(const node& n);

/// Returns true if the plan names files of a remote file system.
bool names_remote_files(const node& n);
/// Returns true for an interleave, in order, of several plans at a time for files of a remote file system.
bool is_interleave_of_remote(const node& n);

/// Returns the argument `parallelism` of the node. Null: the operator has none.
const knob* parallelism_of(const node& n);
/// Returns a copy of the node with this parallelism. REQUIRES: the operator has the argument.
node with_parallelism(const node& n, knob parallelism);

}  // namespace sluice::lib
