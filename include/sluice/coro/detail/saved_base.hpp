// SPDX-License-Identifier: Apache-2.0
// The common interface of a stage's `saved<S>` parameters (saved.hpp), for every S.
//
// Callers: the stage that has the value as a parameter, through stage_state, while the streams around it are at rest;
//   cut() while its coroutine is running or at a request for input.
// Thread: the stage's.
#pragma once

#include <cstdint>

#include "sluice/coro/position.hpp"

namespace sluice::lib {

class element_stage;
class position_records;
class stream_base;

class saved_base {
 public:
  /// Writes the value; `at_resume_point`: the value of the last cut().
  virtual void save(position_writer& w, bool at_resume_point) = 0;
  virtual void load(position_reader& r) = 0;
  virtual void cut() = 0;  ///< sets the resume point to now
  virtual bool may_wait() const { return false; }
  virtual bool keeps_resume_point() const { return true; }  ///< save(w, true) writes the value of the last cut()
  /// Returns true if the value writes nothing: the stage keeps no state, and its record may be missing.
  virtual bool holds_nothing() const { return false; }

  /// For a state that owns the stage's input, as the reading end of a channel does: the position of that input, and the
  /// equivalents of a stream's `restore` and `consumed`.
  virtual bool owns_input() const { return false; }
  virtual mark input_place();
  virtual void restore_input(position_records& from);
  virtual std::uint64_t input_consumed() const;
  virtual const stream_base* input_stream() const { return nullptr; }  ///< null: requests are made elsewhere
  /// After a restore: the ordinal from which the stage makes elements. Called for a state that owns the input.
  virtual void begins_at(std::uint64_t) {}
  /// Adds the counts that the state collects to those of its stages. Called for a state that owns the input.
  virtual void add_counts() {}

 protected:
  friend class stage_state;
  ~saved_base() = default;
  element_stage* owner_ = nullptr;  ///< null: the owner is a block stage, whose resume points are its co_yields
  saved_base* next_ = nullptr;      ///< the next saved value of the same stage
};

}  // namespace sluice::lib
