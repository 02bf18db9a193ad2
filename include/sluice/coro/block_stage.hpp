// SPDX-License-Identifier: Apache-2.0
// A stage that yields blocks: the engine's own operators. Their coroutines return erased_stream (erased_stream.hpp), and reach
// what is here through their outlet (outlet.hpp).
//
// Resume point: each co_yield, where its saved values account for all that was yielded. A request for input is none, since
//   output may be in the making.
// Errors: before an error of the input ends the stage, the output that the coroutine has given to outlet::hold() is delivered.
// Cost: of a request that passes over nothing: resuming the coroutine.
// Thread: as stage_base.
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

  /// Takes what is to be passed over off handed_. Returns true if something is left.
  bool pass_yielded();
  bool must_yield() const { return unusual_ & kErrorsAhead; }
  /// The stream has ended, and may begin again. Returns whom to resume.
  std::coroutine_handle<> rest(std::uint64_t* count) noexcept {
    end();
    rests_at_end_ = true;
    rest_count_ = count;
    return leave(this);
  }
  /// Called when the whole yielded block was passed over: looks at the clock if that is due, and sends up pending errors.
  std::coroutine_handle<> passed_all(std::coroutine_handle<> me);

  mark snapshot(std::uint64_t made) override;
  bool follows_input() const override { return one_to_one_ && state_.is_its_input(); }
  bool has_output() const override { return !held_.empty(); }
  std::coroutine_handle<> flush() noexcept override;

  bool one_to_one_ = false;
  block held_{};  // made and not yielded: would be lost if an error passed through now
};

}  // namespace sluice::lib
