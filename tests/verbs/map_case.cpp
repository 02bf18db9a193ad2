// SPDX-License-Identifier: Apache-2.0
// map: what it gives, by plain loops.

#include <chrono>
#include <cstdint>

#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::map_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// Marks are due from time to time; here at the worst of times, in the middle of a stage's work.
struct marks_are_due {
  bool await_ready() const noexcept { return false; }
  template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) const noexcept {
    h.promise().env->request_marks();
    return false;
  }
  void await_resume() const noexcept {}
};

/// Several ways to be late: not at all, one or two turns of the scheduler, some virtual time.
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

task<int64> late_fallible_affine(int64 x, std::uint64_t b) {
  auto late = late_affine(x, b);
  int64 result = co_await late;
  if (is_bad(x, b)) co_await fail(data_loss_error("a bad element"));
  co_return result;
}

auto computes(const verb_plan& p) {
  return [b = p.b](int64 x) { return affine(x, b); };
}

auto awaits(const verb_plan& p) {
  return [b = p.b](int64 x) { return late_affine(x, b); };
}

auto fails(const verb_plan& p) {
  return [b = p.b](int64 x) { return fallible_affine(x, b); };
}

int64s affine_of_all(const verb_lists& l) {
  int64s out = l.in();
  for (int64& x : out) x = affine(x, l.b);
  return out;
}

int64s affine_of_good(const verb_lists& l) {
  int64s out;
  for (int64 x : l.in())
    if (!is_bad(x, l.b)) out.push_back(affine(x, l.b));
  return out;
}

std::size_t as_many(const verb_use&, std::size_t k) { return k; }
constexpr std::uint64_t kInFlight = 5 * 1024;

// blocks grow to 1,024 elements where computing them takes no time

const register_verb map_case(
    "map", {.any_order = true,
            .has_knob = true,
            .passes_errors = true,
            .build = [](const verb_plan& p) { return p.in[0] | map(computes(p), {.parallelism = p.knob_or(1)}); },
            .expected = affine_of_all,
            .needs = as_many});

const register_verb map_awaiting_case(
    "map awaiting",
    {.any_order = true,
     .has_knob = true,
     .passes_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | map(awaits(p), {.parallelism = p.knob_or(1)}); },
     .expected = affine_of_all,
     .needs = as_many});

const register_verb map_parallel_case(
    "map parallel",
    {.any_order = true,
     .has_knob = true,
     .passes_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | map(computes(p), {.parallelism = p.knob_or(p.a)}); },
     .expected = affine_of_all,
     .resume = {.a = 2, .held = kInFlight},
     .conforms_at = {{.a = 4}}});

const register_verb map_awaiting_parallel_case(
    "map awaiting parallel",
    {.any_order = true,
     .has_knob = true,
     .passes_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | map(awaits(p), {.parallelism = p.knob_or(p.a)}); },
     .expected = affine_of_all,
     .resume = {.a = 4, .held = 8},
     .conforms_at = {{.a = 4}}});

const register_verb map_failing_case(
    "map failing", {.any_order = true,
                    .meets_errors = true,
                    .has_knob = true,
                    .build = [](const verb_plan& p) { return p.in[0] | map(fails(p), {.parallelism = p.knob_or(1)}); },
                    .expected = affine_of_good});

const register_verb map_failing_parallel_case(
    "map failing parallel",
    {.meets_errors = true,
     .has_knob = true,
     .build = [](const verb_plan& p) { return p.in[0] | map(fails(p), {.parallelism = p.knob_or(p.a)}); },
     .expected = affine_of_good});

const register_verb map_failing_awaiting_case(
    "map failing awaiting", {.meets_errors = true,
                             .has_knob = true,
                             .build =
                                 [](const verb_plan& p) {
                                   return p.in[0] | map([b = p.b](int64 x) { return late_fallible_affine(x, b); },
                                                        {.parallelism = p.knob_or(p.a)});
                                 },
                             .expected = affine_of_good});

const register_verb map_sloppy_case("map sloppy", {.ordered = false,
                                                   .any_order = true,
                                                   .has_knob = true,
                                                   .build =
                                                       [](const verb_plan& p) {
                                                         return p.in[0] |
                                                                map(computes(p),
                                                                    {.parallelism = p.knob_or(p.a), .order = sloppy});
                                                       },
                                                   .expected = affine_of_all,
                                                   .resume = {.a = 2, .held = kInFlight},
                                                   .conforms_at = {{.a = 4}}});

const register_verb map_sloppy_awaiting_case(
    "map sloppy awaiting",
    {.ordered = false,
     .any_order = true,
     .has_knob = true,
     .build =
         [](const verb_plan& p) { return p.in[0] | map(awaits(p), {.parallelism = p.knob_or(p.a), .order = sloppy}); },
     .expected = affine_of_all,
     .resume = {.a = 4, .held = 8},
     .conforms_at = {{.a = 4}}});

const register_verb map_sloppy_failing_case(
    "map sloppy failing",
    {.ordered = false,
     .any_order = true,
     .meets_errors = true,
     .has_knob = true,
     .build =
         [](const verb_plan& p) { return p.in[0] | map(fails(p), {.parallelism = p.knob_or(p.a), .order = sloppy}); },
     .expected = affine_of_good});

}  // namespace
}  // namespace sluice::lib::map_case
