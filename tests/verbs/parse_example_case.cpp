// SPDX-License-Identifier: Apache-2.0
// parse_example: a number in an example, and read from it.
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/format/example.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::parse_example_case {
namespace {

using namespace test;

struct numbered {
  std::int64_t number = 0;
};
std::string example_of(std::int64_t x, std::string_view feature) {
  example_writer w;
  return std::string(w.int64(feature, x).finish());
}
dataset<std::int64_t> parsed(const dataset<std::string>& examples, std::int64_t parallelism) {
  return examples | parse_example<numbered>({.parallelism = parallelism}) |
         map([](const numbered& n) { return n.number; });
}
dataset<std::string> sound_examples(const dataset<std::int64_t>& in) {
  return in | map([](std::int64_t x) { return example_of(x, "number"); });
}
int64s as_they_are(const verb_lists& l) { return l.in(); }

const register_verb parse_example_case(
    "parse_example", {.any_order = true,
                      .has_knob = true,
                      .passes_errors = true,
                      .build = [](const verb_plan& p) { return parsed(sound_examples(p.in[0]), p.knob_or(1)); },
                      .expected = as_they_are,
                      .needs = [](const verb_use&, std::size_t k) { return k; }});
const register_verb parse_example_parallel_case(
    "parse_example parallel",
    {.any_order = true,
     .has_knob = true,
     .passes_errors = true,
     .build = [](const verb_plan& p) { return parsed(sound_examples(p.in[0]), p.knob_or(p.a)); },
     .expected = as_they_are,
     .resume = {.a = 2, .held = 4 * 1024}});
const register_verb parse_example_failing_case("parse_example failing",  // some lack their feature
                                               {.any_order = true,
                                                .meets_errors = true,
                                                .has_knob = true,
                                                .build =
                                                    [](const verb_plan& p) {
                                                      auto some = [b = p.b](std::int64_t x) {
                                                        return example_of(x, is_bad(x, b) ? "another" : "number");
                                                      };
                                                      return parsed(p.in[0] | map(some), p.knob_or(p.a));
                                                    },
                                                .expected =
                                                    [](const verb_lists& l) {
                                                      int64s out;
                                                      for (std::int64_t x : l.in())
                                                        if (!is_bad(x, l.b)) out.push_back(x);
                                                      return out;
                                                    }});

dataset<std::int64_t> parsed_by_batch(const dataset<std::int64_t>& in, std::int64_t rows, std::int64_t parallelism) {
  return sound_examples(in) | batch(rows) | parse_example<numbered>({.parallelism = parallelism}) | unbatch() |
         map([](const numbered& n) { return n.number; });
}
const register_verb parse_example_batches_case(
    "parse_example batches",
    {.any_order = true,
     .has_knob = true,
     .build = [](const verb_plan& p) { return parsed_by_batch(p.in[0], 1 + p.a % 5, p.knob_or(1)); },
     .expected = as_they_are,
     .needs = [](const verb_use& u, std::size_t k) { return (k + u.a % 5) / (1 + u.a % 5) * (1 + u.a % 5); }});

}  // namespace
}  // namespace sluice::lib::parse_example_case
