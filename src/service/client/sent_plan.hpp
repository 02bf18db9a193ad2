// SPDX-License-Identifier: Apache-2.0
// The checks of a plan before it is sent to another process, and after it has arrived.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "service/core/messages.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Throws failed_precondition if a part of the plan cannot be sent; the message names the stage and the remedy.
void check_sends(const node& n);
/// Describes a plan with this text, elements and fingerprint, for workers that deliver each element once and stop at a bad
/// one.
dataset_info info_of_plan(std::string text, const element_type& type, std::uint64_t fingerprint);
/// Reads the text of a plan that was sent to this process, "the dispatcher", which errors name. Errors: throws those of
/// reading files; failed_precondition: this process does not read the plan, such as for lack of a function.
node_ptr read_sent_plan(const std::string& text, std::string_view process);
/// Reads the plan of a dataset. Errors: throws those of read_sent_plan; failed_precondition: its elements have another
/// type here than where the plan was made, or the plan has another fingerprint, such as that of a function's other version.
node_ptr plan_of_dataset(const dataset_info& info, std::string_view process);

}  // namespace sluice::lib
