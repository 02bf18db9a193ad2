// SPDX-License-Identifier: Apache-2.0
// Any number of input streams as one parameter of a block stage's coroutine.
//
//   erased_stream zip_loop(outlet out, input_set in) {
//     for (;;) {
//       std::uint64_t passed = out.pass(demand::kAll);
//       request_to_all asked(in, {passed, out.wanted(), out.wanted_bytes()});
//       while (erased_stream* next = asked.next()) co_await next->ready(asked.each());
//       std::uint32_t n = std::min(asked.ready(), out.wanted());
//       if (n == 0) { out.unpass(passed - asked.existed()); break; }
//       …move n elements of each input to out.room(n)…
//       co_yield out.made(n);
//     }
//   }
//
// State:  each stream of the set is an input of the stage, like a stream parameter: the stage's position contains the
//         position of each stream, in order. The number of inputs is part of the plan, so a position with another
//         number is rejected.
// Errors: an error of an input unwinds the stage, as that of a single input does.
// Thread: not safe for concurrent use; belongs to the stage.
// See:    src/ahead/any_input.hpp, to request from whichever input is ready first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

class input_set {
 public:
  /// REQUIRES: no request was made on the streams yet. Each stream keeps marks from now on, because it may have
  /// delivered a block whose elements wait for those of another stream.
  explicit input_set(std::vector<erased_stream> in);

  std::size_t size() const { return streams_.size(); }
  erased_stream& operator[](std::size_t i) { return streams_[i]; }
  auto begin() { return streams_.begin(); }
  auto end() { return streams_.end(); }

  /// Calls f with each stream. This member identifies a parameter with inputs to the stage's promise (input_list.hpp).
  template <class F> void each_input(F f) {
    for (erased_stream& s : streams_) f(s);
  }

 private:
  std::vector<erased_stream> streams_;  ///< never resized: the stage's promise has their addresses
};

/// One demand on all inputs of a set: skips `skip` elements of each, then makes at least one element of each ready.
///
/// It does not suspend by itself: the stage has a loop (example above), which requests from the inputs one after the
/// other. Once an input has ended, the result has no elements. The other inputs are then requested only as far as
/// needed to count how many of the elements to skip existed in all of them.
/// Thread: not safe for concurrent use; a local variable of the stage's coroutine, used up once next() has returned
/// null.
class request_to_all {
 public:
  request_to_all(input_set& in, const demand& d) : inputs_(in), demand_(d), existed_(d.skip) {}

  /// The next input to request from; null when no further request is needed.
  /// REQUIRES: `co_await input->ready(each())` was done on the input that the previous call returned.
  erased_stream* next();
  /// The demand for the input that next() has just returned; its bytes are an equal share of the whole demand's.
  demand each() const;

  // The result. REQUIRES for both: next() has returned null.

  /// The number of elements that every input has ready: the minimum over the inputs; 0 if an input has ended.
  std::uint32_t ready() const {
    SLUICE_REQUIRES(!asked_, "an input was requested, and next() has not returned null");
    return ended_ || inputs_.size() == 0 ? 0 : ready_;
  }
  /// The number of elements to skip that existed in every input; all of them unless an input has ended. The stage
  /// returns the others to its consumer with outlet::unpass.
  std::uint64_t existed() const { return existed_; }

 private:
  input_set& inputs_;
  demand demand_;
  std::uint64_t existed_;
  std::uint32_t ready_ = ~std::uint32_t{0};
  std::size_t at_ = 0;  ///< index of the input that next() returned last, or of the next one
  bool asked_ = false;  ///< next() has returned input at_, so the request on it is done at the next call
  bool ended_ = false;
};

}  // namespace sluice::lib
