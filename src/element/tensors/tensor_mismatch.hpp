// SPDX-License-Identifier: Apache-2.0
// Tensors of different specs in one column. Thrown where the rows are measured, caught by the columns above, which know
// the member; the column that was asked makes a status of it.
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

/// f(), and its mismatch as a status that is thrown.
template <class F> auto with_words_for_mismatch(F f) {
  try {
    return f();
  } catch (const tensor_mismatch& m) { throw_status(m.why()); }
}

}  // namespace sluice::lib::detail
