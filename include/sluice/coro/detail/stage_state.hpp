// SPDX-License-Identifier: Apache-2.0
// What a position knows of a stage: its saved values, where its inputs stand, and which record is its own.
//
// The promise adds the coroutine's parameters while the coroutine is made; their addresses do not change after that. A
// position is taken and restored by the stream above (stream_base), through the stage.
// Requires: for take(), restore() and copy_saved_to(): the inputs are at rest.
// Cost:   of take(): some hundred nanoseconds, in proportion to the saved values; elements are never written.
// Thread: the stage's.
// State:  a record is [site, version, ordinal, elements to be passed over, saved values]; the inputs' records follow it. Of
//         several inputs each one's records are a position of their own, within the saved values.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "sluice/coro/detail/engine_access.hpp"
#include "sluice/coro/detail/input_list.hpp"
#include "sluice/coro/detail/saved_base.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {

class position_records;
struct position_record;

/// Which record of a position is a stage's. `separate_inputs`: its inputs' records are kept apart from its neighbours'.
struct stage_identity {
  std::uint32_t site = 0;
  std::uint32_t version = 0;         ///< of the saved values that are written,
  std::uint32_t version_oldest = 0;  ///< and the oldest that can be read
  bool separate_inputs = false;
  bool once_nameless = false;  ///< in older checkpoints its record may have no site
};

class stage_state {
 public:
  static constexpr int kSavedMax = 4;

  /// Adds a parameter that is a stream, holds streams or is a saved value; any other is none of a position's business.
  /// `committing`: the element stage whose resume points a saved value follows; null: of a block stage.
  template <class A> void add(A& a, element_stage* committing) {
    if constexpr (std::is_base_of_v<stream_base, A>) inputs_.add(detail::engine_access::of(a));
    else if constexpr (detail::holds_inputs<A>) add_all(a);
    else if constexpr (std::is_base_of_v<saved_base, A>) add_saved(a, committing);
  }

  input_list& inputs() noexcept { return inputs_; }
  const input_list& inputs() const noexcept { return inputs_; }
  int saved_count() const noexcept { return saved_count_; }
  /// Are there one input at most, and one saved value?
  bool is_simple() const noexcept { return inputs_.size() <= 1 && saved_count_ == 1; }
  /// Returns true if the stage has one input and no saved values: then its position is that of the input.
  bool is_its_input() const noexcept { return input_owner_ ? saved_count_ == 1 : inputs_.size() == 1 && !saved_count_; }
  /// Could an input, or what a saved value reads from, have to wait?
  bool may_wait() const;
  /// The input that a saved value owns and asks; null: there is none.
  const stream_base* owned_input() const { return input_owner_ ? input_owner_->input_stream() : nullptr; }

  const stage_identity& identity() const noexcept { return identity_; }
  /// Once: the first to say so is right.
  void set_identity(const stage_identity& i) {
    if (!identity_.site && !nameless_) identity_ = i;
  }
  void stay_nameless() { nameless_ = true; }

  /// The saved values as they are now are those of the resume point.
  void cut_saved() {
    for (int i = 0; i < saved_count_; ++i) saved_[i]->cut();
  }
  bool keeps_resume_point() const;

  /// Returns a mark for the stage after `made` elements: a resume makes elements from `made - residual` on and passes over
  /// `residual`. `at_resume_point`: with the saved values and inputs' ordinals of the last cut; otherwise with those of now.
  mark take(std::uint64_t made, std::uint64_t residual, bool at_resume_point);
  /// Where the input stands, as a mark after `made` elements. REQUIRES: is_its_input().
  mark take_input(std::uint64_t made);
  /// `own`: the stage's record; null where there is none. Returns the ordinal from which the restored stage makes elements.
  /// Damage, and a version that cannot be read, are told to `from`. `label`: the stage's, for that.
  std::uint64_t restore(const position_record* own, position_records& from, std::string_view label);
  /// Writes the saved values of the resume point into those of `fresh`.
  void copy_saved_to(stage_state& fresh) const;

 private:
  template <class A> void add_all(A& a) {
    inputs_together_ = true;
    if constexpr (detail::is_stream_vector<A>) {
      for (auto& in : a) inputs_.add(detail::engine_access::of(in));
    } else {
      a.each_input([this](stream_base& in) { inputs_.add(in); });
    }
  }
  void add_saved(saved_base& s, element_stage* committing) {
    s.owner_ = committing;
    saved_[saved_count_++] = &s;
    if (s.owns_input()) input_owner_ = &s;
  }
  /// Each input's records are a position of their own, inside of this stage's record.
  bool inputs_are_apart() const {
    return inputs_.size() > 1 || inputs_together_ || (!inputs_.empty() && identity_.separate_inputs);
  }
  void load_own(const position_record& own, position_records& from, std::string_view label);

  input_list inputs_;
  saved_base* saved_[kSavedMax] = {};
  std::uint8_t saved_count_ = 0;
  bool inputs_together_ = false;  // one parameter holds them, any number
  bool nameless_ = false;
  saved_base* input_owner_ = nullptr;  // the saved value that owns the input
  stage_identity identity_;
};

}  // namespace sluice::lib
