// SPDX-License-Identifier: Apache-2.0
// The positions of streams that a stage opens during the run (inner plans, a repeated input). They are part of the
// saved values of that stage, because such a stream is not a parameter of the stage's coroutine.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// Writes the position of `in`. If the stream is not open yet (empty), writes `restored`, the position at which it will
/// be opened.
/// REQUIRES: `in` is at rest.
void save_inner(position_writer& w, erased_stream& in, const std::string& restored);

/// Records the choices of streams that a stage has opened since a mark, or will open again. The stage numbers these
/// streams, and builds the same stream for the same number in any run.
///
///   const std::string from = openings.position_of(number, std::move(restored));
///   …                                                          // opens `in` at this position
///   openings.opened(number, in, !from.empty());
///
/// Without this object a mark from before the opening would open the stream at its start, and it would choose again.
/// State:  the positions at which such streams were opened, with all choices since then. Streams without logs add
///         nothing.
/// Cost:   the position of each opened stream. For a stream with logs it is kept as long as marks from before it exist.
class inner_openings {
 public:
  /// Returns the position at which to open the stream `number`: if the stream was opened after the mark that this run
  /// began with, the position of that opening; otherwise `restored`.
  std::string position_of(std::uint64_t number, std::string restored = {});
  /// Returns true if the stream `number` was opened after that mark.
  bool has_position_of(std::uint64_t number) const { return restored_.contains(number); }
  /// Records that `in` was opened, at a position (`resumed`) or at its start. REQUIRES: no request was made to it.
  void opened(std::uint64_t number, erased_stream& in, bool resumed);
  /// Returns the place after which streams are not opened yet.
  opening_log::place here() const { return log_.here(); }

  /// Writes the streams that were opened after the mark, from `from` on.
  void save(position_writer& w, opening_log::place from) const;
  void load(position_reader& r);

 private:
  opening_log log_;
  std::map<std::uint64_t, std::string> restored_;  ///< until these streams are opened again
};

}  // namespace sluice::lib
