// SPDX-License-Identifier: Apache-2.0
// The words for a split in messages: its number, and what it reads.
//
//   split_text(7, payload)                    // split 7 ("data/a.tfrecord", elements 100 to 199)
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::lib {

/// `payload`: of next_split_reply. Only the number if it is empty or none of this version.
std::string split_text(std::uint64_t number, const std::string& payload);

}  // namespace sluice::lib
