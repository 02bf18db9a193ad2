// SPDX-License-Identifier: Apache-2.0
// Exports columns of numbers, and tensors, as DLPack tensors, for types that are known at run time only; and imports
// tensors. sluice/dlpack.hpp has the typed functions.
//
//   result<DLManagedTensorVersioned*> t = export_tensor(type_of<float>(), &batch.storage().rows_column(), 0, true);
//
// Errors: invalid_argument for a type that is not made of numbers at a fixed size; std::bad_alloc.
// Thread: a tensor may be deleted on any thread, even after the batch and its run are gone.
// Owns:   the tensor has a reference on the column's buffer; the receiver calls its deleter once.
#pragma once

#include "sluice/arrow/dlpack_abi.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

/// Exports the rows of a column from `first` on; the column is null if it has no rows. Shape: rows, then the extents of
/// nested arrays.
result<DLManagedTensorVersioned*> export_tensor(const element_type& type, const column* c, std::size_t first,
                                                bool read_only);
/// Exports a tensor's bytes, with a reference on them. Errors: the same, for strings.
result<DLManagedTensorVersioned*> export_tensor(const tensor& t, bool read_only);
/// The same two functions in the form before DLPack 1.0, which cannot mark a tensor as read only.
result<DLManagedTensor*> export_old_tensor(const element_type& type, const column* c, std::size_t first);
result<DLManagedTensor*> export_old_tensor(const tensor& t);

/// Returns a tensor that shares the bytes of `t`, and owns `t`, even if the function fails: its deleter is called once,
/// when the last tensor that shares the bytes is destroyed, on that thread. Bytes that are not contiguous or not
/// aligned are copied, and `t` is deleted at once. Bytes that are marked read only stay so. Errors: invalid_argument:
/// another device than the CPU, numbers without a dtype, bools other than 0 and 1, unsupported shapes, another major
/// version.
result<tensor> import_tensor(DLManagedTensorVersioned* t);
/// For the form before DLPack 1.0: the tensor is read only, since that form does not indicate whether others read the
/// bytes.
result<tensor> import_tensor(DLManagedTensor* t);

}  // namespace sluice::lib
