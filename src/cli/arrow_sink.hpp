// SPDX-License-Identifier: Apache-2.0
// Elements as an Arrow IPC stream: each batch is a record batch; other elements are gathered into record batches of
// kArrowRows rows, fewer at the end and where a checkpoint is written.
#pragma once

#include <memory>

#include "cli/byte_output.hpp"
#include "cli/element_sink.hpp"
#include "sluice/arrow/columns.hpp"

namespace sluice::lib::cli {

inline constexpr std::size_t kArrowRows = 1024;

/// Errors: invalid_argument: elements of this type have no form in Arrow.
status check_arrow_output(const element_type& type, const arrow_options& texts);

/// `format`: the output's name, for checkpoints. `is_begun`: the schema is there already.
/// REQUIRES: check_arrow_output() was ok.
std::unique_ptr<element_sink> make_arrow_sink(const element_type& type, const arrow_options& texts,
                                              std::unique_ptr<byte_output> to, const char* format, bool is_begun);

}  // namespace sluice::lib::cli
