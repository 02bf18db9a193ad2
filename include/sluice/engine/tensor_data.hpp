// SPDX-License-Identifier: Apache-2.0
// Tensors, numbers and texts that a plan contains: the argument of from_tensors and from_tensor_slices.
//
// Plan text writes them as literals: 5, 1.5, true, "text"; [[1, 2], [3, 4]] is a tensor, {a: 1, b: "x"} a structure,
// (1, 2) a pair. Whole numbers are int64, others float64. Tensors of other dtypes have their name, `uint8([1, 2])`,
// `float32(0.5)`. With a name a single number is a tensor without dimensions; without one it is an int64, a double, a
// bool or a string. nan, inf and -inf are numbers. For a tensor without elements `float32([], [0,28,28])` gives the
// shape.
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

/// One leaf of the nested data.
struct tensor_leaf {
  tensor values;
  /// A single value of it is a number, bool or string, not a tensor without dimensions. Only for int64, float64, bool
  /// and string.
  bool is_plain = false;
};

/// Data with more bytes than this have no text, and are compared by a hash.
inline constexpr std::size_t kTensorTextBytesMax = std::size_t{64} << 10;

class tensor_data final : public stage_function {
 public:
  /// `nest`: the type of the whole. Its leaves are tensor, or, for plain leaves of rank 0, the type of the value.
  tensor_data(const element_type& nest, std::vector<tensor_leaf> leaves);

  bool is_data() const override { return true; }
  std::uint64_t values() const override;

  /// The type of the whole as one element. slice_type() returns the type of the slices along the first dimension; null,
  /// with the reason in `why`, if slices do not exist.
  const element_type* whole_type() const noexcept { return whole_; }
  const element_type* slice_type(std::string& why) const;
  /// REQUIRES: slice_type() is not null.
  std::uint64_t slices() const noexcept {
    SLUICE_REQUIRES(slice_, "the tensors have no slices of one kind");
    return slices_;
  }
  /// Builds the whole, or the slices [first, first + n), in uninitialized memory.
  void make_whole(void* to) const;
  void make_slices(std::uint64_t first, std::size_t n, void* to) const;

 private:
  std::vector<tensor_leaf> leaves_;
  std::vector<std::size_t> whole_at_, slice_at_;  ///< the places of the leaves in the element
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

/// Returns true if T is a tensor (or, with `Plain`, the type of a literal), or consists of such types.
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

/// Makes the data of an element that consists of tensors and plain values.
tensor_data_arg tensor_data_of(const value& whole);
/// Makes the data of a tensor whose single values are T. Errors: throws invalid_argument if the tensor has another
/// dtype.
tensor_data_arg tensor_data_of(tensor t, dtype of_values);

}  // namespace detail

}  // namespace sluice::lib
