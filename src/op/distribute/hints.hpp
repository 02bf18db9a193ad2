// SPDX-License-Identifier: Apache-2.0
// shard(hint, hint) in the text of a plan.
// Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::lib {

/// `text`: as plan_text() prints it. Quoted texts in it are no stages.
bool has_shard_hint(std::string_view text);
/// The text with the numbers in place of the hints.
std::string with_shard_numbers(std::string_view text, std::uint64_t shards, std::uint64_t index);

}  // namespace sluice::lib
