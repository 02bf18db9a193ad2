// SPDX-License-Identifier: Apache-2.0
// What every operator has to do, whatever it computes: one suite for all of them.
//
//   TEST_CASE("map conforms") { conforms({.stage = …, .expected = …}); }
//
// Over inputs of 0, 1, 2, 23 and 200 elements, which come in long blocks, from a user's coroutine, one by one with
// waits, and out of a channel: a run by next() and by blocks gives what a plain loop gives; goes on from the position
// of every element; passes over any number; ends at the ordinal that is its length; gives what stands before an error of the
// input, and then the error; says `cancelled`, not the end, when it is stopped; and has its input make no more than what is
// asked of it needs.
//
//   conforms_for_elements([](auto in) { return in | take(5); }, {.expected = …});
//
// runs the same over strings, records, move-only elements and elements that count their objects, each of which has to be
// destroyed once; and over the records of a file, which are slices of the buffers that it is read into.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "sluice/op/map.hpp"
#include "support/elements.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::test {

struct conformance {
  std::function<dataset<std::int64_t>(const dataset<std::int64_t>&)> stage = {};
  std::function<int64s(const int64s&)> expected = {};
  /// The stage over records; empty: not tried over those of a file.
  std::function<dataset<std::int64_t>(const dataset<record>&)> over_records = {};
  std::shared_ptr<const test_files> files = {};  ///< that the stage reads
  /// What has to come before an error that follows these inputs; empty: not looked at.
  std::function<int64s(const int64s&)> before_error = {};
  bool ordered = true;
  /// How many elements of these inputs the first k outputs need; empty: not looked at.
  std::function<std::size_t(const int64s& in, std::size_t k)> needs = {};
  const char* elements = "numbers";  ///< what the stage has them as, for messages
};

/// Fails the running test case where the stage does not conform.
void conforms(const conformance& c);

/// The stage over one kind of elements (support/elements.hpp), which it gives as it gets them.
template <class As, class Stage> void conforms_as(const Stage& stage, conformance c) {
  c.elements = As::kName;
  c.stage = [stage](const dataset<std::int64_t>& in) { return stage(in | map(As::made)) | map(As::number); };
  conforms(c);
}

/// For a stage that gives elements as it gets them: over numbers, and over each other kind. `stage`: a generic lambda.
template <class Stage> void conforms_for_elements(const Stage& stage, conformance c) {
  c.stage = stage;
  c.over_records = [stage](const dataset<record>& in) { return stage(in) | map(number_in<record>); };
  conforms(c);
  c.over_records = {};
  conforms_as<as_text>(stage, c);
  conforms_as<as_record>(stage, c);
  conforms_as<as_tensor>(stage, c);
  conforms_as<as_move_only>(stage, c);
  conforms_as<as_counting>(stage, c);
}

/// `stage(As(), in)` over elements of the kind As, which it makes of the numbers of `in`.
template <class As, class Stage> void conforms_over(const Stage& stage, conformance c) {
  c.elements = As::kName;
  c.stage = [stage](const dataset<std::int64_t>& in) { return stage(As(), in); };
  conforms(c);
}
/// The same over each kind of elements: for a stage that consumes them. `stage`: a generic lambda.
template <class Stage> void conforms_over_kinds(const Stage& stage, const conformance& c) {
  conforms_over<as_text>(stage, c);
  conforms_over<as_record>(stage, c);
  conforms_over<as_tensor>(stage, c);
  conforms_over<as_move_only>(stage, c);
  conforms_over<as_counting>(stage, c);
}

/// Each output needs the input of the same number: of 1:1 stages.
inline std::size_t one_each(const int64s& in, std::size_t k) { return std::min(k, in.size()); }

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
