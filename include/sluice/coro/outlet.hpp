// SPDX-License-Identifier: Apache-2.0
// A block stage's way to its own output and demand: the first parameter of its coroutine, made from the output's type.
//
//   erased_stream doubled_loop(outlet out, erased_stream in) {
//     while (co_await in.ready({.elements = out.wanted()})) {
//       std::uint32_t n = std::min(out.wanted(), in.left());
//       in.move_to(out.room(n), n);
//       co_yield out.made(n);
//     }
//   }
//
// Who calls: the coroutine, while it is running. Before that it may be copied, and knows its type and nothing else.
// Cost: each call reads or writes a field of the stage, except where it says more.
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
  /// How many elements the consumer wants now (at least one), and of about how many bytes.
  std::uint32_t wanted() const { return stage_->want_; }
  std::uint32_t wanted_bytes() const { return stage_->want_bytes_; }
  /// The same, but at most n.
  std::uint32_t wanted_of(std::uint64_t n) const { return n < wanted() ? static_cast<std::uint32_t>(n) : wanted(); }
  /// How many elements are to be passed over first.
  std::uint64_t to_pass() const { return stage_->skip_; }
  /// Wanted plus what is to be passed over (bounded): what a stage that cannot pass over cheaply asks for.
  std::uint32_t ask() const { return stage_->wanted_and_passed(); }
  /// Takes over up to `most` of the elements to be passed over.
  std::uint64_t pass(std::uint64_t most) {
    std::uint64_t n = most < stage_->skip_ ? most : stage_->skip_;
    stage_->skip_ -= n;
    return n;
  }
  /// Gives back what did not exist.
  void unpass(std::uint64_t n) { stage_->skip_ += n; }
  /// Uninitialised room for n output elements. What the stage yielded before is destroyed.
  char* room(std::size_t n) { return stage_->out_.reserve(n); }
  /// The first n elements of the room are built: a view of them, to be yielded.
  block made(std::size_t n) {
    stage_->out_.set_live(0, n);
    return stage_->out_.view();
  }
  /// These were made and not yielded yet: should an error pass through, they go out first.
  void hold(block made) { stage_->held_ = made; }
  /// `auto dropping = out.drop(…); co_await dropping;` tells the run of bad elements that are dropped here, behind what the
  /// stage has yielded: all it has made must be yielded by then. Ends the stage where there were too many.
  class error_awaiter;
  error_awaiter drop(dropped_errors errors);
  error_awaiter drop(dropped_error e);
  /// Ends the stage with `why`, in the same way.
  error_awaiter end_with(status why);
  /// Returns true if the input has dropped elements since the stage made its output: that has to be yielded before more is
  /// made. For stages that request input while they have output that is not yielded.
  bool must_yield() const { return stage_->must_yield(); }
  /// For a loop that passes over much without handing over or asking for anything: `co_await out.breath()` once per
  /// block lets others have their turn, and ends the stage after a stop.
  class breath_awaiter;
  breath_awaiter breath();
  /// `co_await out.again();` ends the stream, as returning does. If its owner has it begin again (stream_base::begin_again), the
  /// coroutine goes on behind this: at the start of a stream of other elements, its inputs at theirs, and `count`, which
  /// is a saved value of the stage, 0.
  /// REQUIRES: the stage has no other saved values, and what it does depends on its elements alone: it draws nothing, opens no
  ///           streams of its own, and asks its inputs to their ends. What it holds it has given back.
  class again_awaiter;
  again_awaiter again(std::uint64_t* count = nullptr);
  /// Where the stage counts what it does; null: nowhere.
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
