// SPDX-License-Identifier: Apache-2.0
// Builds tensors from elements of others, by index, for any dtype.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib::detail {

/// A tensor that is being built by copying elements of others with its dtype. Strings are collected until finish().
class tensor_parts {
 public:
  /// `otherwise`: a scalar, the value of elements that are not set; null: 0 or "". Errors: throws resource_exhausted
  /// above `bytes_max`, before anything is allocated; invalid_argument: `otherwise` is no scalar of this dtype.
  tensor_parts(const tensor_spec& spec, const tensor* otherwise, std::size_t bytes_max);

  /// Copies n elements of `from`, beginning with `first`, to [at, at + n). REQUIRES: both ranges exist, and the dtypes
  /// are equal.
  void put(std::size_t at, const tensor& from, std::size_t first, std::size_t n) {
    SLUICE_REQUIRES(first <= from.size() && n <= from.size() - first, "the tensor does not have these elements");
    if (n == 0) return;
    if (element_bytes_ != 0)
      std::memcpy(numbers_ + at * element_bytes_, from.data() + first * element_bytes_, n * element_bytes_);
    else
      for (std::size_t i = 0; i != n; ++i) texts_[at + i] = from.text(first + i);
  }
  /// REQUIRES: the views of texts passed to put() are still valid.
  tensor finish();

 private:
  tensor made_;
  tensor_shape shape_;
  std::size_t element_bytes_ = 0;  ///< 0 for strings
  char* numbers_ = nullptr;
  std::vector<std::string_view> texts_;
};

/// Returns element i of int64s in row-major order.
inline std::int64_t int64_at(const tensor& t, std::size_t i) {
  std::int64_t v;
  std::memcpy(&v, t.data() + i * sizeof v, sizeof v);
  return v;
}

/// Errors: throws resource_exhausted: n objects of `bytes` exceed the limit for elements of this size.
inline void check_objects(std::int64_t n, std::size_t bytes) {
  if (static_cast<std::uint64_t>(n) > kDenseBytesMax / bytes)
    throw_status(element_limit_error("parts of a tensor: " + std::to_string(n) + " are too many"));
}

/// Returns the number of elements of each part along the first dimension. REQUIRES: rank >= 1.
inline std::size_t elements_of_parts(const tensor& t) noexcept {
  SLUICE_REQUIRES(t.shape().size() >= 1, "a scalar has no parts");
  std::size_t n = 1;
  for (std::int64_t dim : t.shape().subspan(1)) n *= static_cast<std::size_t>(dim);
  return n;
}

}  // namespace sluice::lib::detail
