// SPDX-License-Identifier: Apache-2.0
// Decimals as texts with all of their digits: "12.50", "-0.001", "3E+4" where the scale is negative. No number of sluice
// has 38 digits, and a double would round.
#pragma once

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <memory>

namespace sluice::lib::arrow_parquet {

/// Returns the type with strings in place of decimals, at any depth; the same type if it has none.
std::shared_ptr<::arrow::DataType> without_decimals(const std::shared_ptr<::arrow::DataType>& type);

/// Returns the array in that type.
::arrow::Result<std::shared_ptr<::arrow::ArrayData>> without_decimals(const std::shared_ptr<::arrow::ArrayData>& data,
                                                                      const std::shared_ptr<::arrow::DataType>& type,
                                                                      ::arrow::MemoryPool* pool);

}  // namespace sluice::lib::arrow_parquet
