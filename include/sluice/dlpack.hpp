// SPDX-License-Identifier: Apache-2.0
// Exports columns of numbers, and tensors, as DLPack tensors, which NumPy, PyTorch, JAX, TensorFlow and CuPy read
// without a copy; and imports their tensors.
//
//   batched<sample> b;                                              // sample: std::array<float, 3> pixels; int label
//   DLManagedTensorVersioned* t = to_dlpack(b, &sample::pixels);    // shape: rows × 3
//   t->deleter(t);                                                  // the receiver does this
//   tensor image = from_dlpack(theirs);                             // shares their bytes; calls their deleter once
//
// Shape:  the rows, then the extents of nested arrays; contiguous, with strides. Enums are their numbers, bools
//         kDLBool.
// Errors: members other than numbers and arrays of numbers do not compile: DLPack has no texts, lists or nulls.
//         std::bad_alloc.
// Thread: a tensor may be deleted on any thread, even after the batch and its run are gone.
// Owns:   the tensor shares the column's buffer. It is read only if the batch is const. Otherwise it may be written to,
//         like b[&sample::pixels], and both see each other's changes. A tensor is exported read only, unless it is
//         moved (std::move) and shares its bytes with no other object.
// See:    docs/arrow.md; arrow/dlpack_abi.hpp for the structs
#pragma once

#include "sluice/arrow/dlpack_tensor.hpp"
#include "sluice/element/batched.hpp"

namespace sluice::lib {
namespace detail {

template <class T> constexpr bool is_tensor_data() {
  if constexpr (std::is_array_v<T>) return is_tensor_data<std::remove_extent_t<T>>();
  else if constexpr (is_array<T>) return is_tensor_data<typename T::value_type>();
  else return (std::is_arithmetic_v<T> || std::is_enum_v<T>) && !std::is_same_v<T, long double>;
}

template <class U, class T, class M> const column* tensor_member(const batched<T>& b, M m) {
  static_assert(is_tensor_data<U>(), "sluice: to_dlpack takes members that are numbers, or arrays of numbers");
  if (!b.storage().has_column()) return nullptr;
  return &b.storage().rows_column().child(column_of<T>(m));
}
template <class T> const column* tensor_rows(const batched<T>& b) {
  static_assert(is_tensor_data<T>(), "sluice: to_dlpack takes rows that are numbers, or arrays of numbers");
  return b.storage().has_column() ? &b.storage().rows_column() : nullptr;
}
template <class T> std::size_t tensor_first(const batched<T>& b) {
  return b.storage().has_column() ? b.storage().rows_column().gone_in_front() : 0;
}

}  // namespace detail

/// Exports the column of a member.
template <class T, class U> DLManagedTensorVersioned* to_dlpack(batched<T>& b, U T::* m) {
  return export_tensor(type_of<U>(), detail::tensor_member<U>(b, m), detail::tensor_first(b), false).value();
}
template <class T, class U> DLManagedTensorVersioned* to_dlpack(const batched<T>& b, U T::* m) {
  return export_tensor(type_of<U>(), detail::tensor_member<U>(b, m), detail::tensor_first(b), true).value();
}
/// Exports all rows, if they are numbers or arrays of numbers.
template <class T> DLManagedTensorVersioned* to_dlpack(batched<T>& b) {
  return export_tensor(type_of<T>(), detail::tensor_rows(b), detail::tensor_first(b), false).value();
}
template <class T> DLManagedTensorVersioned* to_dlpack(const batched<T>& b) {
  return export_tensor(type_of<T>(), detail::tensor_rows(b), detail::tensor_first(b), true).value();
}

/// The same for consumers from before DLPack 1.0, whose tensors may always be written to.
template <class T, class U> DLManagedTensor* to_old_dlpack(batched<T>& b, U T::* m) {
  return export_old_tensor(type_of<U>(), detail::tensor_member<U>(b, m), detail::tensor_first(b)).value();
}
template <class T> DLManagedTensor* to_old_dlpack(batched<T>& b) {
  return export_old_tensor(type_of<T>(), detail::tensor_rows(b), detail::tensor_first(b)).value();
}

/// Exports a tensor of numbers.
inline DLManagedTensorVersioned* to_dlpack(const tensor& t) { return export_tensor(t, true).value(); }
inline DLManagedTensorVersioned* to_dlpack(tensor&& t) { return export_tensor(t, !t.is_writable()).value(); }
inline DLManagedTensor* to_old_dlpack(const tensor& t) { return export_old_tensor(t).value(); }
/// Imports a tensor; see import_tensor. Errors: thrown.
inline tensor from_dlpack(DLManagedTensorVersioned* t) { return import_tensor(t).value(); }
inline tensor from_dlpack(DLManagedTensor* t) { return import_tensor(t).value(); }

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::from_dlpack;
using lib::to_dlpack;
using lib::to_old_dlpack;

}  // namespace sluice
