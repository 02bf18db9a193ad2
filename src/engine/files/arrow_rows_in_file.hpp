// SPDX-License-Identifier: Apache-2.0
// The row type of an Arrow IPC file, which is read when a plan is built, before a run exists that reads files.
// Errors: those of opening the file; data_loss: the schema is damaged or missing; unimplemented: a type that is not
// read.
// Thread: blocks. The operator from_arrow defines it.
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {

result<const element_type*> arrow_rows_in_file(const std::string& path, compression packed,
                                               const inflate_limits& limits = {});

/// The same for the first bytes of a stream. `is_all`: no bytes follow. Errors: also data_loss: the schema is longer
/// than
/// these bytes.
result<const element_type*> arrow_rows_in_bytes(const std::string& name, std::string_view bytes, bool is_all);

}  // namespace sluice::lib
