// SPDX-License-Identifier: Apache-2.0
// parse_sequence_example: what it gives, by plain loops.

#include <string>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/bytes/sequence_bytes.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::parse_sequence_example_case {
namespace {

using namespace test;

// --- For the suites: a number becomes a record of so many steps that add up to it, and is read from it. ---

struct parts {
  std::vector<std::int64_t> part;
  std::vector<std::vector<std::int64_t>> rest;
};

std::string parts_of(std::int64_t x, std::string_view list) {
  sequence_bytes w;
  const std::int64_t half = x / 2;
  return w.list(list, {int64_step({half}), int64_step({x - half - 1})})
      .list("rest", {int64_step({}), int64_step({1})})
      .finish();
}

std::int64_t sum_of(const sequence_example<no_features, parts>& e) {
  std::int64_t sum = 0;
  for (std::int64_t p : e.sequence.part) sum += p;
  for (auto& step : e.sequence.rest)
    for (std::int64_t p : step) sum += p;
  return sum;
}

dataset<std::int64_t> summed(const dataset<std::string>& records, std::int64_t parallelism) {
  return records | parse_sequence_example<no_features, parts>({.parallelism = parallelism}) |
         map([](const sequence_example<no_features, parts>& e) { return sum_of(e); });
}

dataset<std::string> sound_records(const dataset<std::int64_t>& in) {
  return in | map([](std::int64_t x) { return parts_of(x, "part"); });
}

int64s as_they_come(const verb_lists& l) { return l.in(); }

const register_verb sequences_case(
    "parse_sequence_example", {.any_order = true,
                               .has_knob = true,
                               .passes_errors = true,
                               .build = [](const verb_plan& p) { return summed(sound_records(p.in[0]), p.knob_or(1)); },
                               .expected = as_they_come,
                               .needs = [](const verb_use&, std::size_t k) { return k; }});

const register_verb sequences_parallel_case(
    "parse_sequence_example parallel",
    {.any_order = true,
     .has_knob = true,
     .passes_errors = true,
     .build = [](const verb_plan& p) { return summed(sound_records(p.in[0]), p.knob_or(p.a)); },
     .expected = as_they_come,
     .resume = {.a = 2, .held = 4 * 1024}});

const register_verb sequences_failing_case("parse_sequence_example failing",  // some lack their feature list
                                           {.any_order = true,
                                            .meets_errors = true,
                                            .has_knob = true,
                                            .build =
                                                [](const verb_plan& p) {
                                                  auto some = [b = p.b](std::int64_t x) {
                                                    return parts_of(x, is_bad(x, b) ? "another" : "part");
                                                  };
                                                  return summed(p.in[0] | map(some), p.knob_or(p.a));
                                                },
                                            .expected =
                                                [](const verb_lists& l) {
                                                  int64s out;
                                                  for (std::int64_t x : l.in())
                                                    if (!is_bad(x, l.b)) out.push_back(x);
                                                  return out;
                                                }});

}  // namespace
}  // namespace sluice::lib::parse_sequence_example_case
