// SPDX-License-Identifier: Apache-2.0
// Tensors of different specs in one column. It is thrown where the rows are measured, caught by the columns above,
// which know the member, and converted to a status by the outermost column.
#pragma once

#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib::detail {

struct tensor_mismatch {
  std::size_t row = 0;
  std::string member;  ///< "features.image"; empty: the rows themselves are the tensors
  std::string got, before;

  void within(const std::string& outer) { member = member.empty() ? outer : outer + "." + member; }
  status why() const {
    const std::string at = "row " + std::to_string(row) + (member.empty() ? "" : ": " + member);
    return invalid_argument_error(at + " is " + got + ", the rows before are " + before);
  }
};

/// Calls f(), and throws its mismatch as a status.
template <class F> auto with_words_for_mismatch(F f) {
  try {
    return f();
  } catch (const tensor_mismatch& m) { throw_status(m.why()); }
}

}  // namespace sluice::lib::detail
