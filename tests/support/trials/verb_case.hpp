// SPDX-License-Identifier: Apache-2.0
// One description of each verb, in tests/verbs/NAME_case.cpp. The suites that test every verb use it.
//
//   const register_verb enumerate_case("enumerate", {
//       .build = [](const verb_plan& p) { return p.in[0] | enumerate({.start = p.a}) | map(number_of_pair); },
//       .expected = [](const verb_lists& l) {
//         int64s out;
//         for (std::int64_t x : l.in()) out.push_back(number_of(added(l.a, static_cast<std::int64_t>(out.size())), x));
//         return out;
//       }});
//
// The elements are 64-bit integers. If a verb yields others, `build` adds a map that makes a number of each element. A
// name begins with the operator's name. If an operator has several cases, a word follows that identifies the case: "map
// awaiting".
//
// A verb that reads files sets `files`, which makes the files of a use. `build` names their paths.
//
//   const register_verb lines_case("lines", {
//       .inputs = 0,
//       .files = [](const verb_use& u) { return test_files{.bytes = {{path_of("lines", u.a, u.b), text_file(u)}}}; },
//       .build = [](const verb_plan& p) { return lines(path_of("lines", p.a, p.b)) | map(number_in<line>); }, …
//
// These suites read the list: random plans, which put any verb upstream of, beside and inside any other
// (op/random_plans_test.cpp); conformance, positions with changed bytes, and knobs that change between save and resume
// (op/every_verb_test.cpp); costs of a resume (op/resume_cost_test.cpp). Each registered case is part of all of them.
// Thread: cases are registered before main(); the list is immutable then.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/plan/dataset.hpp"
#include "support/arithmetic.hpp"
#include "support/random/random_numbers.hpp"
#include "support/test_files.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::test {

/// One use of a verb, with the numbers that were drawn for it.
struct verb_use {
  std::int64_t a = 0;           ///< its size: a count, a buffer, a cycle; for a source, the number of elements
  std::uint64_t b = 0;          ///< 0 … 999: chooses everything else
  std::int64_t tuned = 0;       ///< the value of its knob; 0: the usual value
  std::int64_t opened_for = 0;  ///< for a source of an inner plan: the element that the plan is opened for
  /// Returns the element of a source at this index.
  std::int64_t element(std::int64_t index) const { return source_element(index, opened_for); }
  std::int64_t knob_or(std::int64_t usual) const { return tuned ? tuned : usual; }
};

/// A use from which `build` makes a plan.
struct verb_plan : verb_use {
  std::vector<dataset<std::int64_t>> in;
  /// The inner plans: each function returns the plan for an element.
  std::vector<std::function<dataset<std::int64_t>(std::int64_t)>> inner;
};

/// A use whose elements `expected` computes by loops over vectors.
class verb_lists : public verb_use {
 public:
  explicit verb_lists(const verb_use& use) : verb_use(use) {}
  virtual std::size_t inputs() const = 0;
  /// Returns the elements of an input.
  virtual int64s in(std::size_t k = 0) const = 0;
  /// Returns the elements of the first input in this epoch, for verbs that repeat their input.
  virtual int64s epoch(std::uint64_t number) const = 0;
  /// Returns its elements as if no repeat were around it, for verbs that keep those of the first epoch. `is_beside_others`:
  /// the verb reads its input through a combine.
  virtual int64s first_epoch(bool is_beside_others = false) const = 0;
  /// Returns the elements of the plan opened for `element`, the `ordinal`-th of the input.
  virtual int64s inner(std::int64_t element, std::uint64_t ordinal, std::size_t k = 0) const = 0;
  /// Returns the key by which a stage of this seed draws: in this epoch, or alike in all epochs.
  virtual std::uint64_t drawn_by(std::uint64_t seed) const = 0;
  virtual std::uint64_t drawn_by_in_all_epochs(std::uint64_t seed) const = 0;
  /// Abandons the plan if it has too many elements to be tested. Loops that may run for long call it.
  virtual void check_size(std::size_t elements) const = 0;

 protected:
  ~verb_lists() = default;
};

/// The number of input elements that a resume may make again, besides one mark interval for each stage.
struct resume_goal {
  std::int64_t a = 5;      ///< the tested use
  std::uint64_t b = 1;     //
  std::uint64_t held = 0;  ///< consumed elements that the stage still needs
  std::uint64_t takes =
      1;  ///< inputs, made or skipped, for one output, rounded up. 0: not tested: it ends, or replays from its start
};

/// Returns the elements of most sources of `a` elements.
int64s source_elements(const verb_lists& l);
/// 1 … 6
std::int64_t some_size(random_numbers& random);
/// 0 … 40: the length of a source of files
std::int64_t some_length(random_numbers& random);

struct verb_case {
  int inputs = 1;                 ///< 0: a source. 2: two or three inputs
  int inner = 0;                  ///< the number of plans that it opens for each element of its input
  bool ordered = true;            ///< false: the order of its elements depends on timing
  bool any_order = false;         ///< inputs in another order yield the same elements in another order
  bool meets_errors = false;      ///< some of its elements are bad; plans with it run under error_policy::skip
  bool has_knob = false;          ///< `tuned` sets it
  bool only_works_ahead = false;  ///< excluded from plans in which nothing works ahead
  /// Before an error of the input come the expected() elements of the inputs before it.
  bool passes_errors = false;
  /// For other verbs: returns the elements before an error that follows these inputs. Null: not checked.
  int64s (*before_error)(const verb_lists& l) = nullptr;
  /// Draws `a`. For a source, `a` is its length.
  std::int64_t (*size)(random_numbers& random) = some_size;
  /// Returns the files that the plan of a use reads, for any element that it is opened for and any knobs. Null: none.
  test_files (*files)(const verb_use& use) = nullptr;
  dataset<std::int64_t> (*build)(const verb_plan& p) = nullptr;
  int64s (*expected)(const verb_lists& l) = nullptr;
  /// Returns the most inputs that the first k outputs may make. Null: not checked.
  std::size_t (*needs)(const verb_use& use, std::size_t k) = nullptr;
  resume_goal resume = {};
  std::vector<verb_use> conforms_at = {};  ///< uses that conformance tests besides a drawn one

  std::string_view name = {};  ///< set by register_verb
  /// The operator: the name's first word.
  std::string_view op() const { return name.substr(0, name.find(' ')); }
};

/// Adds a case to the list. Define it as a constant in the verb's test file. The name is a literal.
class register_verb {
 public:
  register_verb(std::string_view name, verb_case c);
};

/// All cases of this program, by their names.
const std::vector<const verb_case*>& verb_cases();
/// Returns the case of this name; throws if none exists.
const verb_case& case_named(std::string_view name);

}  // namespace sluice::lib::test
