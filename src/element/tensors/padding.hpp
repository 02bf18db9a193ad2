// SPDX-License-Identifier: Apache-2.0
// Pads lists and tensors of different lengths to rectangles, for padded_batch.
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
  /// `spelled`: a number in C++'s spelling, or a text. Returns false if it is no value of dtype `d`, or out of its
  /// range.
  bool set(lib::dtype d, const std::string& spelled, bool is_text);
};

/// A member of the rows that is a list of numbers or texts, a list of such lists, or a tensor.
struct padded_member {
  std::string path;  ///< "context.ids"; "it" for the element itself
  const element_type* type = nullptr;
  std::size_t offset = 0;          ///< the offset of a tensor within the element
  std::vector<std::int64_t> dims;  ///< lengths; -1: the longest in the batch. Empty: all of them -1
  std::string spelled = "0";       ///< the padding; for tensors it is parsed when their dtype is known
  bool is_text = false, is_given = false;
  padding_value value{};  ///< the padding of lists

  bool is_tensor() const { return type->kind == kind::tensor; }
  /// Returns the depth of nested lists.
  std::size_t rank() const;
};

/// Returns all such members of a row, in the order of its members.
std::vector<padded_member> padded_members(const element_type& row);

/// Gives the tensors of the n elements at `rows` one shape for each member. Errors: a status, with the number of the
/// element in `which`: its dtype or rank differs from the first's, or it exceeds a declared length. Elements before it
/// may be padded then.
status pad_tensors(const std::vector<padded_member>& members, char* rows, std::size_t row_bytes, std::size_t n,
                   std::size_t& which);

/// Estimates how many bytes pad_tensors will allocate: the largest number if the sum overflows, and 0 if it will fail.
std::size_t padded_tensor_bytes(const std::vector<padded_member>& members, char* rows, std::size_t row_bytes,
                                std::size_t n);

/// Builds a batch of the same rows with padded lists, and consumes `b`. Errors: a status, as above.
status pad_lists(const std::vector<padded_member>& members, const element_type& row, batch_storage& b,
                 std::size_t& which);

/// Returns true if a row is a list of numbers. One copy then builds the batch: padded_length, followed by
/// append_padded.
bool are_number_lists(const std::vector<padded_member>& members, const element_type& row);
/// Computes the common length of n lists of numbers. Errors: a status, as above.
status padded_length(const padded_member& m, const void* lists, std::size_t n, std::size_t& length, std::size_t& which);
/// Appends copies of n lists of numbers, none longer than `length`. Errors: a status: the batch would have too many
/// numbers.
status append_padded(const padded_member& m, const void* lists, std::size_t n, std::size_t length, batch_storage& to);

/// Estimates how many bytes pad_lists will allocate.
std::size_t padded_bytes(const std::vector<padded_member>& members, const batch_storage& b);

}  // namespace sluice::lib
