// SPDX-License-Identifier: Apache-2.0
// A stage that yields blocks: the engine's own operators. Their coroutines return erased_stream (erased_stream.hpp) and
// use this class through their outlet (outlet.hpp).
//
// Resume point: each co_yield, when the saved values include everything that was yielded. A request for input is not a
//   resume point, since the stage may be making output.
// Errors: before an error of the input ends the stage, the output registered by outlet::hold() is delivered.
// Cost:   a request that skips nothing costs one resumption of the coroutine.
// Thread: the same as for stage_base.
#pragma once

#include "sluice/coro/stage.hpp"

namespace sluice::lib {

class block_stage : public stage_base {
 protected:
  explicit block_stage(const element_type& type) : stage_base(type, yields::blocks) {}
  ~block_stage() = default;
  friend class outlet;
  friend class stream_base;

  template <class A> void register_parameter(A& a) {
    if constexpr (std::is_same_v<A, one_to_one>) one_to_one_ = a.holds;
    else stage_base::register_parameter(a, nullptr);
  }

  /// Removes the elements to be skipped from handed_. Returns true if elements are left.
  bool pass_yielded();
  bool must_yield() const { return unusual_ & kErrorsAhead; }
  /// Ends the stream, which may begin again. Returns the coroutine to resume.
  std::coroutine_handle<> rest(std::uint64_t* count) noexcept {
    end();
    rests_at_end_ = true;
    rest_count_ = count;
    return leave(this);
  }
  /// Called when the whole yielded block was skipped: looks at the clock if that is due, and sends pending errors
  /// downstream.
  std::coroutine_handle<> passed_all(std::coroutine_handle<> me);

  mark snapshot(std::uint64_t made) override;
  bool follows_input() const override { return one_to_one_ && state_.is_its_input(); }
  bool has_output() const override { return !held_.empty(); }
  std::coroutine_handle<> flush() noexcept override;

  bool one_to_one_ = false;
  block held_{};  // made and not yielded; would be lost if an error passed through now
};

}  // namespace sluice::lib
