// SPDX-License-Identifier: Apache-2.0
// Random plans over 64-bit integers: a description that both the engine and a plain loop can carry out.
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

#include "sluice/plan/dataset.hpp"

namespace sluice::lib::test {

/// What one stage of a description does. Sources first, then those of several inputs, then stages of one, then those whose
/// order is a matter of timing.
enum class verb : std::uint8_t {
  range,
  elements,
  generate,
  generate_saved,
  zip,  ///< … and fold
  concatenate,
  map,
  map_awaiting,
  map_parallel,
  map_awaiting_parallel,
  filter,
  take,
  skip,
  repeat,
  repeat_forever,  ///< … and take `a`, so that it ends
  batch_folded,
  batch_rows,
  shuffle,
  shuffle_same,  ///< the same order in every epoch
  prefetch,
  enumerate,  ///< … and fold
  flat_map,
  interleave,
  interleave_parallel,
  stage_opaque,
  stage_stateless,
  stage_saved,
  stage_committing,
  stage_stuttering,
  map_failing,  ///< these meet bad elements; a plan with one of them is run under error_policy::skip
  map_failing_parallel,
  map_failing_awaiting,
  filter_failing,
  sloppy_interleave,
  sloppy_interleave_parallel,
  sloppy_map,
  sloppy_map_awaiting,
  sloppy_map_failing,
};
inline constexpr int kSources = static_cast<int>(verb::zip);
inline constexpr int kCombines = static_cast<int>(verb::map);
inline constexpr int kDeterministic = static_cast<int>(verb::sloppy_interleave);
inline constexpr int kVerbs = static_cast<int>(verb::sloppy_map_failing) + 1;
const char* to_string(verb v);

struct plan_description;
using plan_ptr = std::shared_ptr<const plan_description>;

/// `a` is the verb's size (a count, a buffer, a cycle), `b` everything else about it.
struct plan_description {
  verb op = verb::range;
  std::int64_t a = 0;
  std::uint64_t b = 0;
  plan_ptr in = {};                   ///< of a stage of one input
  std::vector<plan_ptr> inputs = {};  ///< of one of several
  plan_ptr inner = {};                ///< what flat_map and interleave open for each element
  std::int64_t tuned = 0;             ///< what the stage's knob is set to instead of its usual value; 0: that

  std::uint32_t block_length() const { return 1 + static_cast<std::uint32_t>(b % 4); }
  std::int64_t parallelism() const { return tuned_or(1 + static_cast<std::int64_t>(b / 4 % 6)); }
  std::int64_t tuned_or(std::int64_t usual) const { return tuned ? tuned : usual; }
  std::uint64_t shuffle_seed() const { return b; }
  bool drops_remainder() const { return b % 2 == 1; }
};

/// "range(7,0) | filter(1,3) | …"
std::string describe(const plan_description& p);
/// Does the order of its elements depend on timing?
bool is_sloppy(const plan_description& p);
/// Are some of its elements bad?
bool meets_bad_elements(const plan_description& p);

/// A stream of numbers that its seed fixes on every platform.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed);
  std::uint64_t below(std::uint64_t n);

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

struct random_plan_options {
  int depth = 6;  ///< stages above the source, at most
  bool sloppy =
      false;  ///< one of the sloppy interleaves in the middle, and only stages above that do not mind the order
};
plan_ptr random_plan(random_numbers& random, random_plan_options o);

/// The same plan with other knobs: parallelism from and to one, sizes of buffers.
plan_ptr retuned(const plan_description& p, random_numbers& random);

/// The same plan with nothing that works ahead: parallelism 1, no prefetch.
plan_ptr without_channels(const plan_description& p);

/// The plan that the engine runs. `opened_for`: the outer element that an inner plan was opened for.
dataset<std::int64_t> build(const plan_description& p, std::int64_t opened_for = 0);

// What the stages compute, for both.
std::int64_t affine(std::int64_t x, std::uint64_t b);
bool is_kept(std::int64_t x, std::uint64_t b);
bool is_bad(std::int64_t x, std::uint64_t b);
std::int64_t folded_row(std::int64_t folded, std::int64_t next);
std::int64_t source_element(std::int64_t index, std::int64_t opened_for);
std::int64_t added(std::int64_t x, std::int64_t y);
std::int64_t times(std::int64_t x, std::int64_t y);

}  // namespace sluice::lib::test
