// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/sparse_tensor.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "element/tensors/tensor_parts.hpp"

namespace sluice::lib {

namespace {

using detail::int64_at;

std::string index_text(const sparse_tensor& s, std::size_t i) {
  std::string out = "[";
  for (std::size_t d = 0; d != s.rank(); ++d)
    absl::StrAppend(&out, d == 0 ? "" : ",", int64_at(s.indices, i * s.rank() + d));
  return out + "]";
}

void require(const sparse_tensor& s) {
  status why = s.check();
  if (!why.ok()) throw_status(std::move(why));
}

/// Returns the place of value i in row-major order. REQUIRES: check().ok().
std::size_t place_of(const sparse_tensor& s, std::size_t i) {
  std::size_t at = 0;
  for (std::size_t d = 0; d != s.rank(); ++d)
    at = at * static_cast<std::size_t>(s.dense_shape[d]) +
         static_cast<std::size_t>(int64_at(s.indices, i * s.rank() + d));
  return at;
}

/// Returns the numbers of the elements that are not 0 or "".
std::vector<std::size_t> elements_with_values(const tensor& t) {
  std::vector<std::size_t> found;
  if (t.dtype() == dtype::string) {
    for (std::size_t i = 0; i != t.size(); ++i)
      if (!t.text(i).empty()) found.push_back(i);
    return found;
  }
  const std::size_t bytes = size_bytes(t.dtype());
  const bool is_float = t.dtype() == dtype::float16 || t.dtype() == dtype::bfloat16 || t.dtype() == dtype::float32 ||
                        t.dtype() == dtype::float64;
  for (std::size_t i = 0; i != t.size(); ++i) {
    const char* at = t.data() + i * bytes;
    // Little-endian: the sign of -0.0 is the highest bit of the last byte.
    bool rest = std::any_of(at, at + bytes - 1, [](char c) { return c != 0; });
    auto last = static_cast<unsigned char>(at[bytes - 1]);
    if (rest || (last & (is_float ? 0x7F : 0xFF)) != 0) found.push_back(i);
  }
  return found;
}

}  // namespace

tensor sparse_tensor::no_indices() { return tensor::make(dtype::int64, {0, 0}); }

status sparse_tensor::check() const {
  auto wrong = [](const auto&... words) { return invalid_argument_error(absl::StrCat("sparse_tensor: ", words...)); };
  if (values.rank() != 1) return wrong("values are a vector, and these are ", values.spec_text());
  if (rank() > tensor_shape::kRankMax)
    return wrong("dense_shape has ", rank(), " lengths; a tensor has ", tensor_shape::kRankMax, " at most");
  for (std::int64_t dim : dense_shape)
    if (dim < 0) return wrong("dense_shape has the length ", dim);
  const std::int64_t wanted[] = {values.shape()[0], static_cast<std::int64_t>(rank())};
  if (indices.dtype() != dtype::int64 || !std::ranges::equal(indices.shape(), wanted))
    return wrong("expected indices of int64[", wanted[0], ",", wanted[1], "], got ", indices.spec_text());
  for (std::size_t i = 0; i != size(); ++i)
    for (std::size_t d = 0; d != rank(); ++d) {
      const std::int64_t at = int64_at(indices, i * rank() + d);
      if (at < 0 || at >= dense_shape[d])
        return wrong("value ", i, " is at ", index_text(*this, i), ", which is not in [",
                     absl::StrJoin(dense_shape, ","), "]");
    }
  return {};
}

std::string sparse_tensor::spec_text() const {
  return absl::StrCat("sparse ", std::string(name_of(values.dtype())), "[", absl::StrJoin(dense_shape, ","), "]");
}

sparse_tensor sparse_tensor::of(const tensor& dense) {
  const std::vector<std::size_t> at = elements_with_values(dense);
  const auto n = static_cast<std::int64_t>(at.size());
  const std::size_t rank = dense.rank();
  sparse_tensor made{tensor::make(dtype::int64, {n, static_cast<std::int64_t>(rank)}),
                     {},
                     {dense.shape().begin(), dense.shape().end()}};
  if (n != 0 && rank != 0) {
    std::int64_t* index = made.indices.writable<std::int64_t>().data();
    for (std::size_t i : at) {
      for (std::size_t d = rank; d-- != 0; i /= static_cast<std::size_t>(dense.shape()[d]))
        index[d] = static_cast<std::int64_t>(i % static_cast<std::size_t>(dense.shape()[d]));
      index += rank;
    }
  }
  detail::tensor_parts values({dense.dtype(), {n}}, nullptr, SIZE_MAX);
  for (std::size_t i = 0; i != at.size(); ++i) values.put(i, dense, at[i], 1);
  made.values = values.finish();
  return made;
}

tensor sparse_tensor::to_dense() const {
  require(*this);
  detail::tensor_parts made({values.dtype(), tensor_shape(dense_shape)}, nullptr, kDenseBytesMax);
  return scatter(made);
}

tensor sparse_tensor::to_dense(const tensor& otherwise) const {
  require(*this);
  detail::tensor_parts made({values.dtype(), tensor_shape(dense_shape)}, &otherwise, kDenseBytesMax);
  return scatter(made);
}

tensor sparse_tensor::scatter(detail::tensor_parts& made) const {
  std::vector<std::size_t> taken(size());
  for (std::size_t i = 0; i != size(); ++i) {
    taken[i] = place_of(*this, i);
    made.put(taken[i], values, i, 1);
  }
  if (!std::is_sorted(taken.begin(), taken.end())) std::sort(taken.begin(), taken.end());
  if (auto twice = std::adjacent_find(taken.begin(), taken.end()); twice != taken.end())
    for (std::size_t i = 0;; ++i)
      if (place_of(*this, i) == *twice)
        throw_status(invalid_argument_error("sparse_tensor: two values are at " + index_text(*this, i)));
  return made.finish();
}

sparse_tensor sparse_tensor::ordered() const {
  require(*this);
  auto before = [&](std::size_t a, std::size_t b) {
    for (std::size_t d = 0; d != rank(); ++d)
      if (auto c = int64_at(indices, a * rank() + d) <=> int64_at(indices, b * rank() + d); c != 0) return c < 0;
    return a < b;
  };
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (std::is_sorted(order.begin(), order.end(), before)) return *this;
  std::sort(order.begin(), order.end(), before);
  sparse_tensor made{tensor::make(dtype::int64, tensor_shape(indices.shape())), {}, dense_shape};
  detail::tensor_parts moved(values.spec(), nullptr, SIZE_MAX);
  for (std::size_t i = 0; i != size(); ++i) {
    moved.put(i, values, order[i], 1);
    if (rank() != 0)
      std::memcpy(made.indices.writable_data() + i * rank() * sizeof(std::int64_t),
                  indices.data() + order[i] * rank() * sizeof(std::int64_t), rank() * sizeof(std::int64_t));
  }
  made.values = moved.finish();
  return made;
}

}  // namespace sluice::lib
