// SPDX-License-Identifier: Apache-2.0
// Columns of numbers as DLPack tensors, for types that are known at run time only. Typed functions: sluice/dlpack.hpp.
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

namespace sluice::lib {

/// The rows of a column (null: there are none) from `first` on. Shape: rows, then the extents of arrays in arrays.
result<DLManagedTensorVersioned*> export_tensor(const element_type& type, const column* c, std::size_t first,
                                                bool read_only);
/// The same in the form before DLPack 1.0, which cannot say that it must not be written to.
result<DLManagedTensor*> export_old_tensor(const element_type& type, const column* c, std::size_t first);

}  // namespace sluice::lib
