// SPDX-License-Identifier: Apache-2.0
// What a stage knows of each of its `saved<S>` parameters (saved.hpp), whatever S is.
//
// Who calls: the stage that has it as a parameter, through stage_state, while the streams around it are at rest; cut() while
// its coroutine is running or at a request for input.
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
  /// Writes the value; `at_resume_point`: as it was at the last cut().
  virtual void save(position_writer& w, bool at_resume_point) = 0;
  virtual void load(position_reader& r) = 0;
  virtual void cut() = 0;  ///< the resume point is now
  virtual bool may_wait() const { return false; }
  virtual bool keeps_resume_point() const { return true; }  ///< save(w, true) gives its value of the last cut()
  /// It writes nothing: the stage keeps no state, and may be without a record.
  virtual bool holds_nothing() const { return false; }

  /// For a state that owns the stage's input (the reading end of a channel does): where that input stands, and what
  /// `restore` and `consumed` of a stream do.
  virtual bool owns_input() const { return false; }
  virtual mark input_place();
  virtual void restore_input(position_records& from);
  virtual std::uint64_t input_consumed() const;
  virtual const stream_base* input_stream() const { return nullptr; }  ///< null: it is asked elsewhere

 protected:
  friend class stage_state;
  ~saved_base() = default;
  element_stage* owner_ = nullptr;  ///< null: of a block stage, whose resume point is each of its co_yields
};

}  // namespace sluice::lib
