// SPDX-License-Identifier: Apache-2.0
// What every operator has to do, whatever it computes: one suite for all of them.
//
//   TEST_CASE("map conforms") { conforms({.stage = …, .expected = …}); }
//
// Over inputs of 0, 1, 2, 23 and 200 elements, which come in long blocks, from a user's coroutine, one by one with
// waits, and out of a channel: a run by next() and by blocks gives what a plain loop gives; goes on from the position
// of every element; passes over any number; gives what stands before an error of the input,
// and then the error; and says `cancelled`, not the end, when it is stopped.
#pragma once

#include <functional>
#include <string>

#include "support/consumption.hpp"

namespace sluice::lib::test {

struct conformance {
  std::function<dataset<std::int64_t>(const dataset<std::int64_t>&)> stage;
  std::function<int64s(const int64s&)> expected;
  /// What has to come before an error that follows these inputs; empty: not looked at.
  std::function<int64s(const int64s&)> before_error = {};
  bool ordered = true;
};

/// Fails the running test case where the stage does not conform.
void conforms(const conformance& c);

/// The plan prints as `text`, and what is read from text and from JSON is the same plan.
void round_trips(const node& plan, const std::string& text);

// What take(n) and skip(n) give.
inline int64s first_of(int64s in, std::size_t n) {
  in.resize(std::min(n, in.size()));
  return in;
}
inline int64s without_first(const int64s& in, std::size_t n) {
  return int64s(in.begin() + static_cast<std::ptrdiff_t>(std::min(n, in.size())), in.end());
}

}  // namespace sluice::lib::test
