// SPDX-License-Identifier: Apache-2.0
// Decides which rows fit into one batch, one row at a time. Used if bad elements are dropped, so that the batch
// continues without the row that does not fit. Otherwise the batch itself checks all rows at once.
#pragma once

#include <vector>

#include "element/tensors/padding.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// The verdict on a row depends on the first row of its batch and on no other. Thread: immutable.
class row_fit {
 public:
  /// For rows that are stacked unchanged: their tensors must have the first row's dtype and shape.
  static row_fit stacked(const element_type& row);
  /// For rows whose `members` are padded: none may exceed its declared length, and their tensors must have the first
  /// row's dtype and rank.
  static row_fit padded(std::vector<padded_member> members) { return {std::move(members), true}; }

  /// Returns true if a row can fail to fit.
  bool may_refuse() const { return !members_.empty(); }
  /// Checks that `row` fits into a batch that begins with `first`. Pass the first row as both arguments to check it.
  /// Errors: invalid_argument: it does not fit.
  status check(const void* first, const void* row) const;

 private:
  row_fit(std::vector<padded_member> members, bool pads) : members_(std::move(members)), pads_(pads) {}
  status check_tensor(const padded_member& m, const void* first, const void* row) const;

  std::vector<padded_member> members_;
  bool pads_;
};

}  // namespace sluice::lib
