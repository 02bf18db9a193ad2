// SPDX-License-Identifier: Apache-2.0
// sparse_tensor: the values that are somewhere in a shape, and where. tf.SparseTensor.
//
//   sparse_tensor s{.indices = tensor::of<std::int64_t>({0, 1, 2, 3}, {2, 2}),      // [0,1] and [2,3]
//                   .values = tensor::of<float>({1, 2}), .dense_shape = {3, 4}};
//   tensor all = s.to_dense();                         // float32[3,4], 0 where there is no value
//   sparse_tensor again = sparse_tensor::of(all);
//
// Shape:  indices int64[n,rank]; values [n] of any dtype; dense_shape has `rank` lengths. A structure like any other: its
//         members are named in plans, serialised, printed and compared. Values may be in any order, and 0.
// Owns:   its tensors, which share as tensors do.
// Errors: what takes one that does not fit together throws invalid_argument, as check() says; where an element is read from
//         bytes, it is checked.
// Batches: rows stay the objects that they are, as shapes differ.
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

  /// The elements that are not 0, false or "", in row-major order.
  static sparse_tensor of(const tensor& dense);

  std::size_t rank() const noexcept { return dense_shape.size(); }
  /// Number of values.
  std::size_t size() const noexcept { return values.size(); }
  /// Errors: invalid_argument: members of other shapes or dtypes, or an index outside of dense_shape; says which.
  status check() const;
  /// "sparse float32[3,4]".
  std::string spec_text() const;

  /// Values that are nowhere are 0, false or "". Errors: throws invalid_argument where two values have one index;
  /// resource_exhausted where it would have more than kDenseBytesMax bytes.
  tensor to_dense() const;
  /// Values that are nowhere are `otherwise`, a scalar of the same dtype. Errors: as above.
  tensor to_dense(const tensor& otherwise) const;
  /// The same values in row-major order of their indices; those of one index stay in their order.
  sparse_tensor ordered() const;

  friend bool operator==(const sparse_tensor&, const sparse_tensor&) = default;

 private:
  static tensor no_indices();
  tensor scatter(detail::tensor_parts& made) const;
};

/// The most bytes of a tensor that is made of fewer: a shape is quickly written. Strings count with their offsets.
inline constexpr std::size_t kDenseBytesMax = std::size_t{1} << 32;

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::sparse_tensor;

}  // namespace sluice
