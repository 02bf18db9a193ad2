// SPDX-License-Identifier: Apache-2.0
// The identities of the functions and data of a plan, which a checkpoint compares in addition to the plan's
// fingerprint.
//
//   auto here = identities_of(*plan);
//   std::string difference = difference_of(there, here);      // "function `parse` has version 2 there, 3 here"
//
// Plans with equal fingerprints have the same operators and arguments, but may contain different lambdas, captured
// values or elements in memory. So a checkpoint contains the identities of these, as far as they can be determined, and
// a resume compares both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/plan/node.hpp"
#include "sluice/runtime/input_rules.hpp"

namespace sluice::lib {

/// The identity of one function, or of the elements of one from_elements.
struct function_identity {
  std::string op;    ///< the operator that has it as an argument: "map"
  std::string name;  ///< empty: a lambda, or data
  int version = 0;
  bool is_data = false;      ///< elements in memory; only `values` identifies them
  bool values_known = true;  ///< `values` is a hash of all values that it contains
  std::uint64_t values = 0;
  /// Returns true if its values (captured values, elements in memory) may differ between two runs without detection.
  /// Code has no hash; only a name and a version identify it.
  bool is_open() const { return !values_known; }
};

/// Returns the identities in the order of the plan's text. Cost: the first call hashes the elements in memory.
std::vector<function_identity> identities_of(const node& plan);

/// Returns the fingerprint and the identities that the plan had before its files moved (runtime/input_rules.hpp): each
/// text, and each text in an expression, that is a path in a new folder counts as the old path. Paths in captured values
/// and in elements in memory stay.
std::uint64_t fingerprint_before(const node& plan, const path_rebases& moves);
std::vector<function_identity> identities_before(const node& plan, const path_rebases& moves);
/// Returns the fingerprint of earlier builds, which includes the address of a dispatcher and those settings of distribute
/// that change no element.
std::uint64_t fingerprint_with_settings(const node& plan);

/// Describes the first difference, as the end of "the checkpoint was made by another plan: "; empty if all are equal.
std::string difference_of(const std::vector<function_identity>& there, const std::vector<function_identity>& here);

/// A warning that names the functions and data of the plan whose changes between a checkpoint and a resume are not
/// detected, with a remedy. Empty if all changes are detected.
std::string open_identities(const std::vector<function_identity>& identities);

}  // namespace sluice::lib
