// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/ragged_tensor.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "element/tensors/tensor_parts.hpp"

namespace sluice::lib {

namespace {

using splits = std::vector<std::int64_t>;

void require(const ragged_tensor& r) {
  status why = r.check();
  if (!why.ok()) throw_status(std::move(why));
}

std::int64_t longest_row(const splits& s) {
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < s.size(); ++i) longest = std::max(longest, s[i] - s[i - 1]);
  return longest;
}

/// Returns the splits [first, last] of a dimension, shifted to begin with 0.
splits cut(const splits& from, std::int64_t first, std::int64_t last) {
  splits out(from.begin() + first, from.begin() + last + 1);
  const std::int64_t base = out.front();
  for (std::int64_t& s : out) s -= base;
  return out;
}

std::span<const std::int64_t> inner_shape(const tensor& t) { return t.shape().subspan(1); }

/// Calls row(place of its first element in the bounding shape, in rows of `values`; first row of `values`; their
/// number) for each innermost row.
template <class F> void each_innermost(const ragged_tensor& r, const std::vector<std::int64_t>& bounds, F row) {
  auto walk = [&](auto& self, std::size_t level, std::int64_t first, std::int64_t last, std::int64_t place) -> void {
    const splits& s = r.row_splits[level];
    const bool is_last = level + 1 == r.ragged_rank();
    for (std::int64_t i = first; i != last; ++i) {
      const std::int64_t at = (place + (i - first)) * bounds[level + 1];
      const auto k = static_cast<std::size_t>(i);
      if (is_last) row(at, s[k], s[k + 1] - s[k]);
      else self(self, level + 1, s[k], s[k + 1], at);
    }
  };
  walk(walk, 0, 0, static_cast<std::int64_t>(r.size()), 0);
}

tensor padded(const ragged_tensor& r, const tensor* otherwise) {
  require(r);
  const std::vector<std::int64_t> bounds = r.bounding_shape();
  detail::tensor_parts made({r.values.dtype(), tensor_shape(bounds)}, otherwise, kDenseBytesMax);
  const std::size_t each = detail::elements_of_parts(r.values);
  each_innermost(r, bounds, [&](std::int64_t at, std::int64_t first, std::int64_t n) {
    made.put(static_cast<std::size_t>(at) * each, r.values, static_cast<std::size_t>(first) * each,
             static_cast<std::size_t>(n) * each);
  });
  return made.finish();
}

[[noreturn]] void refuse_row(std::size_t i, const std::string& got, const std::string& first) {
  throw_status(invalid_argument_error(absl::StrCat("row ", i, ": expected rows like ", first, ", got ", got)));
}

}  // namespace

std::vector<std::vector<std::int64_t>> ragged_tensor::no_rows() { return {{0}}; }

void ragged_tensor::add_level(std::vector<std::vector<std::int64_t>>& splits, std::size_t depth) {
  if (splits.size() == depth) splits.push_back({0});
}

void ragged_tensor::end_row(std::vector<std::vector<std::int64_t>>& splits, std::size_t depth, std::size_t size) {
  splits[depth].push_back(splits[depth].back() + static_cast<std::int64_t>(size));
}

std::size_t ragged_tensor::size() const noexcept {
  return row_splits.empty() || row_splits[0].empty() ? 0 : row_splits[0].size() - 1;
}

status ragged_tensor::check() const {
  auto wrong = [](const auto&... words) { return invalid_argument_error(absl::StrCat("ragged_tensor: ", words...)); };
  if (row_splits.empty()) return wrong("there are no row_splits; a tensor without a ragged dimension is a tensor");
  if (values.rank() == 0) return wrong("values have at least one dimension, and are ", values.spec_text());
  for (std::size_t k = 0; k != row_splits.size(); ++k) {
    const splits& s = row_splits[k];
    if (s.empty() || s[0] != 0) return wrong("row_splits[", k, "] do not begin with 0");
    for (std::size_t i = 1; i != s.size(); ++i)
      if (s[i] < s[i - 1])
        return wrong("row_splits[", k, "][", i, "] is ", s[i], ", less than ", s[i - 1], " before it");
    const bool is_last = k + 1 == row_splits.size();
    const std::int64_t end = is_last                     ? values.shape()[0]
                             : row_splits[k + 1].empty() ? 0
                                                         : static_cast<std::int64_t>(row_splits[k + 1].size()) - 1;
    if (s.back() != end)
      return wrong("row_splits[", k, "] end with ", s.back(), ", and there are ", end, is_last ? " values" : " rows");
  }
  return {};
}

std::string ragged_tensor::spec_text() const {
  std::string out = absl::StrCat("ragged ", std::string(name_of(values.dtype())), "[", size());
  for (std::size_t k = 0; k != ragged_rank(); ++k) out += ",?";
  for (std::size_t d = 1; d < values.rank(); ++d) absl::StrAppend(&out, ",", values.shape()[d]);
  return out + "]";
}

ragged_tensor ragged_tensor::of_lengths(tensor values, std::span<const std::vector<std::int64_t>> row_lengths) {
  ragged_tensor made{std::move(values), {}};
  for (const auto& lengths : row_lengths) {
    splits& s = made.row_splits.emplace_back();
    s.reserve(lengths.size() + 1);
    s.push_back(0);
    for (std::int64_t n : lengths) {
      if (n < 0) throw_status(invalid_argument_error(absl::StrCat("ragged_tensor: a row of length ", n)));
      if (__builtin_add_overflow(s.back(), n, &n))
        throw_status(invalid_argument_error("ragged_tensor: the lengths of rows are more than 2^63 - 1 in sum"));
      s.push_back(n);
    }
  }
  require(made);
  return made;
}

ragged_tensor ragged_tensor::of(const tensor& t, std::size_t ragged) {
  if (ragged == 0 || ragged >= t.rank())
    throw_status(invalid_argument_error(
        absl::StrCat("ragged_tensor: ", ragged, " ragged dimensions of a tensor of ", t.spec_text())));
  ragged_tensor made;
  made.row_splits.clear();
  std::int64_t rows = t.shape()[0];
  for (std::size_t k = 0; k != ragged; ++k) {
    const std::int64_t each = t.shape()[k + 1];
    detail::check_objects(rows, sizeof(std::int64_t));
    splits& s = made.row_splits.emplace_back(static_cast<std::size_t>(rows) + 1);
    for (std::size_t i = 1; i < s.size(); ++i) s[i] = s[i - 1] + each;
    rows = s.back();
  }
  std::vector<std::int64_t> dims(t.shape().begin() + static_cast<std::ptrdiff_t>(ragged), t.shape().end());
  dims[0] = rows;
  made.values = t.reshape(dims);
  return made;
}

tensor ragged_tensor::row(std::size_t i) const {
  require(*this);
  if (ragged_rank() != 1)
    throw_status(invalid_argument_error(absl::StrCat("a row of ", spec_text(), " is no tensor: part() gives it")));
  if (i >= size()) throw_status(out_of_range_error(absl::StrCat("row ", i, " of ", spec_text())));
  return values.slice(row_splits[0][i], row_splits[0][i + 1] - row_splits[0][i]);
}

ragged_tensor ragged_tensor::part(std::size_t i) const {
  require(*this);
  if (ragged_rank() == 1)
    throw_status(invalid_argument_error(absl::StrCat("a row of ", spec_text(), " is a tensor: row() gives it")));
  if (i >= size()) throw_status(out_of_range_error(absl::StrCat("row ", i, " of ", spec_text())));
  std::int64_t first = row_splits[0][i], last = row_splits[0][i + 1];
  ragged_tensor made;
  made.row_splits.clear();
  for (std::size_t k = 1; k != ragged_rank(); ++k) {
    const splits& s = row_splits[k];
    made.row_splits.push_back(cut(s, first, last));
    first = s[static_cast<std::size_t>(first)];
    last = s[static_cast<std::size_t>(last)];
  }
  made.values = values.slice(first, last - first);
  return made;
}

std::vector<std::int64_t> ragged_tensor::bounding_shape() const {
  std::vector<std::int64_t> dims{static_cast<std::int64_t>(size())};
  for (const splits& s : row_splits) dims.push_back(longest_row(s));
  for (std::size_t d = 1; d < values.rank(); ++d) dims.push_back(values.shape()[d]);
  return dims;
}

tensor ragged_tensor::to_tensor() const { return padded(*this, nullptr); }
tensor ragged_tensor::to_tensor(const tensor& otherwise) const { return padded(*this, &otherwise); }

sparse_tensor ragged_tensor::to_sparse() const {
  require(*this);
  sparse_tensor made;
  made.dense_shape = bounding_shape();
  tensor_spec{values.dtype(), tensor_shape(made.dense_shape)}.check();
  const std::size_t rank = made.dense_shape.size(), each = detail::elements_of_parts(values);
  made.values = values.reshape({-1});
  made.indices =
      tensor::make(dtype::int64, {static_cast<std::int64_t>(made.values.size()), static_cast<std::int64_t>(rank)});
  if (made.values.empty()) return made;
  std::int64_t* index = made.indices.writable<std::int64_t>().data();
  each_innermost(*this, made.dense_shape, [&](std::int64_t at, std::int64_t, std::int64_t n) {
    auto place = static_cast<std::size_t>(at) * each;
    for (std::size_t i = 0; i != static_cast<std::size_t>(n) * each; ++i, index += rank) {
      std::size_t rest = place + i;
      for (std::size_t d = rank; d-- != 0;) {
        const auto dim = static_cast<std::size_t>(made.dense_shape[d]);
        index[d] = static_cast<std::int64_t>(rest % dim);
        rest /= dim;
      }
    }
  });
  return made;
}

ragged_tensor stacked(std::span<const ragged_tensor> rows) {
  if (rows.empty()) throw_status(out_of_range_error("no ragged tensors: their type is unknown"));
  const ragged_tensor& first = rows[0];
  ragged_tensor made;
  made.row_splits.assign(first.ragged_rank() + 1, {0});
  std::int64_t total = 0;
  for (std::size_t i = 0; i != rows.size(); ++i) {
    const ragged_tensor& r = rows[i];
    require(r);
    if (r.ragged_rank() != first.ragged_rank() || r.values.dtype() != first.values.dtype() ||
        !std::ranges::equal(inner_shape(r.values), inner_shape(first.values)))
      refuse_row(i, r.spec_text(), first.spec_text());
    made.row_splits[0].push_back(made.row_splits[0].back() + static_cast<std::int64_t>(r.size()));
    for (std::size_t k = 0; k != r.ragged_rank(); ++k) {
      splits& to = made.row_splits[k + 1];
      const std::int64_t base = to.back();
      for (std::size_t j = 1; j < r.row_splits[k].size(); ++j) to.push_back(base + r.row_splits[k][j]);
    }
    total += r.values.shape()[0];
  }
  std::vector<std::int64_t> dims(first.values.shape().begin(), first.values.shape().end());
  dims[0] = total;
  detail::tensor_parts all({first.values.dtype(), tensor_shape(dims)}, nullptr, SIZE_MAX);
  std::size_t at = 0;
  for (const ragged_tensor& r : rows) {
    all.put(at, r.values, 0, r.values.size());
    at += r.values.size();
  }
  made.values = all.finish();
  return made;
}

}  // namespace sluice::lib
