// SPDX-License-Identifier: Apache-2.0
// ragged_tensor: a tensor whose rows have different lengths, in any number of dimensions, like tf.RaggedTensor.
//
//   auto words = ragged_tensor::of(std::vector<std::vector<std::string>>{{"a", "b"}, {}, {"c"}});
//   words.row(0)                                  // tensor string[2], a view
//   words.row_splits                              // {{0, 2, 2, 3}}: row i is values[split[i]:split[i + 1]]
//   tensor all = words.to_tensor();               // string[3,2], "" after the shorter rows
//
// Shape:  values [n, …] of any dtype: all rows, consecutively. Other dimensions of `values` are equal for all rows.
//         row_splits: for each ragged dimension, the outermost first, the offsets at which its rows begin and the last
//         one ends. The rows of the last ragged dimension are in `values`, those of each other one in the next
//         dimension. A structure like any other, as sparse_tensor is.
// Owns:   its tensor, which shares its bytes as tensors do.
// Errors: functions that receive an inconsistent ragged_tensor throw invalid_argument, as check() does. An element that
//         is read from bytes is checked.
// Batches: rows stay objects, as lengths differ; stacked() combines them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

struct ragged_tensor {
  tensor values{};
  std::vector<std::vector<std::int64_t>> row_splits = no_rows();

  static constexpr bool sluice_whole = true;
  static status sluice_check(const ragged_tensor& r) { return r.check(); }

  /// Makes one of lists of lists, at any depth: the innermost lists are the rows of `values`.
  template <class T> static ragged_tensor of(const std::vector<std::vector<T>>& rows) {
    typename leaf<T>::whole made;  // a ragged_tensor, as a dependent type that is complete at instantiation
    std::vector<leaf_type<T>> all;
    made.row_splits.clear();
    collect(rows, 0, made.row_splits, all);
    made.values = tensor::of(all);
    return made;
  }
  /// Makes rows of these lengths, the outermost dimension's first. Errors: throws invalid_argument if they are
  /// negative, or their sums differ from the numbers of rows.
  static ragged_tensor of_lengths(tensor values, std::span<const std::vector<std::int64_t>> row_lengths);
  /// Makes one of all rows of a tensor of at least two dimensions. The `ragged` dimensions after the first become
  /// ragged. Shares its bytes. Errors: throws invalid_argument, unless 1 <= ragged < rank.
  static ragged_tensor of(const tensor& t, std::size_t ragged = 1);

  /// Number of rows of the outermost dimension.
  std::size_t size() const noexcept;
  /// Number of ragged dimensions.
  std::size_t ragged_rank() const noexcept { return row_splits.size(); }
  std::size_t rank() const noexcept { return row_splits.size() + values.rank(); }
  /// Errors: invalid_argument: no ragged dimension; splits that do not begin with 0, decrease, or do not end at the
  /// number of rows; values that are a scalar.
  status check() const;
  /// "ragged float32[3,?,2]".
  std::string spec_text() const;

  /// Returns row i, a view. Errors: throws invalid_argument unless it has exactly one ragged dimension; out_of_range.
  tensor row(std::size_t i) const;
  /// Returns row i of one with several ragged dimensions; values are a view. Errors: the same.
  ragged_tensor part(std::size_t i) const;
  /// The smallest shape that contains all rows.
  std::vector<std::int64_t> bounding_shape() const;
  /// Fills shorter rows with 0, false or "". Errors: throws resource_exhausted if the result would have more than
  /// kDenseBytesMax bytes; invalid_argument if it has more dimensions than tensors support.
  tensor to_tensor() const;
  /// Does the same, filling with `otherwise`, a scalar of the same dtype.
  tensor to_tensor(const tensor& otherwise) const;
  /// Converts it, with the bounding shape. Errors: throws invalid_argument if it has more dimensions than tensors
  /// support.
  sparse_tensor to_sparse() const;

  friend bool operator==(const ragged_tensor&, const ragged_tensor&) = default;

 private:
  template <class T> struct leaf {
    using type = T;
    using whole = ragged_tensor;
  };
  template <class T> struct leaf<std::vector<T>> : leaf<T> {};
  template <class T> using leaf_type = typename leaf<T>::type;

  template <class T, class L>
  static void collect(const std::vector<T>& rows, std::size_t depth, std::vector<std::vector<std::int64_t>>& splits,
                      std::vector<L>& all) {
    if constexpr (std::is_same_v<T, L>) {
      all.insert(all.end(), rows.begin(), rows.end());
    } else {
      add_level(splits, depth);
      if (rows.empty()) add_levels(static_cast<const T*>(nullptr), depth + 1, splits);
      for (const T& row : rows) {
        end_row(splits, depth, row.size());
        collect(row, depth + 1, splits, all);
      }
    }
  }
  static std::vector<std::vector<std::int64_t>> no_rows();
  /// Adds a level of splits if only `depth` levels exist.
  static void add_level(std::vector<std::vector<std::int64_t>>& splits, std::size_t depth);
  static void end_row(std::vector<std::vector<std::int64_t>>& splits, std::size_t depth, std::size_t size);
  /// Adds the dimensions of the type even if no rows exist.
  template <class T>
  static void add_levels(const std::vector<T>*, std::size_t depth, std::vector<std::vector<std::int64_t>>& splits) {
    if constexpr (!std::is_same_v<T, leaf_type<T>>) {
      add_level(splits, depth);
      add_levels(static_cast<const T*>(nullptr), depth + 1, splits);
    }
  }
};

/// Combines rows into one with one more dimension. Errors: throws invalid_argument, with the row, if dtypes or the
/// shapes of rows differ; out_of_range without rows, because their dtype is unknown.
ragged_tensor stacked(std::span<const ragged_tensor> rows);
/// Does the same for tensors of one dimension or more, whose first lengths may differ.
ragged_tensor stacked_ragged(std::span<const tensor> rows);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::ragged_tensor;
using lib::stacked;
using lib::stacked_ragged;

}  // namespace sluice
