// SPDX-License-Identifier: Apache-2.0
// The producing side of a stream: one coroutine frame, the demand it serves, the output it made.
//
// Two styles share this base. A *block stage* (built-in operators: erased_stream.hpp) yields whole views and keeps its
// place in `saved` parameters. An *element stage* (user coroutines: stream.hpp) yields one element at a time into an
// output slab and is suspended only when demand is met.
//
// The promise's constructor sees the coroutine's parameters and registers the ones that matter: streams are inputs,
// `saved<S>` is state, tags say what kind of stage it is. Operators therefore carry no line about positions.
#pragma once

#include <cstdint>

#include "sluice/coro/block_fit.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/coro/promise.hpp"
#include "sluice/element/slab.hpp"

namespace sluice {

class stream_base;
class stage_base;

/// What a consumer asks for: pass over `skip` elements without delivering them, then deliver 1..elements, of about
/// `bytes` bytes or fewer. A request always asks for one element at least; only so is the count passed over known.
struct demand {
  static constexpr std::uint32_t kBytes = 1u << 20;  // half of a core's L2: what a block may hold and stay cache-hot
  std::uint64_t skip = 0;
  std::uint32_t elements = 1;
  std::uint32_t bytes = kBytes;
};

/// Tag: every input element gives exactly one output element, so passing over outputs is passing over inputs.
struct one_to_one {
  bool holds = true;
};
/// Tag: the stage itself waits (for calls, timers, files), not only its inputs.
struct may_suspend {};
/// Tag: when the stage asks for input it remembers nothing about earlier input; it can start again from there.
struct stateless {};

/// State of a stage that a position holds. See saved.hpp.
class saved_base {
 public:
  virtual void save(position_writer& w, bool at_resume_point) = 0;
  virtual void load(position_reader& r) = 0;
  virtual void cut() = 0;  ///< the resume point is now
  virtual bool may_wait() const { return false; }

 protected:
  friend class stage_base;
  ~saved_base() = default;
  stage_base* owner_ = nullptr;
};

class stage_base : public promise_base {
 public:
  static constexpr int kInputs = 4;
  static constexpr int kSaved = 4;

  explicit stage_base(const element_type& type);

  const element_type& type() const { return out_.type(); }
  bool over() const { return over_; }
  /// Ended without an error.
  bool ended() const { return over_ && failure.ok(); }
  /// Could the next block have to wait for something outside this tree (a channel, a file, a timer)?
  bool may_wait() const;
  /// The stage's words for its errors; set once by the lowering, outlived by the plan.
  void set_label(std::string_view label) { label_ = label; }
  std::string_view label() const { return label_; }

 protected:
  ~stage_base();
  friend class stream_base;
  friend class erased_stream;
  friend class outlet;
  template <class T> friend class stream;
  template <class S> friend class saved;

  enum class kind : std::uint8_t { opaque, stateless, block };

  void add_input(stream_base& in) { inputs_[input_count_++] = &in; }
  void add_saved(saved_base& s) {
    s.owner_ = this;
    saved_[saved_count_++] = &s;
  }
  template <class... A> static constexpr void check_parameters() {
    static_assert((0 + ... + std::is_base_of_v<stream_base, A>) <= kInputs,
                  "sluice: a stage has at most 4 streams as parameters; zip or interleave them first");
    static_assert((0 + ... + std::is_base_of_v<saved_base, A>) <= kSaved,
                  "sluice: a stage has at most 4 saved<S> as parameters; put what they hold into one struct");
  }
  template <class A> void register_parameter(A& a) {
    if constexpr (std::is_base_of_v<stream_base, A>) add_input(a);
    else if constexpr (std::is_base_of_v<saved_base, A>) add_saved(a);
    else if constexpr (std::is_same_v<A, one_to_one>) one_to_one_ = a.holds;
    else if constexpr (std::is_same_v<A, may_suspend>) may_suspend_ = true;
    else if constexpr (std::is_same_v<A, stateless>) kind_ = kind::stateless;
  }

  /// The resume point of an element stage is now: its saved values, its inputs' places, its output so far.
  inline void cut();
  /// The stage itself says so (saved.hpp).
  void commit();
  /// Turns what cut() noted as pointers into ordinals, before a refill makes the pointers stale.
  void settle_cut();
  /// Writes saved values and input positions; returns how many elements were delivered since the state written.
  std::uint64_t snapshot(position_writer& w);
  void restore(position_reader& r);

  /// What is asked of the input where elements to be passed over have to be made first: enough of them at once to
  /// vectorise, cheap to over-ask.
  std::uint32_t wanted_and_passed() const {
    constexpr std::uint64_t kPassedPerBlock = 1024;
    return skip_ ? want_ + static_cast<std::uint32_t>(skip_ < kPassedPerBlock ? skip_ : kPassedPerBlock) : want_;
  }

  /// Serves {skip_, want_} by resuming; for element stages, first makes room.
  std::coroutine_handle<> serve() { return kind_ == kind::block ? self : serve_elements(); }
  std::coroutine_handle<> serve_elements();
  /// Hands over what an element stage has made.
  std::coroutine_handle<> deliver();
  void count_delivered();
  std::uint32_t made() const {
    return static_cast<std::uint32_t>((put_ - first_) / static_cast<std::ptrdiff_t>(type().size));
  }
  /// An element stage's limit is reached: deliver, or drop what is to be passed over and go on.
  std::coroutine_handle<> limit_reached(std::coroutine_handle<> me);
  std::coroutine_handle<> flush() noexcept override;
  /// From the final suspend point: what was made goes out first.
  std::coroutine_handle<> leave_stage() noexcept;
  void fail_with_current_exception() noexcept;

  // The demand being served.
  std::uint64_t skip_ = 0;
  std::uint32_t want_ = 0;
  std::uint32_t want_bytes_ = demand::kBytes;
  bool over_ = false;  // ended or failed: the frame is never resumed again
  kind kind_ = kind::opaque;
  bool one_to_one_ = false;
  bool may_suspend_ = false;
  bool started_ = false;
  bool cut_pending_ = false;    // the cut is still noted as cursors, not ordinals
  bool user_cut_ = false;       // commit() was called: the stage itself says where it can start again
  bool simple_commit_ = false;  // since the last fill it was, and there is one saved value and at most one input
  const std::atomic<std::uint32_t>* tick_;  // env's, once known

  // Output handed over and not yet taken up by the cursor above.
  block handed_{};
  block held_{};  // a block stage's output that would be lost if an error passed through now

  // An element stage's output: first_ <= put_ <= limit_ within out_.
  slab out_;
  block_fit fit_;
  char* first_ = nullptr;
  char* put_ = nullptr;
  char* limit_ = nullptr;
  char* cut_put_ = nullptr;  // put_ at the resume point, while output made since then is still here
  std::uint64_t delivered_since_cut_ = 0;
  stream_base* pending_ = nullptr;  // a fill put off until the output made so far is taken

  stream_base* inputs_[kInputs] = {};
  std::uint64_t cut_ordinal_[kInputs] = {};
  char* cut_cursor_[kInputs] = {};
  saved_base* saved_[kSaved] = {};
  std::uint8_t input_count_ = 0;
  std::uint8_t saved_count_ = 0;
  std::string_view label_;
};

}  // namespace sluice
