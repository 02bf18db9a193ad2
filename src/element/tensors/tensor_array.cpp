// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/tensor_array.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "element/tensors/tensor_parts.hpp"
#include "sluice/element/ragged_tensor.hpp"

namespace sluice::lib {

namespace {

enum class agree : std::uint8_t { all_dimensions, all_but_the_first };

/// Errors: those of all functions in this file.
void require_alike(std::span<const tensor> all, agree how) {
  if (all.empty()) throw_status(out_of_range_error("no tensors: their dtype and shape are unknown"));
  const std::size_t from = how == agree::all_but_the_first ? 1 : 0;
  for (std::size_t i = 0; i != all.size(); ++i) {
    const tensor& t = all[i];
    if (t.rank() < from)
      throw_status(invalid_argument_error(absl::StrCat("tensor ", i, " is a scalar, ", t.spec_text())));
    if (t.dtype() != all[0].dtype() || t.rank() != all[0].rank() ||
        !std::ranges::equal(t.shape().subspan(from), all[0].shape().subspan(from)))
      throw_status(
          invalid_argument_error(absl::StrCat("tensor ", i, ": expected one like ", all[0].spec_text(),
                                              from ? " but for the first dimension" : "", ", got ", t.spec_text())));
  }
}

tensor joined(std::span<const tensor> all, const tensor_shape& shape) {
  detail::tensor_parts made({all[0].dtype(), shape}, nullptr, SIZE_MAX);
  std::size_t at = 0;
  for (const tensor& t : all) {
    made.put(at, t, 0, t.size());
    at += t.size();
  }
  return made.finish();
}

tensor joined_along_the_first(std::span<const tensor> all) {
  std::vector<std::int64_t> dims(all[0].shape().begin(), all[0].shape().end());
  dims[0] = 0;
  for (const tensor& t : all)
    if (__builtin_add_overflow(dims[0], t.shape()[0], &dims[0]))
      throw_status(invalid_argument_error("the tensors have more than 2^63 - 1 parts in sum"));
  return joined(all, dims);
}

}  // namespace

tensor stack(std::span<const tensor> all) {
  require_alike(all, agree::all_dimensions);
  return joined(all, tensor_shape(all[0].shape()).below(static_cast<std::int64_t>(all.size())));
}

tensor_array unstack(const tensor& t) {
  if (t.rank() == 0) throw_status(invalid_argument_error("a scalar has no parts"));
  detail::check_objects(t.shape()[0], sizeof(tensor));
  tensor_array parts;
  parts.reserve(static_cast<std::size_t>(t.shape()[0]));
  for (std::int64_t i = 0; i != t.shape()[0]; ++i) parts.push_back(t[i]);
  return parts;
}

tensor concat(std::span<const tensor> all) {
  require_alike(all, agree::all_but_the_first);
  return joined_along_the_first(all);
}

tensor_array split(const tensor& t, std::span<const std::int64_t> lengths) {
  if (t.rank() == 0) throw_status(invalid_argument_error("a scalar has no parts"));
  std::int64_t at = 0;
  for (std::int64_t n : lengths)
    if (n < 0 || n > t.shape()[0] - at)
      throw_status(invalid_argument_error(
          absl::StrCat("parts of these lengths have not ", t.shape()[0], " in sum, as ", t.spec_text(), " has")));
    else at += n;
  if (at != t.shape()[0])
    throw_status(invalid_argument_error(
        absl::StrCat("the parts have ", at, " in sum, and ", t.spec_text(), " has ", t.shape()[0])));
  tensor_array parts;
  parts.reserve(lengths.size());
  at = 0;
  for (std::int64_t n : lengths) parts.push_back(t.slice(std::exchange(at, at + n), n));
  return parts;
}

ragged_tensor stacked_ragged(std::span<const tensor> rows) {
  require_alike(rows, agree::all_but_the_first);
  ragged_tensor made{joined_along_the_first(rows), {{0}}};
  for (const tensor& t : rows) made.row_splits[0].push_back(made.row_splits[0].back() + t.shape()[0]);
  return made;
}

}  // namespace sluice::lib
