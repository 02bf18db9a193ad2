// SPDX-License-Identifier: Apache-2.0
// Separate from other specs, so that programs without sparse and ragged tensors do not link them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "element/spec_parts.hpp"
#include "sluice/element/ragged_tensor.hpp"
#include "sluice/element/sparse_tensor.hpp"

namespace sluice::lib {
namespace {

spec array_of(std::string dtype, std::vector<std::int64_t> shape) {
  spec s;
  s.dtype = std::move(dtype);
  s.shape = std::move(shape);
  return s;
}

}  // namespace

spec spec_of_sparse(std::string dtype, std::size_t rank) {
  const auto dimensions = static_cast<std::int64_t>(rank);
  spec s = spec_of(type_of<sparse_tensor>());
  s.parts[0] = array_of("int64", {spec::kUnknown, dimensions});
  s.parts[1] = array_of(std::move(dtype), {spec::kUnknown});
  s.parts[2] = array_of("int64", {dimensions});
  return s;
}

spec spec_of_ragged(const spec& row, std::int64_t rows) {
  spec s = spec_of(type_of<ragged_tensor>());
  const bool is_ragged = row.form == spec::form_type::structure;
  spec& values = s.parts[0] = is_ragged ? row.parts[0] : row;
  // With one more dimension. If the rows are tensors, it is the only ragged one.
  std::int64_t levels = 1, splits = spec::kUnknown;
  if (is_ragged)
    levels = row.parts[1].any_shape || row.parts[1].shape[0] < 0 ? spec::kUnknown : row.parts[1].shape[0] + 1;
  else if (rows != spec::kUnknown && rows != INT64_MAX) splits = rows + 1;
  s.parts[1] = array_of("int64", {levels, splits});
  if (values.shape.empty()) return s;
  std::int64_t& all = values.shape[0];
  if (is_ragged || rows < 0 || all < 0 || __builtin_mul_overflow(all, rows, &all)) all = spec::kUnknown;
  return s;
}

}  // namespace sluice::lib
