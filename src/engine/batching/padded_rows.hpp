// SPDX-License-Identifier: Apache-2.0
// Rows that become a padded batch, for padded_batch and bucket_by_sequence_length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "element/tensors/padding.hpp"
#include "engine/batching/row_batches.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/engine/pad_value.hpp"
#include "sluice/plan/member_map.hpp"

namespace sluice::lib {

template <> const codec& codec_of<pad_value>();

/// Returns the padded members of such rows, with their arguments. If an argument does not fit, `why` has the reason.
std::vector<padded_member> padded_members(const element_type& row, const member_map<std::vector<std::int64_t>>& shapes,
                                          const member_map<pad_value>& values, std::string& why);

/// Builds the batch of all `rows`, which are consumed. The batch is charged to `memory`; `made_bytes` grows by its
/// size. For a moment rows and batch are both charged. Errors: resource_exhausted and others; `which` is the number of
/// the row.
status make_padded_batch(const std::vector<padded_member>& members, slab& rows, held_memory& memory,
                         batch_storage& made, std::size_t& made_bytes, std::size_t& which);

/// Builds batches whose lists and tensors are padded according to `members`.
class padded_batch_maker final : public rows_maker {
 public:
  padded_batch_maker(const element_type& row, std::vector<padded_member> members)
      : fit_(members.empty() ? row_fit::stacked(row) : row_fit::padded(members)), members_(std::move(members)) {}
  status make(slab& rows, held_memory& memory, void* to, std::size_t& made_bytes, std::size_t& which) override;
  bool may_refuse() const override { return fit_.may_refuse(); }
  status check(const void* first, const void* row) const override { return fit_.check(first, row); }

 private:
  const row_fit fit_;
  const std::vector<padded_member> members_;
};

}  // namespace sluice::lib
