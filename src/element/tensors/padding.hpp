// SPDX-License-Identifier: Apache-2.0
// Lists and tensors of different lengths as rectangles: what padded_batch makes of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/element/batched.hpp"
#include "sluice/element/dtype.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// The padding of one dtype: the bytes of a number, or a text.
struct padding_value {
  lib::dtype dtype = dtype::int64;
  std::string bytes;
  /// `spelled`: a number as C++ writes it, or a text. Returns false where it is none of dtype `d`, or out of its range.
  bool set(lib::dtype d, const std::string& spelled, bool is_text);
};

/// A member of the rows that is a list of numbers or texts, a list of such lists, or a tensor.
struct padded_member {
  std::string path;  ///< "context.ids"; of the element itself "it"
  const element_type* type = nullptr;
  std::size_t offset = 0;          ///< of a tensor: within the element
  std::vector<std::int64_t> dims;  ///< lengths; -1: of the longest in the batch. Empty: all so
  std::string spelled = "0";       ///< what fills; of tensors it is read when their dtype is known
  bool is_text = false, is_given = false;
  padding_value value{};  ///< of lists

  bool is_tensor() const { return type->kind == kind::tensor; }
  /// The depth of nested lists.
  std::size_t rank() const;
};

/// All such members of a row, in the order of its members.
std::vector<padded_member> padded_members(const element_type& row);

/// Makes the tensors of the n elements at `rows` one shape for each member. Errors: a status, with the number of the element within
/// these in `which`: other dtypes or ranks than the first's, or longer than said; elements in front of it may be padded then.
status pad_tensors(const std::vector<padded_member>& members, char* rows, std::size_t row_bytes, std::size_t n,
                   std::size_t& which);

/// About how many bytes it will allocate; as many as there are where that is beyond counting, and 0 where it will fail.
std::size_t padded_tensor_bytes(const std::vector<padded_member>& members, char* rows, std::size_t row_bytes,
                                std::size_t n);

/// A batch of the same rows, in which lists are padded. `b` is used up. Errors: a status, as above.
status pad_lists(const std::vector<padded_member>& members, const element_type& row, batch_storage& b,
                 std::size_t& which);

/// Is a row a list of numbers and nothing else? Then one copy makes the batch: padded_length, then append_padded.
bool are_number_lists(const std::vector<padded_member>& members, const element_type& row);
/// The length that these n lists of numbers are given. Errors: a status, as above.
status padded_length(const padded_member& m, const void* lists, std::size_t n, std::size_t& length, std::size_t& which);
/// Appends copies of n lists of numbers, none of which is longer than `length`. Errors: a status: there would be too many.
status append_padded(const padded_member& m, const void* lists, std::size_t n, std::size_t length, batch_storage& to);

/// About how many bytes pad_lists will allocate.
std::size_t padded_bytes(const std::vector<padded_member>& members, const batch_storage& b);

}  // namespace sluice::lib
