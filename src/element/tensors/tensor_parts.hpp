// SPDX-License-Identifier: Apache-2.0
// Tensors that are put together of elements of others: by index, whatever the dtype.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib::detail {

/// A tensor in the making whose elements are copied from others of its dtype. Strings are gathered until finish().
class tensor_parts {
 public:
  /// `otherwise`: a scalar, what elements are that nothing is put to; null: 0 or "". Errors: throws resource_exhausted above
  /// `bytes_max`, before anything is allocated; invalid_argument where `otherwise` is something else.
  tensor_parts(const tensor_spec& spec, const tensor* otherwise, std::size_t bytes_max);

  /// Elements [at, at + n) are those of `from` from element `first` on. REQUIRES: they are in both, and dtypes are equal.
  void put(std::size_t at, const tensor& from, std::size_t first, std::size_t n) {
    if (n == 0) return;
    if (element_bytes_ != 0)
      std::memcpy(numbers_ + at * element_bytes_, from.data() + first * element_bytes_, n * element_bytes_);
    else
      for (std::size_t i = 0; i != n; ++i) texts_[at + i] = from.text(first + i);
  }
  /// The views of texts that were put must still be valid.
  tensor finish();

 private:
  tensor made_;
  tensor_shape shape_;
  std::size_t element_bytes_ = 0;  ///< of strings 0
  char* numbers_ = nullptr;
  std::vector<std::string_view> texts_;
};

/// Element i of int64s in row-major order.
inline std::int64_t int64_at(const tensor& t, std::size_t i) {
  std::int64_t v;
  std::memcpy(&v, t.data() + i * sizeof v, sizeof v);
  return v;
}

/// Errors: throws resource_exhausted: that many objects of `bytes` are more than elements of this size may become.
inline void check_objects(std::int64_t n, std::size_t bytes) {
  if (static_cast<std::uint64_t>(n) > kDenseBytesMax / bytes)
    throw_status(element_limit_error("parts of a tensor: " + std::to_string(n) + " are too many"));
}

/// Elements of each part in the first dimension. REQUIRES: rank >= 1.
inline std::size_t elements_of_parts(const tensor& t) noexcept {
  std::size_t n = 1;
  for (std::int64_t dim : t.shape().subspan(1)) n *= static_cast<std::size_t>(dim);
  return n;
}

}  // namespace sluice::lib::detail
