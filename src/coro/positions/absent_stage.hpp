// SPDX-License-Identifier: Apache-2.0
// absent_stage: the record of a stage that the plan as written has, and the running tree has not, because a rewrite has
// removed it.
//
// The stage upstream of the absent one yields the same elements, after those that the absent one leaves out at the start
// (skip). Positions contain the record of the absent stage as if it existed, so a run of the plan as written can resume
// from them, and the reverse:
//   chain:     [absent] [stage upstream] …         take: its input belongs to the same chain
//   contained: [absent: … position of its input]   repeat: its input is a chain of its own
//
// One object belongs to one stream. The stage upstream owns it (stage_base::add_absent).
// Thread: the stage's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/coro/detail/stage_state.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {

class absent_stage {
 public:
  /// `contains_input`: the position of the input is a part of the saved values. `left_out`: the number of elements of the
  /// input that the stage leaves out at the start.
  explicit absent_stage(bool contains_input, std::uint64_t left_out = 0)
      : contains_input_(contains_input), left_out_(left_out) {}
  virtual ~absent_stage();
  absent_stage(const absent_stage&) = delete;

  void set_identity(const stage_identity& i) { identity_ = i; }
  const stage_identity& known_as() const { return identity_; }
  bool contains_input() const { return contains_input_; }
  std::uint64_t left_out() const { return left_out_; }

  /// Writes the saved values of the stage after its input has made `made` elements. `input`: the position of its input
  /// there, to be written by a stage that contains it.
  virtual void save(position_writer& w, std::uint64_t made, std::shared_ptr<const position_writer> input) = 0;
  /// Reads saved values, after `made` elements. A stage that contains its input returns the position of the input in
  /// `input`; empty: the start.
  virtual void load(position_reader& r, std::uint64_t made, std::string& input) = 0;
  /// Returns true if the loaded values say that the stage has ended without asking its input.
  virtual bool has_ended() const { return false; }

 private:
  const bool contains_input_;
  const std::uint64_t left_out_;
  stage_identity identity_;
};

/// The absent stages downstream of a stage, the most upstream first.
class absent_stages {
 public:
  std::vector<std::unique_ptr<absent_stage>> all;
};

}  // namespace sluice::lib
