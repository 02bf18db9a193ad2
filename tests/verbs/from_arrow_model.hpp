// SPDX-License-Identifier: Apache-2.0
// What the cases of from_arrow and its tests share.
#pragma once

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "arrow/ipc_writer.hpp"
#include "arrow/row_type.hpp"
#include "sluice/arrow/columns.hpp"
#include "sluice/op/from_arrow.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::from_arrow_case {

using namespace test;

struct arrow_row {
  std::int64_t number = 0;
  std::string text;
};

template <class T> void append_batch(std::string& out, const batched<T>& b, const ArrowSchema& schema) {
  ArrowArray array;
  REQUIRE(export_rows(b.storage(), type_of<T>(), &array).ok());
  REQUIRE(arrow::append_ipc_batch(out, schema, array).ok());
  array.release(&array);
}

template <class T> std::string arrow_stream(const std::vector<batched<T>>& batches, bool with_end = true) {
  std::string out;
  ArrowSchema schema;
  REQUIRE(export_schema(type_of<T>(), &schema).ok());
  REQUIRE(arrow::append_ipc_schema(out, schema).ok());
  for (auto& b : batches) append_batch(out, b, schema);
  schema.release(&schema);
  if (with_end) arrow::append_ipc_end(out);
  return out;
}

}  // namespace sluice::lib::from_arrow_case
