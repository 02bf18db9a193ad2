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
#include <memory>
#include <string_view>
#include <utility>

#include "sluice/coro/block_fit.hpp"
#include "sluice/coro/dropped_errors.hpp"
#include "sluice/coro/engine_access.hpp"
#include "sluice/coro/input_list.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/coro/promise.hpp"
#include "sluice/coro/stage_counts.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

class stream_base;
class stage_base;
class position_records;
struct position_record;

/// What a consumer asks for: pass over `skip` elements without delivering them, then deliver 1..elements, of about
/// `bytes` bytes or fewer. A request always asks for one element at least; only so is the count passed over known.
struct demand {
  static constexpr std::uint32_t kBytes = 1u << 20;  // half of a core's L2: what a block may hold and stay cache-hot
  static constexpr std::uint64_t kAll = ~std::uint64_t{0} >> 2;  // more elements than a stream has, and safe to add to
  std::uint64_t skip = 0;
  std::uint32_t elements = 1;
  std::uint32_t bytes = kBytes;
};

/// The stage whose coroutine `p` is, or for which `p`, a task, is at work; null: there is none.
stage_base* stage_of(promise_base* p) noexcept;
/// `co_await this_stage()` → stage_base*: the same of the coroutine that says so, without suspending.
class this_stage;

/// How long a coroutine has worked without letting others run, by a clock that it looks at now and then: every 64 steps
/// (blocks asked for, elements passed over) where they are quick, some every 500 µs where they are not.
class turn {
 public:
  static constexpr std::uint16_t kStepsMax = 64;  ///< a look costs 25 ns
  /// Counts a step. Returns true if it is time for a look.
  bool step() { return --until_look_ == 0; }
  /// The result of a look.
  struct seen {
    time_point now;
    duration since_last_look;
    std::uint16_t steps = 0;    ///< since the last look
    bool others_first = false;  ///< this turn has been long enough: yield to the executor
  };
  /// Looks at the clock of `env`, which has one. `steps_max`: the most steps until the next look.
  seen look(const environment& env, std::uint16_t steps_max = kStepsMax);
  /// There is no clock, so do not look.
  void look_never() { until_look_ = steps_ = kStepsMax; }
  /// Has a look been asked for by step() and not taken yet?
  bool due() const { return until_look_ == 0; }

 private:
  std::uint16_t until_look_ = 1;
  std::uint16_t steps_ = 1;
  time_point looked_at_{};
  time_point began_at_{};
};

/// Tag: every input element gives exactly one output element, so passing over outputs is passing over inputs. A block stage
/// with this tag and no saved values of its own has no record in a position: it stands where its input stands. It has one
/// input: whose elements were passed over, and where it stands, would be open questions with two.
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
  virtual bool keeps_resume_point() const { return true; }  ///< save(w, true) gives its value of the last cut()
  /// It writes nothing: the stage keeps no state, and may be without a record.
  virtual bool holds_nothing() const { return false; }

  /// For a state that owns the stage's input (the reading end of a channel does): where that input stands, and what
  /// `restore` and `consumed` of a stream do.
  virtual bool owns_input() const { return false; }
  virtual mark input_place();
  virtual void restore_input(position_records& from);
  virtual std::uint64_t input_consumed() const;

 protected:
  friend class stage_base;
  ~saved_base() = default;
  stage_base* owner_ = nullptr;
};

class stage_base : public promise_base {
 public:
  static constexpr int kSaved = 4;

  explicit stage_base(const element_type& type);

  const element_type& type() const { return out_.type(); }
  bool over() const { return unusual_ & kOver; }
  /// Ended without an error.
  bool ended() const { return over() && failure.ok(); }
  /// Could the next block have to wait for something outside this tree (a channel, a file, a timer)?
  bool may_wait() const;
  /// The stage's words for its errors; set once by the lowering. They are constant, or what keep() was given has them.
  void set_label(std::string_view label) { label_ = label; }
  /// Lives as long as the coroutine: the function it belongs to. What works ahead may outlive the stream, and so the plan.
  void keep(std::shared_ptr<const void> what) { kept_ = std::move(what); }
  std::string_view label() const { return label_; }
  /// Which record of a position is this stage's: once, by the lowering; the first to say so is right (a stage that a plan
  /// lowers to its input's is its input's). `separate_inputs`: its inputs' records are kept apart from its neighbours'.
  struct identity {
    std::uint32_t site = 0;
    std::uint32_t version = 0;         ///< of the saved values that are written,
    std::uint32_t version_oldest = 0;  ///< and the oldest that can be read
    bool separate_inputs = false;
    bool once_nameless = false;  ///< in older checkpoints its record may have no site
  };
  void set_identity(const identity& i) {
    if (!identity_.site && !nameless_) identity_ = i;
  }
  const identity& known_as() const { return identity_; }
  /// The stage is never given an identity: it is one that the engine adds around another one, whose record is that one's.
  void stay_nameless() { nameless_ = true; }
  /// Where its streams count; once, as identity. They live as long as the coroutine.
  void set_counts(stage_counts& c) {
    if (!counts_) counts_ = &c;
  }
  stage_counts* counts() const { return counts_; }
  /// Its coroutine, or a task that it awaits, has waited for something outside of this tree.
  void waited(duration took) {
    if (!counts_) return;
    stage_counts::add(counts_->waits, counts_->waited_ns, took);
    others_took_ += took;
  }
  /// Where errors end their walk that come up to this stage: the root of a run, the stage below a channel's pump. The sink
  /// outlives the stage, or all requests on it.
  void set_error_sink(error_sink* s) { error_sink_ = s; }

  // For whoever lowers a user's coroutine and goes on behind its errors (op/transform.cpp).

  /// Its first input is the plan's own, so that an error can be given the number of the element it was taken with.
  void number_errors() { numbers_errors_ = true; }
  bool numbers_errors() const { return numbers_errors_; }
  /// A stage with saved values asks for one element at a time from now on, unless it commits: each is a resume point.
  void take_singly() { takes_singly_ = saved_count_ > 0; }
  /// It was its own code that threw, not an input that failed.
  bool threw() const { return threw_; }
  /// What makes its first input; null: it has none, or has moved it away.
  stage_base* input_stage() const;
  /// Ordinal of the input element taken last; kUnknown: none was, or the input has ended. Only where errors are numbered.
  std::uint64_t current_element() const;
  /// Where a new coroutine can go on for one that threw. `safe` false: nothing says what it remembers.
  struct restart {
    bool safe = false;
    std::uint64_t dropped_from = 0;  ///< this element and those up to the current one have left no trace in its state
  };
  restart after_throw();
  /// Gives up its input, to be taken by the new coroutine, and its saved values as they were at the resume point.
  stream_base& input() { return *inputs_.first().stream; }
  void copy_saved_to(stage_base& fresh) const;

 protected:
  ~stage_base();
  friend class stream_base;
  friend class erased_stream;
  friend class outlet;
  template <class T> friend class stream;
  template <class S> friend class saved;

  enum class kind : std::uint8_t { opaque, stateless, block };
  // What the next request on the stage must look at before it resumes the coroutine.
  enum : std::uint8_t {
    kOver = 1,         // ended or failed: the coroutine is never resumed again
    kErrorsAhead = 2,  // errors_ come before whatever is handed over next,
    kOneBehind = 4,    // and then one element that is made already: the last one of out_
  };

  void add_saved(saved_base& s) {
    s.owner_ = this;
    saved_[saved_count_++] = &s;
    if (s.owns_input()) input_owner_ = &s;
  }
  template <class... A> static constexpr void check_parameters() {
    static_assert(
        !(false || ... || std::is_same_v<A, one_to_one>) ||
            ((0 + ... + std::is_base_of_v<stream_base, A>) <= 1 && !(false || ... || detail::holds_inputs<A>)),
        "sluice: a stage with the tag one_to_one has one stream as a parameter: of two, each output would count "
        "as an element of either");
    static_assert((0 + ... + std::is_base_of_v<saved_base, A>) <= kSaved,
                  "sluice: a stage has at most 4 saved<S> as parameters; put what they hold into one struct");
  }
  template <class A> void register_parameter(A& a) {
    if constexpr (std::is_base_of_v<stream_base, A>) inputs_.add(detail::engine_access::of(a));
    else if constexpr (detail::holds_inputs<A>) register_inputs(a);
    else if constexpr (std::is_base_of_v<saved_base, A>) add_saved(a);
    else if constexpr (std::is_same_v<A, one_to_one>) one_to_one_ = a.holds;
    else if constexpr (std::is_same_v<A, may_suspend>) may_suspend_ = true;
    else if constexpr (std::is_same_v<A, stateless>) kind_ = kind::stateless;
  }

  template <class A> void register_inputs(A& a) {
    inputs_together_ = true;
    if constexpr (detail::is_stream_vector<A>) {
      for (auto& in : a) inputs_.add(detail::engine_access::of(in));
    } else {
      a.each_input([this](stream_base& in) { inputs_.add(in); });
    }
  }

  /// The resume point of an element stage is now: its saved values, its inputs' places, its output so far.
  inline void cut();
  /// The stage itself says so (saved.hpp).
  void commit();
  /// Turns what cut() noted as pointers into ordinals, before a refill makes the pointers stale.
  void settle_cut();
  /// Where this stage, having handed over `made` elements, and those below it stand.
  mark snapshot(std::uint64_t made);
  /// `own`: its record; null where there is none. Returns how many elements of its own it has behind it by then.
  std::uint64_t restore(const position_record* own, position_records& from);
  /// It stands where its input stands, and has no record.
  bool follows_input() const {
    return kind_ == kind::block && one_to_one_ &&
           (input_owner_ ? saved_count_ == 1 : inputs_.size() == 1 && !saved_count_);
  }

  /// What is asked of the input where elements to be passed over have to be made first: enough of them at once to
  /// vectorise, cheap to over-ask.
  std::uint32_t wanted_and_passed() const {
    constexpr std::uint64_t kPassedPerBlock = 1024;
    constexpr std::uint32_t kWantMax = ~std::uint32_t{0};
    std::uint64_t both = want_ + (skip_ < kPassedPerBlock ? skip_ : kPassedPerBlock);
    return both < kWantMax ? static_cast<std::uint32_t>(both) : kWantMax;
  }

  /// What an element stage that has made `made` asks of its input.
  std::uint32_t input_want(std::uint32_t made) const {
    return takes_singly_ && !user_cut_ ? 1 : wanted_and_passed() - made;
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

  // Errors of elements that are passed over (dropped_errors.hpp).

  /// This stage, whose coroutine `me` is running, passes over elements because of `errors`. Returns whom to resume: `me`,
  /// unless there were too many.
  std::coroutine_handle<> drop_elements(std::coroutine_handle<> me, dropped_errors& errors);
  /// Moves the error from this stage, which is running, up to whoever counts it, or to the first stage on the way whose
  /// output comes before it and is not handed over yet. All stages on the way wait for this one. Returns what the stream
  /// has to end with where there were too many.
  status send_up(dropped_error e);
  /// Has it made output since the last request that is not handed over?
  bool has_output() const { return kind_ == kind::block ? !held_.empty() : put_ != first_; }
  /// Keeps the error in errors_, behind that output.
  void keep_for_later(dropped_error e);
  /// That output has been taken, and the stage is asked again: moves errors_ up. Returns what the stage has to end with.
  status send_up_later_errors() noexcept;
  /// An element stage has made its last element behind errors_: hands over those before.
  std::coroutine_handle<> deliver_before_errors();
  /// Hands over, or passes over, the one that deliver_before_errors() left.
  std::coroutine_handle<> deliver_one_behind();

  void end() noexcept { unusual_ |= kOver; }
  /// A step of passing over elements is done, and nothing is handed over. Returns `me`; or, every 2 ms, gives way to
  /// others; or, after a stop, ends the stage.
  std::coroutine_handle<> go_on(std::coroutine_handle<> me) { return turn_.step() ? look_around(me) : me; }
  std::coroutine_handle<> look_around(std::coroutine_handle<> me);
  std::coroutine_handle<> flush() noexcept override;
  /// From the final suspend point: what was made goes out first.
  std::coroutine_handle<> leave_stage() noexcept;
  void fail_with_current_exception() noexcept;

  // The demand being served.
  std::uint64_t skip_ = 0;
  std::uint32_t want_ = 0;
  std::uint32_t want_bytes_ = demand::kBytes;
  std::uint8_t unusual_ = 0;
  kind kind_ = kind::opaque;
  bool one_to_one_ = false;
  bool may_suspend_ = false;
  bool started_ = false;
  bool cut_pending_ = false;  // the cut is still noted as cursors, not ordinals
  bool user_cut_ = false;     // commit() was called: the stage itself says where it can start again
  bool numbers_errors_ = false;
  bool takes_singly_ = false;
  bool threw_ = false;
  bool sampled_ = false;        // what is being served is timed
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

  input_list inputs_;
  std::uint64_t start_ordinal_ = 0;  // of the first input, when the coroutine began
  saved_base* saved_[kSaved] = {};
  turn turn_;  // of passing over; where elements are handed over, the consumer's stream looks at the clock
  std::uint8_t saved_count_ = 0;
  bool inputs_together_ = false;  // one parameter holds them, any number
  bool nameless_ = false;
  saved_base* input_owner_ = nullptr;  // the one of them that owns the input
  error_sink* error_sink_ = nullptr;
  std::unique_ptr<dropped_errors> errors_;  // behind what was made by then, and in front of what is made after
  stage_counts* counts_ = nullptr;
  duration others_took_{};  // while sampled_: waits, and what its inputs took
  std::string_view label_;
  std::shared_ptr<const void> kept_;
  identity identity_;

 private:
  /// Each input's records are a position of their own, inside of this stage's record.
  bool inputs_are_apart() const {
    return inputs_.size() > 1 || inputs_together_ || (!inputs_.empty() && identity_.separate_inputs);
  }
  void input_position(const stage_input& in, position_writer& w);
  void load_own(const position_record& own, position_records& from);
};

class [[nodiscard]] this_stage {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
    stage_ = stage_of(&h.promise());
    return false;
  }
  stage_base* await_resume() const noexcept { return stage_; }

 private:
  stage_base* stage_ = nullptr;
};

/// What a coroutine does while this lives is waiting for something outside of its tree.
class stage_wait {
 public:
  /// `stage`: null counts nothing.
  stage_wait(stage_base* stage, const clock& time) noexcept
      : stage_(stage), time_(time), began_(stage ? time.now() : time_point()) {}
  stage_wait(const stage_wait&) = delete;
  stage_wait& operator=(const stage_wait&) = delete;
  ~stage_wait() {
    if (stage_) stage_->waited(time_.now() - began_);
  }

 private:
  stage_base* stage_;
  const clock& time_;
  time_point began_;
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::may_suspend;
using lib::one_to_one;
using lib::stateless;

}  // namespace sluice
