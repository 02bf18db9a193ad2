// SPDX-License-Identifier: Apache-2.0
#include "support/random_plan.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "sluice/base/random.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/sleep.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::test {
namespace {

using int64 = std::int64_t;

constexpr std::array<const char*, kVerbs> kNames = {"range",
                                                    "elements",
                                                    "generate",
                                                    "generate_saved",
                                                    "zip",
                                                    "concatenate",
                                                    "map",
                                                    "map_awaiting",
                                                    "map_parallel",
                                                    "map_awaiting_parallel",
                                                    "filter",
                                                    "take",
                                                    "skip",
                                                    "repeat",
                                                    "repeat_forever",
                                                    "batch_folded",
                                                    "batch_rows",
                                                    "shuffle",
                                                    "shuffle_same",
                                                    "prefetch",
                                                    "enumerate",
                                                    "flat_map",
                                                    "interleave",
                                                    "interleave_parallel",
                                                    "stage_opaque",
                                                    "stage_stateless",
                                                    "stage_saved",
                                                    "stage_committing",
                                                    "stage_stuttering",
                                                    "map_failing",
                                                    "map_failing_parallel",
                                                    "map_failing_awaiting",
                                                    "filter_failing",
                                                    "sloppy_interleave",
                                                    "sloppy_interleave_parallel",
                                                    "sloppy_map",
                                                    "sloppy_map_awaiting",
                                                    "sloppy_map_failing"};

// --- Users' coroutines, one for each way to be resumed. ---

stream<int64> count_up(int64 n, int64 opened_for) {
  for (int64 i = 0; i < n; ++i) co_yield source_element(i, opened_for);
}

stream<int64> count_up_saved(saved<int64> made, int64 n, int64 opened_for) {
  while (*made < n) {
    int64 element = source_element(*made, opened_for);
    ++*made;
    co_yield element;
    made.commit();
  }
}

stream<int64> with_previous(stream<int64> in) {
  int64 previous = 7;
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield added(element, previous);
    previous = element;
  }
  co_yield previous;
}

stream<int64> expanded(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 element = *x;
    for (int64 i = 0; i < (element & 3); ++i) co_yield added(times(element, 4), i);
  }
}

struct running {
  int64 sum = 0;
  int64 count = 0;
};

stream<int64> summed(saved<running> state, stream<int64> in) {
  while (auto x = co_await in.next()) {
    state->sum = added(state->sum, *x);
    ++state->count;
    co_yield added(times(state->sum, 3), state->count);
  }
  co_yield times(state->sum, -1);
}

stream<int64> paired(saved<running> state, stream<int64> in) {
  for (;;) {
    state.commit();
    auto a = co_await in.next();
    if (!a) break;
    int64 first = *a;
    auto b = co_await in.next();
    bool complete = b != nullptr;
    int64 second = complete ? *b : -1;
    ++state->count;
    co_yield added(added(times(first, 31), second), state->count);
    if (!complete) break;
  }
}

// Commits in the middle of what it makes of one element.
stream<int64> stuttered(saved<running> state, stream<int64> in) {
  state.commit();
  while (auto x = co_await in.next()) {
    int64 element = *x;
    for (state->count = 0; state->count < (element & 1) + 1;) {
      ++state->count;
      co_yield added(element, state->count);
    }
    state.commit();
  }
}

/// Marks are due from time to time; here at the worst of times, in the middle of a stage's work.
struct marks_are_due {
  bool await_ready() const noexcept { return false; }
  template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) const noexcept {
    h.promise().env->request_marks();
    return false;
  }
  void await_resume() const noexcept {}
};

// Several ways to be late: not at all, one or two turns of the scheduler, some virtual time.
task<int64> late_affine(int64 x, std::uint64_t b) {
  std::uint64_t how = mix(static_cast<std::uint64_t>(x) ^ (b << 32));
  for (std::uint64_t turns = how % 4; turns > 1; --turns) co_await yield_now();
  if (how % 8 == 3) co_await marks_are_due();
  if (how % 16 == 5) co_await sleep_for(std::chrono::microseconds(how / 16 % 300));
  int64 result = affine(x, b);
  co_return result;
}

int64 fallible_affine(int64 x, std::uint64_t b) {
  if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
  return affine(x, b);
}
bool fallible_is_kept(int64 x, std::uint64_t b) {
  if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
  return is_kept(x, b);
}
task<int64> late_fallible_affine(int64 x, std::uint64_t b) {
  auto late = late_affine(x, b);
  int64 result = co_await late;
  if (is_bad(x, b)) co_await fail(data_loss_error("a bad element"));
  co_return result;
}

int64 folded(const batched<int64>& rows) {
  int64 all = rows.size();
  for (int64 x : rows.values()) all = added(times(all, 5), x);
  return all;
}

dataset<int64> build_source(const plan_description& p, int64 opened_for) {
  int64 n = p.a;
  switch (p.op) {
    case verb::range: {
      if (!opened_for) return range(n);
      int64 first = source_element(0, opened_for);
      return range(added(first, n), {.start = first});
    }
    case verb::elements: {
      std::vector<int64> elements;
      for (int64 i = 0; i < n; ++i) elements.push_back(source_element(i, opened_for));
      return from_elements(std::move(elements));
    }
    case verb::generate: return generate([n, opened_for] { return count_up(n, opened_for); });
    default: return generate([n, opened_for] { return count_up_saved(saved<int64>(), n, opened_for); });
  }
}

int64 folded_pair(const std::pair<int64, int64>& p) { return folded_row(p.first, p.second); }
int64 folded_three(const std::tuple<int64, int64, int64>& t) {
  return folded_row(folded_row(std::get<0>(t), std::get<1>(t)), std::get<2>(t));
}

dataset<int64> build_combine(const plan_description& p, int64 opened_for) {
  std::vector<dataset<int64>> in;
  for (const plan_ptr& input : p.inputs) in.push_back(build(*input, opened_for));
  bool three = in.size() == 3;
  if (p.op == verb::concatenate) return three ? concatenate(in[0], in[1], in[2]) : concatenate(in[0], in[1]);
  if (three) return zip(in[0], in[1], in[2]) | map(folded_three);
  return zip(in[0], in[1]) | map(folded_pair);
}

dataset<int64> build_stage(const plan_description& p, dataset<int64> in) {
  std::uint64_t b = p.b;
  auto compute = [b](int64 x) { return affine(x, b); };
  auto await = [b](int64 x) { return late_affine(x, b); };
  auto fallible = [b](int64 x) { return fallible_affine(x, b); };
  auto open_inner = [inner = p.inner](int64 x) { return build(*inner, x); };
  switch (p.op) {
    case verb::map: return in | map(compute, {.parallelism = p.tuned_or(1)});
    case verb::map_awaiting: return in | map(await, {.parallelism = p.tuned_or(1)});
    case verb::map_parallel: return in | map(compute, {.parallelism = p.tuned_or(p.a)});
    case verb::map_awaiting_parallel: return in | map(await, {.parallelism = p.tuned_or(p.a)});
    case verb::filter: return in | filter([b](int64 x) { return is_kept(x, b); });
    case verb::take: return in | take(p.a);
    case verb::skip: return in | skip(p.a);
    case verb::repeat: return in | repeat(p.a);
    case verb::repeat_forever: return in | repeat() | take(p.a);
    case verb::batch_folded: return in | batch(p.a, {.drop_remainder = p.drops_remainder()}) | map(folded);
    case verb::batch_rows: return in | batch(p.a, {.drop_remainder = p.drops_remainder()}) | unbatch();
    case verb::shuffle: return in | shuffle(p.a, {.seed = static_cast<int64>(p.shuffle_seed())});
    case verb::shuffle_same:
      return in | shuffle(p.a, {.seed = static_cast<int64>(p.shuffle_seed()), .reshuffle_each_iteration = false});
    case verb::prefetch: return in | prefetch(b % 7 || p.tuned ? knob(p.tuned_or(p.a)) : autotune);
    case verb::enumerate: return in | enumerate({.start = p.a}) | map(folded_pair);
    case verb::flat_map: return in | flat_map(open_inner);
    case verb::interleave:
      return in | interleave(open_inner,
                             {.cycle_length = p.a, .block_length = p.block_length(), .parallelism = p.tuned_or(1)});
    case verb::interleave_parallel:
      return in | interleave(open_inner,
                             {.cycle_length = p.a, .block_length = p.block_length(), .parallelism = p.parallelism()});
    case verb::sloppy_interleave:
      return in | interleave(open_inner, {.cycle_length = p.a, .parallelism = p.tuned_or(1), .order = order::sloppy});
    case verb::sloppy_interleave_parallel:
      return in | interleave(open_inner, {.cycle_length = p.a, .parallelism = p.parallelism(), .order = order::sloppy});
    case verb::stage_opaque: return in | transform(with_previous);
    case verb::stage_stateless:
      return in | transform([](stream<int64> s) { return expanded(stateless(), std::move(s)); });
    case verb::stage_saved:
      return in | transform([](stream<int64> s) { return summed(saved<running>(), std::move(s)); });
    case verb::stage_committing:
      return in | transform([](stream<int64> s) { return paired(saved<running>(), std::move(s)); });
    case verb::stage_stuttering:
      return in | transform([](stream<int64> s) { return stuttered(saved<running>(), std::move(s)); });
    case verb::map_failing: return in | map(fallible, {.parallelism = p.tuned_or(1)});
    case verb::map_failing_parallel: return in | map(fallible, {.parallelism = p.tuned_or(p.a)});
    case verb::map_failing_awaiting:
      return in | map([b](int64 x) { return late_fallible_affine(x, b); }, {.parallelism = p.tuned_or(p.a)});
    case verb::filter_failing: return in | filter([b](int64 x) { return fallible_is_kept(x, b); });
    case verb::sloppy_map_failing: return in | map(fallible, {.parallelism = p.tuned_or(p.a), .order = order::sloppy});
    case verb::sloppy_map: return in | map(compute, {.parallelism = p.tuned_or(p.a), .order = order::sloppy});
    default: return in | map(await, {.parallelism = p.tuned_or(p.a), .order = order::sloppy});
  }
}

bool opens_inner_plans(verb v) {
  return v == verb::flat_map || v == verb::interleave || v == verb::interleave_parallel ||
         v == verb::sloppy_interleave || v == verb::sloppy_interleave_parallel;
}

std::int64_t random_size(random_numbers& random, verb v) {
  switch (v) {
    case verb::take:
    case verb::skip: return static_cast<int64>(random.below(13)) - 1;  // -1: all
    case verb::repeat: return static_cast<int64>(random.below(4));
    case verb::repeat_forever: return static_cast<int64>(random.below(40));
    case verb::shuffle:
    case verb::shuffle_same: return 1 + static_cast<int64>(random.below(random.below(2) ? 6 : 40));
    default: return 1 + static_cast<int64>(random.below(6));
  }
}

plan_ptr source(random_numbers& random, bool inner) {
  plan_description p;
  p.op = static_cast<verb>(random.below(kSources));
  p.a = static_cast<int64>(random.below(inner ? 7 : random.below(8) ? 30 : 250));
  return std::make_shared<plan_description>(std::move(p));
}

plan_ptr stage_above(random_numbers& random, verb op, plan_ptr in, int inner_depth);
plan_ptr chain(random_numbers& random, int depth, bool inner);

plan_ptr combine(random_numbers& random, int depth, bool inner) {
  plan_description p;
  p.op = static_cast<verb>(kSources + random.below(static_cast<std::uint64_t>(kCombines - kSources)));
  for (std::uint64_t n = 2 + random.below(2); n; --n)
    p.inputs.push_back(chain(random, static_cast<int>(random.below(static_cast<std::uint64_t>(depth) + 1)), inner));
  return std::make_shared<plan_description>(std::move(p));
}

plan_ptr chain(random_numbers& random, int depth, bool inner) {
  bool combines = depth > 0 && random.below(4) == 0;
  if (combines) --depth;
  plan_ptr p = combines ? combine(random, depth, inner) : source(random, inner);
  while (depth-- > 0) {
    auto op = static_cast<verb>(kCombines + random.below(static_cast<std::uint64_t>(kDeterministic - kCombines)));
    p = stage_above(random, op, std::move(p), static_cast<int>(random.below(2)));
  }
  return p;
}

plan_ptr stage_above(random_numbers& random, verb op, plan_ptr in, int inner_depth) {
  plan_description p;
  p.op = op;
  p.a = random_size(random, op);
  p.b = random.below(1000);
  p.in = std::move(in);
  if (opens_inner_plans(op)) p.inner = chain(random, inner_depth, true);
  return std::make_shared<plan_description>(std::move(p));
}

}  // namespace

const char* to_string(verb v) { return kNames[static_cast<std::size_t>(v)]; }

std::string describe(const plan_description& p) {
  std::string text = p.in ? describe(*p.in) + " | " : std::string();
  if (!p.inputs.empty()) {
    for (const plan_ptr& input : p.inputs) text += (text.empty() ? "" : ", ") + describe(*input);
    return to_string(p.op) + ("(" + text) + ")";
  }
  text += std::string(to_string(p.op)) + "(" + std::to_string(p.a) + "," + std::to_string(p.b);
  if (p.tuned) text += ", tuned " + std::to_string(p.tuned);
  if (p.inner) text += ", [" + describe(*p.inner) + "]";
  return text + ")";
}

namespace {

/// Does one of the plans directly below do `test`?
template <class Test> bool any_below(const plan_description& p, Test test) {
  if ((p.in && test(*p.in)) || (p.inner && test(*p.inner))) return true;
  return std::any_of(p.inputs.begin(), p.inputs.end(), [&](const plan_ptr& input) { return test(*input); });
}

/// `change` done to each plan directly below.
template <class Change> void change_below(plan_description& p, Change change) {
  if (p.in) p.in = change(*p.in);
  if (p.inner) p.inner = change(*p.inner);
  for (plan_ptr& input : p.inputs) input = change(*input);
}

}  // namespace

bool is_sloppy(const plan_description& p) {
  return static_cast<int>(p.op) >= kDeterministic || any_below(p, is_sloppy);
}

bool meets_bad_elements(const plan_description& p) {
  switch (p.op) {
    case verb::map_failing:
    case verb::map_failing_parallel:
    case verb::map_failing_awaiting:
    case verb::filter_failing:
    case verb::sloppy_map_failing: return true;
    default: return any_below(p, meets_bad_elements);
  }
}

random_numbers::random_numbers(std::uint64_t seed) : seed_(mix(seed)) {}
std::uint64_t random_numbers::below(std::uint64_t n) { return draw(seed_, drawn_++, n); }

plan_ptr retuned(const plan_description& p, random_numbers& random) {
  constexpr std::array<std::int64_t, 6> kSettings = {0, 1, 1, 2, 3, 8};
  plan_description q = p;
  q.tuned = kSettings[random.below(kSettings.size())];
  change_below(q, [&random](const plan_description& below) { return retuned(below, random); });
  return std::make_shared<plan_description>(std::move(q));
}

plan_ptr without_channels(const plan_description& p) {
  if (p.op == verb::prefetch) return without_channels(*p.in);
  plan_description q = p;
  q.tuned = 1;
  change_below(q, without_channels);
  return std::make_shared<plan_description>(std::move(q));
}

plan_ptr random_plan(random_numbers& random, random_plan_options o) {
  auto depth = static_cast<std::uint64_t>(o.depth);
  if (!o.sloppy) return chain(random, 1 + static_cast<int>(random.below(depth)), false);
  constexpr std::array kAbove = {verb::map,
                                 verb::filter,
                                 verb::stage_stateless,
                                 verb::prefetch,
                                 verb::map_parallel,
                                 verb::map_awaiting,
                                 verb::map_awaiting_parallel,
                                 verb::sloppy_map,
                                 verb::sloppy_map_awaiting,
                                 verb::sloppy_interleave_parallel,
                                 verb::map_failing,
                                 verb::sloppy_map_failing};
  plan_ptr p = chain(random, static_cast<int>(random.below(2)), false);
  constexpr std::array kFirst = {verb::sloppy_interleave, verb::sloppy_interleave_parallel, verb::sloppy_map,
                                 verb::sloppy_map_awaiting, verb::sloppy_map_failing};
  p = stage_above(random, kFirst[random.below(kFirst.size())], std::move(p), static_cast<int>(random.below(3)));
  for (std::uint64_t left = random.below(depth - 1); left; --left)
    p = stage_above(random, kAbove[random.below(kAbove.size())], std::move(p), 0);
  return p;
}

dataset<std::int64_t> build(const plan_description& p, std::int64_t opened_for) {
  if (!p.inputs.empty()) return build_combine(p, opened_for);
  return p.in ? build_stage(p, build(*p.in, opened_for)) : build_source(p, opened_for);
}

// By way of unsigned numbers: sums of sums overflow, and that is defined there.
std::int64_t added(std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
}
std::int64_t times(std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
}
std::int64_t affine(std::int64_t x, std::uint64_t b) { return added(times(x, 3), static_cast<std::int64_t>(b)); }
bool is_kept(std::int64_t x, std::uint64_t b) { return mix(static_cast<std::uint64_t>(x) ^ b) % 3 != 0; }
bool is_bad(std::int64_t x, std::uint64_t b) { return mix(static_cast<std::uint64_t>(x) + b) % 5 == 0; }
std::int64_t folded_row(std::int64_t folded, std::int64_t next) { return added(times(folded, 7), next); }
std::int64_t source_element(std::int64_t index, std::int64_t opened_for) {
  return added(index, times(opened_for % 1000003, 17));
}

}  // namespace sluice::lib::test
