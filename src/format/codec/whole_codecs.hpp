// SPDX-License-Identifier: Apache-2.0
// Bytes that are decompressed in one call: brotli, and one block of snappy without frames, as in shards of MDS and in
// chunks of ArrayRecord.
//
//   status why = inflate_whole(whole_codec::brotli, file, room, bytes);
//
// Errors: data_loss: damaged, or not exactly `bytes` bytes. unimplemented: this build lacks the library.
// Thread: pure functions. Cost: some 100 ms for 64 MiB; call it on a thread for blocking calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sluice/base/status.hpp"

namespace sluice::lib {

enum class whole_codec : std::uint8_t { none, brotli, snappy_block };

/// REQUIRES: `c` is not none.
status inflate_whole(whole_codec c, std::string_view in, char* out, std::size_t bytes);
bool is_built_in(whole_codec c);

}  // namespace sluice::lib
