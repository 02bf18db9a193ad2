// SPDX-License-Identifier: Apache-2.0
// Columns of numbers, and tensors, as DLPack tensors, for types that are known at run time only; and tensors of DLPack's.
// Typed functions: sluice/dlpack.hpp.
//
//   result<DLManagedTensorVersioned*> t = export_tensor(type_of<float>(), &batch.storage().rows_column(), 0, true);
//
// Errors: invalid_argument for a type that is not made of numbers at a fixed size; std::bad_alloc.
// Thread: a tensor may be deleted on any thread, also after the batch and its run are gone.
// Owns:   the tensor has a reference on the column's buffer; whoever takes it calls its deleter once.
#pragma once

#include "sluice/arrow/dlpack_abi.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

/// The rows of a column (null: there are none) from `first` on. Shape: rows, then the extents of arrays in arrays.
result<DLManagedTensorVersioned*> export_tensor(const element_type& type, const column* c, std::size_t first,
                                                bool read_only);
/// A tensor's bytes, with a reference on them. Errors: as above, of strings.
result<DLManagedTensorVersioned*> export_tensor(const tensor& t, bool read_only);
/// The same two in the form before DLPack 1.0, which cannot say that it must not be written to.
result<DLManagedTensor*> export_old_tensor(const element_type& type, const column* c, std::size_t first);
result<DLManagedTensor*> export_old_tensor(const tensor& t);

/// A tensor that shares the bytes of `t`, which it takes over, whether it succeeds or not: its deleter is called once, with
/// the last tensor that shares them, on the thread that drops it. Copied where they are not contiguous or not aligned, and
/// deleted at once then. Bytes that are flagged read only stay so. Errors: invalid_argument: another device than the CPU,
/// numbers that are no dtype, bools other than 0 and 1, shapes that no tensor has, another major version.
result<tensor> import_tensor(DLManagedTensorVersioned* t);
/// Of before DLPack 1.0: read only, since it cannot say whether others read them.
result<tensor> import_tensor(DLManagedTensor* t);

}  // namespace sluice::lib
