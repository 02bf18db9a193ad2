// SPDX-License-Identifier: Apache-2.0
// Random plans over 64-bit integers: a description that both the engine and plain loops can carry out, of whatever verbs
// there are cases of (support/verb_case.hpp).
//
//   random_numbers random(seed);
//   plan_ptr p = random_plan(random, {.depth = 6});
//   dataset<std::int64_t> ds = build(*p);                  // what the engine runs
//   std::vector<std::int64_t> expected = evaluate(*p);     // what it has to give (support/sequential.hpp)
//
// Thread: descriptions are immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/trials/verb_case.hpp"

namespace sluice::lib::test {

struct plan_description;
using plan_ptr = std::shared_ptr<const plan_description>;

struct plan_description {
  const verb_case* op = nullptr;  ///< null: a source of the elements `given`
  verb_use use = {};              ///< but for `opened_for`, which is known when the plan is carried out
  std::vector<plan_ptr> in = {};
  std::vector<plan_ptr> inner = {};  ///< what is opened for each element
  int64s given = {};
};

/// "range(7,0) | filter(1,3) | …"
std::string describe(const plan_description& p);
/// Does the order of its elements depend on timing?
bool is_sloppy(const plan_description& p);
/// All files that it reads; null: none.
std::shared_ptr<const test_files> files_of(const plan_description& p);
/// Are some of its elements bad?
bool meets_bad_elements(const plan_description& p);

struct random_plan_options {
  int depth = 6;  ///< stages above the source, at most
  /// A stage in the middle whose order is a matter of timing, and only stages above it that do not mind the order.
  bool sloppy = false;
  bool inside = false;  ///< with sloppy: that stage is in a plan that a stage opens for its elements
};
plan_ptr random_plan(random_numbers& random, random_plan_options o);

/// The case above plans, which are its inputs; inner plans are sources.
plan_ptr above(const verb_case& c, verb_use use, std::vector<plan_ptr> in);

/// The same plan with other knobs: parallelism from and to one, sizes of buffers.
plan_ptr retuned(const plan_description& p, random_numbers& random);

/// The same plan with nothing that works ahead: parallelism 1, no prefetch.
plan_ptr without_channels(const plan_description& p);

/// The plan that the engine runs. `opened_for`: the outer element that an inner plan was opened for.
dataset<std::int64_t> build(const plan_description& p, std::int64_t opened_for = 0);

}  // namespace sluice::lib::test
