// SPDX-License-Identifier: Apache-2.0
// Tensors, numbers and texts that a plan holds: the argument of from_tensors and from_tensor_slices.
//
// In plan text they are written as they are: 5, 1.5, true, "text"; [[1, 2], [3, 4]] is a tensor; {a: 1, b: "x"} a structure,
// (1, 2) a pair. Whole numbers are int64, others float64. Tensors of other dtypes stand in their name, `uint8([1, 2])`,
// `float32(0.5)`; a name says also that a single number is a tensor without dimensions, where it is else an int64, a double, a
// bool or a string. nan, inf and -inf are numbers. Without elements: `float32([], [0,28,28])` says the shape.
// Owns:   the tensors, or a reference on their bytes.
// Thread: immutable.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/base/reflect.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/value.hpp"
#include "sluice/plan/function.hpp"

namespace sluice::lib {

/// What a nest has in one place.
struct tensor_leaf {
  tensor values;
  /// A single value of it is a number, bool or string, and not a tensor without dimensions. Only int64, float64, bool and string.
  bool is_plain = false;
};

/// More than so many bytes have no text, and are compared by a hash.
inline constexpr std::size_t kTensorTextBytesMax = std::size_t{64} << 10;

class tensor_data final : public stage_function {
 public:
  /// `nest`: the type of the whole; its leaves are tensor, or, of plain ones of rank 0, the type of the value.
  tensor_data(const element_type& nest, std::vector<tensor_leaf> leaves);

  bool is_data() const override { return true; }
  std::uint64_t values() const override;

  /// What the whole is as one element, and what its slices along the first dimension are; null, with the reason in `why`: it
  /// has none.
  const element_type* whole_type() const noexcept { return whole_; }
  const element_type* slice_type(std::string& why) const;
  /// REQUIRES: slice_type() is not null.
  std::uint64_t slices() const noexcept {
    SLUICE_REQUIRES(slice_, "the tensors have no slices of one kind");
    return slices_;
  }
  /// To uninitialised memory: the whole; the slices [first, first + n).
  void make_whole(void* to) const;
  void make_slices(std::uint64_t first, std::size_t n, void* to) const;

 private:
  std::vector<tensor_leaf> leaves_;
  std::vector<std::size_t> whole_at_, slice_at_;  ///< where leaves are in the element
  const element_type* whole_;
  const element_type* slice_ = nullptr;
  std::string no_slices_;
  std::uint64_t slices_ = 0;
  mutable std::once_flag hashed_;
  mutable std::uint64_t hash_ = 0;
};

/// A required argument.
struct tensor_data_arg {
  function_ptr value{};  ///< a tensor_data
  const tensor_data& data() const { return static_cast<const tensor_data&>(*value); }
};

namespace detail {

template <class T>
inline constexpr bool is_tensor_or_plain =
    std::is_same_v<T, tensor> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
    std::is_same_v<T, bool> || std::is_same_v<T, std::string>;

/// Is T a tensor (or, `Plain`, what a literal has), or a nest of such?
template <class T, bool Plain> constexpr bool made_of_tensors() {
  if constexpr (std::is_same_v<T, tensor>) return true;
  else if constexpr (is_tensor_or_plain<T>) return Plain;
  else if constexpr (is_pair<T>)
    return made_of_tensors<typename T::first_type, Plain>() && made_of_tensors<typename T::second_type, Plain>();
  else if constexpr (is_tuple<T>)
    return []<class... M>(std::tuple<M...>*) { return (made_of_tensors<M, Plain>() && ...); }(static_cast<T*>(nullptr));
  else if constexpr (is_text<T> || names_itself<T>) return false;
  else if constexpr (reflectable<T>)
    return []<class... M>(std::tuple<M*...>*) {
      return (made_of_tensors<std::remove_cv_t<M>, Plain>() && ...);
    }(static_cast<member_pointers<T>*>(nullptr));
  else return false;
}

/// Of an element that is made of tensors, and plain values.
tensor_data_arg tensor_data_of(const value& whole);
/// Of a tensor whose single values are T. Errors: throws invalid_argument where the tensor is of another dtype.
tensor_data_arg tensor_data_of(tensor t, dtype of_values);

}  // namespace detail

}  // namespace sluice::lib
