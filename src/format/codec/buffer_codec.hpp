// SPDX-License-Identifier: Apache-2.0
// Compresses and decompresses single buffers, whose length is known: those of Arrow's record batches. Each is one frame
// of lz4 or of zstd.
//
// Errors: data_loss: the frame is damaged, or has another length. unimplemented: this build lacks the library.
// Thread: pure functions.
// See:    format/inflate.hpp, for streams
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sluice/base/field_types.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

/// Decompresses `in` to the `bytes` bytes at `out`. REQUIRES: `c` is lz4 or zstd.
status inflate_buffer(compression c, std::string_view in, char* out, std::size_t bytes);
/// Appends one frame to `out`. REQUIRES: the same.
status deflate_buffer(compression c, std::string_view in, std::string& out);

}  // namespace sluice::lib
