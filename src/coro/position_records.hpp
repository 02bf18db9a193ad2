// SPDX-License-Identifier: Apache-2.0
// Reading a position: the records of one chain, found by site.
//
//   position_records records(bytes);
//   stream.restore(records);                  // every stage takes its own
//   status fits = records.finish();           // nothing is left that held state
//
// Damage does not throw: the first complaint is kept, and finish() tells it.
// Cost: each lookup scans the records not yet taken; stages ask in the order of the records, so the first is the one.
// Owns: the bytes, which the records view.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {

/// What a position holds of one stage.
struct position_record {
  std::uint32_t site = 0;
  std::uint32_t version = 0;
  std::uint64_t ordinal = 0;    ///< of the stage's next element
  std::uint64_t to_pass = 0;    ///< elements to be made again before that one; at most `ordinal`
  std::string_view saved = {};  ///< the stage's saved values
};

class position_records {
 public:
  /// A chain has at most kPlanDepthMax (plan/node.hpp) stages, each of a few coroutines. A forged position has any number,
  /// and each takes more memory than bytes, and time at each lookup.
  static constexpr std::size_t kRecordsMax = 1 << 16;

  explicit position_records(std::string bytes);
  position_records(const position_records&) = delete;

  /// The first record of this site that was not taken yet; null where there is none. Takes it.
  const position_record* take(std::uint32_t site);
  void refuse(status why) {
    if (why_.ok()) why_ = std::move(why);
  }
  void damaged();
  /// Ok: every record was taken, or is of a stage that is gone and held nothing.
  status finish() const;

 private:
  struct entry {
    position_record record;
    bool taken = false;
  };
  std::string bytes_;
  std::vector<entry> entries_;
  std::size_t first_ = 0;  ///< entries before it are taken
  status why_;
};

}  // namespace sluice::lib
