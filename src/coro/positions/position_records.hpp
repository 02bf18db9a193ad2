// SPDX-License-Identifier: Apache-2.0
// Parses a position (coro/position.hpp) into its records, so that each stage of a chain can claim its record by its
// site.
//
//   position_records records(bytes);
//   stream.restore(records);                  // every stage claims its record
//   status fits = records.finish();           // ok if every record with state was claimed
//
// Errors: damage does not throw. The first error, of the parser or of a stage, is kept and returned by finish().
// Owns:   the bytes, into which the records point.
// Thread: none.
// Cost:   a lookup scans the records that are not claimed yet. Stages ask in the order of the records, so the first one
//         usually matches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {

/// The part of a position that belongs to one stage.
struct position_record {
  std::uint32_t site = 0;
  std::uint32_t version = 0;
  std::uint64_t ordinal = 0;    ///< the ordinal of the stage's next element
  std::uint64_t to_pass = 0;    ///< elements to be built again before that one; at most `ordinal`
  std::string_view saved = {};  ///< the stage's saved values
};

struct stage_identity;  // coro/detail/stage_state.hpp

/// Returns ok if a stage with this identity can read the version of the record; otherwise failed_precondition. `label`:
/// the name of the stage.
status version_mismatch(const position_record& own, const stage_identity& known, std::string_view label);

class position_records {
 public:
  /// More records than any chain has: it has at most kPlanDepthMax (plan/node.hpp) operators, each of a few stages. A
  /// forged position with more is refused, because a parsed record takes more memory than its bytes, and makes each
  /// lookup slower.
  static constexpr std::size_t kRecordsMax = 1 << 16;

  explicit position_records(std::string bytes);
  position_records(const position_records&) = delete;

  /// Claims the first unclaimed record of this site and returns it; null if none is left. Valid as long as this object.
  const position_record* take(std::uint32_t site);
  /// Reports an error. Only the first one is kept; an ok status has no effect.
  void refuse(status why) {
    if (why_.ok()) why_ = std::move(why);
  }
  /// Reports that the position is damaged or does not fit the plan: data_loss.
  void damaged();
  /// Returns the first error, or damage if a record was not claimed although it has saved values or elements to skip.
  /// (Records without either may belong to stages that another setting of the knobs has removed.)
  status finish() const;

 private:
  struct entry {
    position_record record;
    bool taken = false;
  };
  std::string bytes_;
  std::vector<entry> entries_;
  std::size_t first_ = 0;  ///< all entries before this one are claimed
  status why_;
};

}  // namespace sluice::lib
