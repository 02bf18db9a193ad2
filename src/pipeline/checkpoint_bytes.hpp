// SPDX-License-Identifier: Apache-2.0
// The file of a checkpoint. Without an attachment it consists of the checkpoint's own bytes (which have a checksum),
// else
//
//   "sluice file" 1 | size of the checkpoint u64 | checkpoint … | attached … | crc32c of all u32
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/coro/stream.hpp"

namespace sluice::lib {

std::string checkpoint_bytes(const checkpoint& at, std::string_view attached);
/// Returns true if these first bytes of a file are those of a checkpoint, of any version: "sluice" and a control
/// character, or the words of a checkpoint with an output or of a broadcast.
bool begins_as_checkpoint(std::string_view bytes);
/// The number of bytes that begins_as_checkpoint() needs.
inline constexpr std::size_t kCheckpointHeadBytes = 17;

/// The error of a checkpoint of this size whose checksum does not match.
status damaged_checkpoint(std::size_t bytes);

/// Errors: data_loss.
result<checkpoint> read_checkpoint_bytes(std::string_view bytes, std::string* attached);

}  // namespace sluice::lib
