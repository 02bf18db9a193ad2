// SPDX-License-Identifier: Apache-2.0
// The envelope of a checkpoint: it identifies the position's run, and detects damage.
//
//   "sluice" 5 | fingerprint of the plan u64 | seed of the run u64 | error policy u8 | epoch LEB128 |
//   inputs seen (runtime/seen_inputs.hpp) | identities of the plan's functions and data, each with its length LEB128
//   before it | position … | crc32c of all u32
//
// Version 4 is read, too: its table of inputs has digests of times and inodes. Version 6 is written by runs with an order
// fingerprint, which stands before the position with its length. The first record of the position is then that of the stage
// that counts it.
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
  std::uint64_t epoch = 0;  ///< as the user counts (iterate_options)
  std::string inputs;       ///< the inputs that the run has read
  std::string identities;   ///< the result of written_identities()
  std::string order;  ///< the order fingerprint (pipeline/delivered_order.hpp); empty: none
  std::string position;
};

/// Writes names, versions and digests. The operators are missing, because the fingerprint includes them.
std::string written_identities(const std::vector<function_identity>& identities);

std::string seal_position(const sealed_position& p);
/// Returns the plan's fingerprint in a sealed position; 0 if this is none.
std::uint64_t fingerprint_of_sealed(std::string_view bytes);
/// Reads the envelope, whatever its plan is. Errors: data_loss; failed_precondition: another version; thrown.
sealed_position read_seal(std::string_view bytes);
/// Reads the position for a run of the plan with this fingerprint and these identities, under this policy. Under
/// error_policy::skip, ordinals do not count bad elements. Such a position would refer to another element under stop,
/// so it is refused. The opposite is accepted: a run that stops at bad elements has passed none.
/// Errors: data_loss, failed_precondition; thrown.
sealed_position unseal_position(std::string_view bytes, std::uint64_t fingerprint,
                                const std::vector<function_identity>& here, error_policy on_error);

}  // namespace sluice::lib
