// SPDX-License-Identifier: Apache-2.0
// Appends arrays that a file contains, whose dictionaries, runs and views might stand for more values than fit into
// memory.
//
// `room`: the bytes that such values may still take; it becomes less by those that they take. null: any number.
// Errors: those of sluice/arrow/columns.hpp; resource_exhausted: `room` is exceeded (status::is_element_limit).
#pragma once

#include <cstddef>

#include "sluice/arrow/columns.hpp"

namespace sluice::lib::arrow {

/// Appends the first n values.
status append_within(column& to, const ArrowSchema& s, const ArrowArray& a, std::size_t n, std::size_t& room);
/// `whole`: a structure with the members of `row`, in order, and others, whose values are checked and not appended. Null:
/// `row`.
status append_rows_within(batch_storage& to, const element_type& row, const ArrowSchema& s, const ArrowArray& a,
                          std::size_t* room, const element_type* whole = nullptr);

/// Returns true if values of this type are checked, where they are not built, without a look at their numbers and at the
/// bytes of their texts. REQUIRES: values of the schema can become values of the type.
bool needs_no_values(const element_type& t, const ArrowSchema& s);

}  // namespace sluice::lib::arrow
