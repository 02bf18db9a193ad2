// SPDX-License-Identifier: Apache-2.0
// The columns of a CSV file that nobody has told: of its first rows, when a plan is made.
#pragma once

#include <string>

#include "format/csv_parser.hpp"
#include "sluice/base/field_types.hpp"

namespace sluice::lib {

/// Opens the file under the path, which may be compressed. Errors: of the file; invalid_argument: it has no rows; its rows have
/// other numbers of fields.
result<csv_schema> infer_csv_schema(const std::string& path, const csv_dialect& dialect, compression packed);

}  // namespace sluice::lib
