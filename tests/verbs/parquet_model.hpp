// SPDX-License-Identifier: Apache-2.0
// What the cases of parquet and its tests share: files of rows, written by the library.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/arrow/columns.hpp"
#include "sluice/io/arrow_parquet.hpp"
#include "sluice/io/parquet_files.hpp"
#include "sluice/op/parquet.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::parquet_case {

using namespace test;

inline const bool is_registered = (register_parquet(), true);

struct parquet_row {
  std::int64_t number = 0;
  std::string text;
};

/// A file with groups of `group_rows` rows.
template <class T> std::string parquet_bytes(std::vector<T> rows, std::size_t group_rows) {
  ArrowSchema schema;
  REQUIRE(export_schema(type_of<T>(), &schema).ok());
  auto writer = write_parquet(schema, {});
  schema.release(&schema);
  std::string bytes;
  writer->begin(bytes);
  for (std::size_t i = 0; i < rows.size();) {
    batched<T> group;
    for (std::size_t n = std::min(group_rows, rows.size() - i); n != 0; --n) group.push_back(std::move(rows[i++]));
    ArrowArray array;
    REQUIRE(export_rows(group.storage(), type_of<T>(), &array).ok());
    writer->append(&array, bytes);
  }
  writer->end(bytes);
  return bytes;
}

}  // namespace sluice::lib::parquet_case
