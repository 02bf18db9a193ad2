// SPDX-License-Identifier: Apache-2.0
// Lengths that a user's function computes, read as keys. bucket_by_sequence_length and batch_by_tokens measure elements
// with them.
#pragma once

#include <cstdint>
#include <string>

#include "engine/batching/key_numbers.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

/// Returns "", or why the function's result is no length.
inline std::string length_mistake(const function_ptr& f) {
  const element_type* length = f->out;
  if (length && !is_whole_number(*length)) return "the length must be a whole number, and is " + length->name;
  return {};
}

inline status negative_length(std::int64_t length) {
  return invalid_argument_error("a length is not negative, and this one is " + std::to_string(length));
}

}  // namespace sluice::lib
