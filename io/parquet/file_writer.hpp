// SPDX-License-Identifier: Apache-2.0
// Writes a Parquet file by Arrow C++, a row group at a time, so that a checkpoint between two groups needs only the
// description of the groups before it.
#pragma once

#include <memory>

#include "sluice/io/parquet_files.hpp"

namespace sluice::lib::arrow_parquet {

std::unique_ptr<parquet_writer> make_file_writer(const ArrowSchema& schema, const parquet_writing& how);

}  // namespace sluice::lib::arrow_parquet
