// SPDX-License-Identifier: Apache-2.0
// A block stage's access to its own output and demand: the first parameter of its coroutine, built from the output's
// type.
//
//   erased_stream doubled_loop(outlet out, erased_stream in) {
//     for (;;) {
//       bool more = co_await in.ready({.elements = out.wanted()});
//       if (!more) break;
//       std::uint32_t n = std::min(out.wanted(), in.left());
//       in.move_to(out.room(n), n);
//       co_yield out.made(n);
//     }
//   }
//
// Callers: the coroutine, while it is running. Before that the outlet may be copied, and knows only its type.
// Cost: each call reads or writes a field of the stage, unless it states another cost.
// Thread: the stage's.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "sluice/coro/block_stage.hpp"

namespace sluice::lib {

class outlet {
 public:
  explicit outlet(const element_type& type) : type_(&type) {}

  const element_type& type() const { return *type_; }
  environment* env() const { return stage_->env; }
  /// The number of elements that the consumer wants now (at least one), and about how many bytes they should have.
  std::uint32_t wanted() const { return stage_->want_; }
  std::uint32_t wanted_bytes() const { return stage_->want_bytes_; }
  /// The number of elements wanted, but at most n.
  std::uint32_t wanted_of(std::uint64_t n) const { return n < wanted() ? static_cast<std::uint32_t>(n) : wanted(); }
  /// The number of elements to skip before the next one is delivered.
  std::uint64_t to_pass() const { return stage_->skip_; }
  /// The number of elements wanted plus the number to skip (bounded). A stage that cannot skip cheaply requests this
  /// many.
  std::uint32_t ask() const { return stage_->wanted_and_passed(); }
  /// Takes responsibility for skipping up to `most` elements. Returns how many.
  std::uint64_t pass(std::uint64_t most) {
    std::uint64_t n = most < stage_->skip_ ? most : stage_->skip_;
    stage_->skip_ -= n;
    return n;
  }
  /// Returns n elements that did not exist to the number of elements to skip.
  void unpass(std::uint64_t n) { stage_->skip_ += n; }
  /// Uninitialized room for n output elements. Destroys what the stage yielded before.
  char* room(std::size_t n) { return stage_->out_.reserve(n); }
  /// Returns a view, to be yielded, of the first n elements of the room. REQUIRES: they are built.
  block made(std::size_t n) {
    stage_->out_.set_live(0, n);
    return stage_->out_.view();
  }
  /// Registers output that is made and not yielded yet. If an error passes through the stage, this output is delivered
  /// first.
  void hold(block made) { stage_->held_ = made; }
  /// `auto dropping = out.drop(…); co_await dropping;` reports bad elements that are dropped here, after the elements
  /// that the stage has yielded. Ends the stage if too many were dropped. REQUIRES: the stage has yielded everything
  /// that it has made.
  class error_awaiter;
  error_awaiter drop(dropped_errors errors);
  error_awaiter drop(dropped_error e);
  /// Ends the stage with `why`, after the elements that it has yielded.
  error_awaiter end_with(status why);
  /// Returns true if the input has dropped elements since the stage made its output. The stage must then yield this
  /// output before it makes more. For stages that request input while they have output that is not yielded.
  bool must_yield() const { return stage_->must_yield(); }
  /// For a loop that skips many elements without a delivery or a request: `co_await out.breath()` once per block lets
  /// other coroutines run, and ends the stage after a stop.
  class breath_awaiter;
  breath_awaiter breath();
  /// `co_await out.again();` ends the stream, as returning does. If the stream's owner restarts it
  /// (stream_base::begin_again), the coroutine continues after this statement: at the start of a stream of other
  /// elements, with its inputs at their starts, and with 0 in `count`, which is a saved value of the stage.
  /// REQUIRES: the stage has no other saved values, and its behavior depends only on its elements: it draws no random
  /// numbers, opens no streams, and reads its inputs to their ends. It has released all elements that it held.
  class again_awaiter;
  again_awaiter again(std::uint64_t* count = nullptr);
  /// The counters that the stage adds to; null if it has none.
  stage_counts* counts() const { return stage_->counts(); }
  /// The stage's slab, for kernels that append to it.
  slab& storage() { return stage_->out_; }

 private:
  friend struct block_promise;
  const element_type* type_;
  block_stage* stage_ = nullptr;
};

class [[nodiscard]] outlet::error_awaiter {
 public:
  error_awaiter(block_stage& s, dropped_errors errors, status fatal)
      : stage_(s), errors_(std::move(errors)), fatal_(std::move(fatal)) {}
  bool await_ready() const noexcept { return errors_.empty() && fatal_.ok(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> me);
  void await_resume() const noexcept {}

 private:
  block_stage& stage_;
  dropped_errors errors_;
  status fatal_;
};

class [[nodiscard]] outlet::breath_awaiter {
 public:
  explicit breath_awaiter(block_stage& s) noexcept : stage_(s) {}
  bool await_ready() const noexcept { return !stage_.turn_.step(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> me) const noexcept { return stage_.look_around(me); }
  void await_resume() const noexcept {}

 private:
  block_stage& stage_;
};
class [[nodiscard]] outlet::again_awaiter {
 public:
  again_awaiter(block_stage& s, std::uint64_t* count) noexcept : stage_(s), count_(count) {}
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept { return stage_.rest(count_); }
  void await_resume() const noexcept {}

 private:
  block_stage& stage_;
  std::uint64_t* count_;
};
inline outlet::again_awaiter outlet::again(std::uint64_t* count) { return {*stage_, count}; }

inline outlet::breath_awaiter outlet::breath() { return breath_awaiter(*stage_); }

}  // namespace sluice::lib
