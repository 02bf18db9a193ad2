// SPDX-License-Identifier: Apache-2.0
// A checkpoint's file. Without anything attached it is the checkpoint's own bytes (which carry a checksum), else
//
//   "sluice file" 1 | size of the checkpoint u64 | checkpoint … | attached … | crc32c of all u32
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/coro/stream.hpp"

namespace sluice::lib {

std::string checkpoint_bytes(const checkpoint& at, std::string_view attached);
/// Errors: data_loss.
result<checkpoint> read_checkpoint_bytes(std::string_view bytes, std::string* attached);

}  // namespace sluice::lib
