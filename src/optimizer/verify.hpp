// SPDX-License-Identifier: Apache-2.0
// Checks a rewritten plan.
#pragma once

#include <string>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct rule;

/// Checks that `after` yields elements of the same type, spec and number as `before`; that no chain has two nodes of one
/// site; that every node of `after` is one of `before`, or inserted; and that every node of `before` is in `after`, unless
/// the rule removes such nodes: those of which it leaves a record must then be in the history of a node. Inner plans were
/// checked before.
/// Errors: throws internal, with the name of the rule.
void verify_rewrite(const node& before, const node& after, const rule& by);

/// Returns a stage that has the site of another stage of its chain, so that their positions cannot be told apart; empty if
/// there is none. Only programs that assemble nodes by themselves make such plans.
std::string stage_without_own_site(const node& plan);

}  // namespace sluice::lib
