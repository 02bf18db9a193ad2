// SPDX-License-Identifier: Apache-2.0
// sparse_tensor: some values of a shape, and their indices, like tf.SparseTensor.
//
//   sparse_tensor s{.indices = tensor::of<std::int64_t>({0, 1, 2, 3}, {2, 2}),      // [0,1] and [2,3]
//                   .values = tensor::of<float>({1, 2}), .dense_shape = {3, 4}};
//   tensor all = s.to_dense();                         // float32[3,4], 0 at the other indices
//   sparse_tensor again = sparse_tensor::of(all);
//
// Shape:  indices int64[n,rank]; values [n] of any dtype; dense_shape has `rank` lengths. A structure like any other:
//         plans name its members, and it is serialised, printed and compared. Values may be in any order, and may be 0.
// Owns:   its tensors, which share their bytes as tensors do.
// Errors: functions that receive an inconsistent sparse_tensor throw invalid_argument, as check() does. An element that
//         is read from bytes is checked.
// Batches: rows stay objects, as shapes differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

namespace detail {
class tensor_parts;
}

struct sparse_tensor {
  tensor indices = no_indices();
  tensor values{};
  std::vector<std::int64_t> dense_shape{};

  static constexpr bool sluice_whole = true;
  static status sluice_check(const sparse_tensor& s) { return s.check(); }

  /// Makes one of the elements that are not 0, false or "", in row-major order.
  static sparse_tensor of(const tensor& dense);

  std::size_t rank() const noexcept { return dense_shape.size(); }
  /// Number of values.
  std::size_t size() const noexcept { return values.size(); }
  /// Errors: invalid_argument: members of other shapes or dtypes, or an index outside of dense_shape; the message
  /// contains it.
  status check() const;
  /// "sparse float32[3,4]".
  std::string spec_text() const;

  /// Fills the other indices with 0, false or "". Errors: throws invalid_argument if two values have one index;
  /// resource_exhausted if the result would have more than kDenseBytesMax bytes.
  tensor to_dense() const;
  /// Fills the other indices with `otherwise`, a scalar of the same dtype. Errors: the same.
  tensor to_dense(const tensor& otherwise) const;
  /// Returns the same values in row-major order of their indices. Values of one index keep their order.
  sparse_tensor ordered() const;

  friend bool operator==(const sparse_tensor&, const sparse_tensor&) = default;

 private:
  static tensor no_indices();
  tensor scatter(detail::tensor_parts& made) const;
};

/// The size limit for a dense tensor made of a sparse one, since a few bytes can describe a large shape. Strings count
/// with their offsets.
inline constexpr std::size_t kDenseBytesMax = std::size_t{1} << 32;

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::sparse_tensor;

}  // namespace sluice
