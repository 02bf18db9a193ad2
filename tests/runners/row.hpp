// SPDX-License-Identifier: Apache-2.0
// The rows of tests/verbs and of tests/golden/tfdata: a plan, what is checked of it, and the expected value. tests/verbs/README.md
// describes the columns. A runner is one function over a row; every_row() calls it for each row and fails the test with the
// row's place, its plan, both values, and a command that repeats the row.
//
//   TEST_CASE("rows hold on two workers") {
//     runtime two({.workers = 2});
//     every_row([&](const row& r) {
//       return difference(r, plan_of(r), [&](const node_ptr& plan) { return run_on(two, plan, {.elements_max = most_of(r)}); });
//     });
//   }
//
// Thread: that of the test.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sluice/plan/node.hpp"

namespace sluice::lib::test {

enum class row_check {
  elements,
  error,
  dropped,
  cardinality,
  type,
  spec,
  printed,
  json,
  same,
  fits,
  differs,
  like,
  other,
  refused
};

struct row {
  std::string file;
  std::size_t line = 0;
  std::string plan;  ///< as text, or as JSON if it begins with `{`
  row_check what = row_check::elements;
  std::string expected;
  /// Of `elements` and `error`: the expected elements, each as JSON, and then "end", "..." if more follow, or the error.
  std::vector<std::string> elements{};
  std::string end{};
  std::size_t budget_bytes = 0;  ///< of the run's memory; 0: the machine's
  bool from_tensorflow =
      false;  ///< elements are compared as JSON values, because TensorFlow's numbers were printed by Python

  std::string place() const { return file + ":" + std::to_string(line); }
  /// Returns true if the plan is refused, so that no runner can run it.
  bool is_refused() const { return what == row_check::refused; }
  /// Returns true if the expected value says what a run of the plan gives.
  bool is_of_a_run() const { return what == row_check::elements || what == row_check::error; }
};

/// Returns false if SLUICE_TEST_ROWS names some rows, which need not have all that a runner requires of the rows together.
bool runs_all_rows();

/// Reads all tables. Errors: throws std::runtime_error, with file and line, if a row is not well formed.
const std::vector<row>& rows();

/// Calls `runner` for each row without a memory budget; for one row in ten under SLUICE_TEST_BUDGET=small; for the rows whose place begins with
/// SLUICE_TEST_ROWS if that is set. `runner` returns what the row gave instead of its expected value, or an empty text.
/// A call that throws fails its row.
void every_row(const std::function<std::string(const row&)>& runner);
/// The same for the rows with a memory budget.
void every_row_with_a_budget(const std::function<std::string(const row&)>& runner);

/// Returns true if `text` is `pattern`, in which each "…" stands for any characters.
bool matches(const std::string& text, const std::string& pattern);

/// The JSON texts in a list: `[1,[2,3]]` has `1` and `[2,3]`.
std::vector<std::string> items_of(const std::string& list);

}  // namespace sluice::lib::test
