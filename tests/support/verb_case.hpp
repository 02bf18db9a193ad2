// SPDX-License-Identifier: Apache-2.0
// One description of each verb, in tests/verbs/NAME_case.cpp, from which the suites that try every verb derive what they do.
//
//   const register_verb enumerate_case("enumerate", {
//       .build = [](const verb_plan& p) { return p.in[0] | enumerate({.start = p.a}) | map(number_of_pair); },
//       .expected = [](const verb_lists& l) {
//         int64s out;
//         for (std::int64_t x : l.in()) out.push_back(number_of(added(l.a, static_cast<std::int64_t>(out.size())), x));
//         return out;
//       }});
//
// The elements are 64-bit integers; a verb that gives others is described together with a map that makes one number of each.
// A name is the operator's, and, where an operator has several cases, what sets this one apart: "map awaiting".
//
// A verb that reads files says which: `files` makes them, of the same use, and `build` names their paths.
//
//   const register_verb lines_case("lines", {
//       .inputs = 0,
//       .files = [](const verb_use& u) { return test_files{.bytes = {{path_of("lines", u.a, u.b), text_file(u)}}}; },
//       .build = [](const verb_plan& p) { return lines(path_of("lines", p.a, p.b)) | map(number_in<line>); }, …
//
// Who reads the list: random plans, which put any verb above, beside and inside any other (op/random_plans_test.cpp);
// conformance, positions with changed bytes (op/every_verb_test.cpp); what a resume costs (op/resume_cost_test.cpp); knobs
// that change between save and resume (op/every_verb_test.cpp). A case joins all of them by being there.
// Thread: cases are registered before main(); the list is immutable then.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/plan/dataset.hpp"
#include "support/arithmetic.hpp"
#include "support/consumption.hpp"
#include "support/random_numbers.hpp"
#include "support/test_files.hpp"

namespace sluice::lib::test {

/// One use of a verb, with what was drawn for it.
struct verb_use {
  std::int64_t a = 0;           ///< its size: a count, a buffer, a cycle; of a source, how many elements it has
  std::uint64_t b = 0;          ///< 0 … 999: for everything else that may be chosen
  std::int64_t tuned = 0;       ///< what its knob is set to; 0: what it usually is
  std::int64_t opened_for = 0;  ///< of a source in a plan that was opened for an element: that element
  /// An element of a source, by its place.
  std::int64_t element(std::int64_t index) const { return source_element(index, opened_for); }
  std::int64_t knob_or(std::int64_t usual) const { return tuned ? tuned : usual; }
};

/// The use, to be made a plan of.
struct verb_plan : verb_use {
  std::vector<dataset<std::int64_t>> in;
  /// What a verb that opens plans opens for an element.
  std::vector<std::function<dataset<std::int64_t>(std::int64_t)>> inner;
};

/// The use, to be done by loops over vectors.
class verb_lists : public verb_use {
 public:
  explicit verb_lists(const verb_use& use) : verb_use(use) {}
  virtual std::size_t inputs() const = 0;
  /// The elements of an input.
  virtual int64s in(std::size_t k = 0) const = 0;
  /// Those of the first in the epoch of this number: of verbs that run their input again and again.
  virtual int64s epoch(std::uint64_t number) const = 0;
  /// Those of the plan opened for `element`, the `ordinal`-th of the input.
  virtual int64s inner(std::int64_t element, std::uint64_t ordinal, std::size_t k = 0) const = 0;
  /// What a stage here draws by, given its seed: in this epoch, and where all epochs draw alike.
  virtual std::uint64_t drawn_by(std::uint64_t seed) const = 0;
  virtual std::uint64_t drawn_by_in_all_epochs(std::uint64_t seed) const = 0;
  /// Gives up where there are so many elements that nobody would try the plan: asked by loops that may go on for long.
  virtual void check_size(std::size_t elements) const = 0;

 protected:
  ~verb_lists() = default;
};

/// What a resume makes again, beside one mark interval for each stage: numbers of input elements.
struct resume_goal {
  std::int64_t a = 5;      ///< the use that is tried
  std::uint64_t b = 1;     //
  std::uint64_t held = 0;  ///< what the stage still needs of what it has taken
  std::uint64_t takes =
      1;  ///< inputs for one output, rounded up. 0: not tried, since it ends, or replays from its start
};

/// What most sources of `a` elements are made to give.
int64s source_elements(const verb_lists& l);
/// 1 … 6
std::int64_t some_size(random_numbers& random);
/// 0 … 40: how long sources of files are
std::int64_t some_length(random_numbers& random);

struct verb_case {
  int inputs = 1;                 ///< 0: a source. 2: so many or one more
  int inner = 0;                  ///< plans that it opens for each element of its input
  bool ordered = true;            ///< false: the order of its elements is a matter of timing
  bool any_order = false;         ///< inputs in another order give the same elements in another order
  bool meets_errors = false;      ///< some of its elements are bad; plans with it run under error_policy::skip
  bool has_knob = false;          ///< `tuned` sets it
  bool only_works_ahead = false;  ///< left out where nothing is to work ahead
  /// What stands before an error of the input is expected() of the elements before it.
  bool passes_errors = false;
  /// The same for other verbs: what stands before an error that follows these inputs; null: not looked at.
  int64s (*before_error)(const verb_lists& l) = nullptr;
  /// How `a` is drawn; that of a source is its length.
  std::int64_t (*size)(random_numbers& random) = some_size;
  /// The files that the plan of a use reads, whatever it is opened for and its knobs are; null: none.
  test_files (*files)(const verb_use& use) = nullptr;
  dataset<std::int64_t> (*build)(const verb_plan& p) = nullptr;
  int64s (*expected)(const verb_lists& l) = nullptr;
  /// Inputs that the first k outputs need at most; null: not looked at.
  std::size_t (*needs)(const verb_use& use, std::size_t k) = nullptr;
  resume_goal resume = {};
  std::vector<verb_use> conforms_at = {};  ///< uses that the conformance suite tries besides a drawn one

  std::string_view name = {};  ///< given by register_verb
  /// The operator: the name's first word.
  std::string_view op() const { return name.substr(0, name.find(' ')); }
};

/// Adds a case to the list; a constant of the verb's test file. The name is a literal.
class register_verb {
 public:
  register_verb(std::string_view name, verb_case c);
};

/// All cases of this program, by their names.
const std::vector<const verb_case*>& verb_cases();
/// Throws where there is none.
const verb_case& case_named(std::string_view name);

}  // namespace sluice::lib::test
