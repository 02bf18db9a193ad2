// SPDX-License-Identifier: Apache-2.0
// A checkpoint's envelope: whose position it is, and whether it arrived whole.
//
//   "sluice" 4 | fingerprint of the plan u64 | seed of the run u64 | error policy u8 | epoch LEB128 |
//   inputs seen (runtime/seen_inputs.hpp) | identities of the plan's functions and data, each with its length LEB128
//   before it | position … | crc32c of all u32
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/plan/identity.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

struct sealed_position {
  std::uint64_t fingerprint = 0;
  std::uint64_t seed = 0;
  error_policy on_error = error_policy::stop;
  std::uint64_t epoch = 0;  ///< as counted by the user (iterate_options)
  std::string inputs;       ///< what the run has read
  std::string identities;   ///< as written_identities() gives them
  std::string position;
};

/// Names, versions and digests; not the operators, which the fingerprint has.
std::string written_identities(const std::vector<function_identity>& identities);

std::string seal_position(const sealed_position& p);
/// For a run of the plan with this fingerprint and these identities, under this policy. Under error_policy::skip, ordinals do not
/// count bad elements, so such a position would name another element under stop: refused. The other way round it is
/// taken: a run that stops at bad elements has passed none.
/// Errors: data_loss, failed_precondition; thrown.
sealed_position unseal_position(std::string_view bytes, std::uint64_t fingerprint,
                                const std::vector<function_identity>& here, error_policy on_error);

}  // namespace sluice::lib
