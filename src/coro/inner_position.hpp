// SPDX-License-Identifier: Apache-2.0
// The positions of streams that a stage opens during the run (inner plans, a repeated input). They are part of the saved
// values of that stage, because such a stream is not a parameter of the stage's coroutine.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// Writes the position of `in`; or, if the stream is not open yet (empty), the position `restored` that it is to be
/// opened with.
/// REQUIRES: `in` is at rest.
void save_inner(position_writer& w, erased_stream& in, const std::string& restored);

/// The choices of streams that a stage has opened since a mark, or is going to open again. The stage numbers them, and
/// builds the same stream for the same number in any run.
///
///   const std::string from = openings.position_of(number, std::move(restored));
///   …                                                          // opens `in` at this position
///   openings.opened(number, in, !from.empty());
///
/// Without it a mark from before the opening would open the stream at its start, and it would choose again.
/// State:  the positions at which such streams were opened, with all choices since. Nothing of streams without logs.
/// Cost:   of each opened stream: its position. Kept, if it has logs, as long as marks from before are.
class inner_openings {
 public:
  /// The position at which to open the stream `number`: where it was opened behind the mark that this run began with, if it
  /// was; else `restored`.
  std::string position_of(std::uint64_t number, std::string restored = {});
  /// Was the stream `number` opened behind that mark?
  bool has_position_of(std::uint64_t number) const { return restored_.contains(number); }
  /// `in` was opened, at a position (`resumed`) or at its start. REQUIRES: nothing was requested of it.
  void opened(std::uint64_t number, erased_stream& in, bool resumed);
  /// From here on streams are not opened yet.
  opening_log::place here() const { return log_.here(); }

  /// Streams from `from` on are behind the mark.
  void save(position_writer& w, opening_log::place from) const;
  void load(position_reader& r);

 private:
  opening_log log_;
  std::map<std::uint64_t, std::string> restored_;  ///< until these streams are opened again
};

}  // namespace sluice::lib
