// SPDX-License-Identifier: Apache-2.0
// The part of a stage that positions contain: its saved values, its inputs' positions, and the identity of its record.
//
// The promise adds the coroutine's parameters while the coroutine is made. Their addresses do not change after that.
// The stream downstream (stream_base) takes and restores positions through the stage.
// Requires: for take(), restore() and copy_saved_to(): the inputs are at rest.
// Cost:   take(): some hundred nanoseconds, in proportion to the saved values; elements are never written.
// Thread: the stage's.
// State:  a record is [site, version, ordinal, elements to skip, saved values]; the inputs' records follow it. If the
//         stage has several inputs, the records of each input are a separate position within the saved values.
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

/// Identifies the record of a stage in a position. `separate_inputs`: its inputs' records are separate from its
/// neighbors'.
struct stage_identity {
  std::uint32_t site = 0;
  std::uint32_t version = 0;         ///< of the saved values that are written
  std::uint32_t version_oldest = 0;  ///< the oldest that can be read
  bool separate_inputs = false;
  bool once_nameless = false;  ///< in older checkpoints its record may have no site
};

class stage_state {
 public:
  static constexpr int kSavedMax = 4;

  /// Adds a parameter that is a stream, contains streams or is a saved value. Ignores any other parameter.
  /// `committing`: the element stage whose resume points a saved value follows; null for a block stage.
  template <class A> void add(A& a, element_stage* committing) {
    if constexpr (std::is_base_of_v<stream_base, A>) inputs_.add(detail::engine_access::of(a));
    else if constexpr (detail::holds_inputs<A>) add_all(a);
    else if constexpr (std::is_base_of_v<saved_base, A>) add_saved(a, committing);
  }

  input_list& inputs() noexcept { return inputs_; }
  const input_list& inputs() const noexcept { return inputs_; }
  int saved_count() const noexcept { return saved_count_; }
  /// Returns true if the stage has at most one input, and exactly one saved value.
  bool is_simple() const noexcept { return inputs_.size() <= 1 && saved_count_ == 1; }
  /// Returns true if the stage has one input and no saved values of its own: its position is then that of the input.
  bool is_its_input() const noexcept { return input_owner_ ? saved_count_ == 1 : inputs_.size() == 1 && !saved_count_; }
  /// Returns true if an input, or the source that a saved value reads from, may wait.
  bool may_wait() const;
  /// The input that a saved value owns and reads; null if no saved value owns one.
  const stream_base* owned_input() const { return input_owner_ ? input_owner_->input_stream() : nullptr; }

  /// Adds what the saved value that owns the input has counted for other stages.
  void add_owner_counts() const {
    if (input_owner_) input_owner_->add_counts();
  }

  const stage_identity& identity() const noexcept { return identity_; }
  /// Sets the identity. Only the first call has an effect.
  void set_identity(const stage_identity& i) {
    if (!identity_.site && !nameless_) identity_ = i;
  }
  void stay_nameless() { nameless_ = true; }

  /// Records the current saved values as those of the resume point.
  void cut_saved() {
    for (saved_base* s = saved_; s; s = s->next_) s->cut();
  }
  bool keeps_resume_point() const;

  /// Returns a mark for the stage after `made` elements. A resume makes elements from `made - residual` on and skips
  /// `residual`. `at_resume_point`: use the saved values and the inputs' ordinals of the last cut; otherwise the
  /// current ones.
  mark take(std::uint64_t made, std::uint64_t residual, bool at_resume_point);
  /// Returns the position of the input, as a mark after `made` elements. REQUIRES: is_its_input().
  mark take_input(std::uint64_t made);
  /// Restores the stage from `own`, its record, which is null if the position has none. Returns the ordinal from which
  /// the restored stage makes elements. Reports damage, and a version that cannot be read, to `from`. `label`: the
  /// stage's label, for these errors.
  std::uint64_t restore(const position_record* own, position_records& from, std::string_view label);
  /// Copies the saved values of the resume point to `fresh`.
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
    saved_base** end = &saved_;
    while (*end) end = &(*end)->next_;
    *end = &s;
    ++saved_count_;
    if (s.owns_input()) input_owner_ = &s;
  }
  /// Returns true if each input's records are a separate position inside this stage's record.
  bool inputs_are_apart() const {
    return inputs_.size() > 1 || inputs_together_ || (!inputs_.empty() && identity_.separate_inputs);
  }
  void load_own(const position_record& own, position_records& from, std::string_view label);

  input_list inputs_;
  saved_base* saved_ = nullptr;  // the first; each has a link to the next one
  std::uint8_t saved_count_ = 0;
  bool inputs_together_ = false;  // one parameter contains them, any number
  bool nameless_ = false;
  saved_base* input_owner_ = nullptr;  // the saved value that owns the input
  stage_identity identity_;
};

}  // namespace sluice::lib
