// SPDX-License-Identifier: Apache-2.0
// What a plan holds besides its text: functions and data of the program, as far as they can be told from others.
//
//   auto here = identities_of(*plan);
//   std::string difference = difference_of(there, here);      // "function `parse` has version 2 there, 3 here"
//
// A fingerprint says that two plans have one text. Two plans of one text may still hold other lambdas, captured values or
// elements in memory; a checkpoint keeps these identities beside the fingerprint and compares both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Of one function, or one source's data, in the order of the plan's text.
struct function_identity {
  std::string op;    ///< where it stands: "map"
  std::string name;  ///< empty: a lambda, or data
  int version = 0;
  bool is_data = false;      ///< elements in memory: nothing but their values tells them
  bool values_known = true;  ///< `values` digests all that it holds
  std::uint64_t values = 0;
  /// Could what it holds (captured values, elements in memory) change from run to run without being noticed? Nothing is said
  /// of a function's code: no digest of it can be had, and its name and version are all that tells, where it has them.
  bool is_open() const { return !values_known; }
};

/// Data in memory is hashed when this is called for the first time.
std::vector<function_identity> identities_of(const node& plan);

/// Empty: no difference that can be seen; else what it is, for "the checkpoint was made by another plan: …".
std::string difference_of(const std::vector<function_identity>& there, const std::vector<function_identity>& here);

/// Empty, or what this plan holds that could change unnoticed between a checkpoint and a resume, and how to mend that.
std::string open_identities(const std::vector<function_identity>& identities);

}  // namespace sluice::lib
