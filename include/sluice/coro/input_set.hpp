// SPDX-License-Identifier: Apache-2.0
// The inputs of a block stage that has any number of them, as one parameter of its coroutine.
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
// The set's streams are inputs like any other: positions, marks, waits and stops know each of them, and a position holds
// each one's place, in their order. Their number is the plan's: a position is refused by a set of another size.
// To wait for whichever is ready first: ahead/any_input.hpp.
// Thread: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

class input_set {
 public:
  /// Not yet asked for anything. Each keeps marks: one may be behind another by what is left of a view.
  explicit input_set(std::vector<erased_stream> in);

  std::size_t size() const { return streams_.size(); }
  erased_stream& operator[](std::size_t i) { return streams_[i]; }
  auto begin() { return streams_.begin(); }
  auto end() { return streams_.end(); }

  /// For the stage's promise.
  template <class F> void each_input(F f) {
    for (erased_stream& s : streams_) f(s);
  }

 private:
  std::vector<erased_stream> streams_;  ///< keeps its size: the promise has their addresses
};

/// One request on all inputs of a set: pass over `skip` elements of each, then make one ready at least. The stage asks one
/// input after the other, and only those that have too few elements left. Once an input has ended, the others are asked
/// only for how far they reach, which nothing needs to know unless elements are passed over.
class request_to_all {
 public:
  request_to_all(input_set& in, const demand& d) : inputs_(in), demand_(d), existed_(d.skip) {}

  /// The next input to be asked; null: all that had to be asked have been. The one before has been asked by now.
  erased_stream* next();
  /// What it is to be asked for, with ready().
  demand each() const;

  // After next() has given null.

  /// The fewest elements that an input has ready; 0: one has ended.
  std::uint32_t ready() const { return ended_ || inputs_.size() == 0 ? 0 : ready_; }
  /// Of the elements to be passed over, those that every input had. All of them unless one has ended.
  std::uint64_t existed() const { return existed_; }

 private:
  input_set& inputs_;
  demand demand_;
  std::uint64_t existed_;
  std::uint32_t ready_ = ~std::uint32_t{0};
  std::size_t at_ = 0;
  bool asked_ = false;  ///< the input before at_ was asked
  bool ended_ = false;
};

}  // namespace sluice::lib
