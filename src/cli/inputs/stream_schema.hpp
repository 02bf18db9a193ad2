// SPDX-License-Identifier: Apache-2.0
// The schema of a stream that can be read once: standard input, or a pipe of a shell, `<(…)`. It is inferred from the
// first bytes, which stay in the pipe.
#pragma once

#include <string>

#include "cli/inputs/file_readers.hpp"

namespace sluice::lib::cli {

/// Returns the schema as text; empty for a format without one, and for a named FIFO, whose bytes are unknown. Blocks.
/// Errors: throws misuse: --infer asks for more than the first bytes; `error`: nothing can be inferred from them.
std::string schema_of_stream(const std::string& file, const reader& r, const format_arguments& a);

}  // namespace sluice::lib::cli
