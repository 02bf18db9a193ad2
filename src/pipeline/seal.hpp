// SPDX-License-Identifier: Apache-2.0
// A checkpoint's envelope: whose position it is, and whether it arrived whole.
//
//   "sluice" 1 | fingerprint of the plan u64 | seed of the run u64 | position … | crc32c of all before u32
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

struct sealed_position {
  std::uint64_t fingerprint = 0;
  std::uint64_t seed = 0;
  std::string position;
};

std::string seal_position(const sealed_position& p);
/// Errors: data_loss, failed_precondition; thrown.
sealed_position unseal_position(std::string_view bytes, std::uint64_t fingerprint);

}  // namespace sluice
