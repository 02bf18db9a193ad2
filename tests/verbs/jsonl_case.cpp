// SPDX-License-Identifier: Apache-2.0
// jsonl: what it gives, by plain loops.

#include <string>
#include <vector>

#include "format/json/json_rows.hpp"
#include "sluice/op/jsonl.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/jsonl_model.hpp"

namespace sluice::lib::jsonl_case {
namespace {

using namespace test;

/// Lines with their members in any order, others between, and lines of nothing; one in seven of the uses has lines that are longer
/// than one read. `bad`: some have no number.
std::string lines_for(const verb_use& use, bool bad) {
  std::string out = use.b % 5 == 0 ? "\n \t\n" : "";
  for (std::int64_t i = 0; i != use.a; ++i) {
    const std::string text(use.b % 7 ? static_cast<std::size_t>(use.b) % 40 : 5000, 'x');
    const std::string number = bad && is_bad(i, use.b) ? "\"none\"" : std::to_string(i);
    out += i % 2 ? "{\"number\": " + number + ", \"other\": [1, {\"text\": 2}], \"text\": \"" + text +
                       "\", \"tags\": [\"é\\n\"]}"
                 : "{\"at\":{\"y\":" + std::to_string(i) + ",\"x\":0.5},\"tags\":[],\"text\":\"" + text +
                       "\",\"number\":" + number + "}";
    out += use.b % 2 ? "\n" : "\r\n";
    if (use.b % 5 == 0 && i % 3 == 0) out += "\r\n";
  }
  return out;
}

std::int64_t checked_number(const json_line& l) {
  const bool is_right = l.number % 2 ? l.tags == std::vector<std::string>{"é\n"} && !l.at
                                     : l.tags.empty() && l.at && l.at->y == static_cast<double>(l.number);
  return is_right ? l.number : -1;
}

dataset<std::int64_t> read_numbers(const std::string& name, const verb_plan& p) {
  return jsonl<json_line>(path_of(name, p.a, p.b), some_reading<jsonl_options>(p)) |
         map([from = p.opened_for](const json_line& l) { return source_element(checked_number(l), from); });
}

const register_verb jsonl_case("jsonl",
                               {.inputs = 0,
                                .has_knob = true,
                                .size = some_length,
                                .files = [](const verb_use& u) -> test_files {
                                  return {.bytes = {{path_of("jsonl", u.a, u.b), packed(lines_for(u, false), u.b)}}};
                                },
                                .build = [](const verb_plan& p) { return read_numbers("jsonl", p); },
                                .expected = source_elements});

const register_verb jsonl_failing_case("jsonl failing",
                                       {.inputs = 0,
                                        .meets_errors = true,
                                        .has_knob = true,
                                        .size = some_length,
                                        .files = [](const verb_use& u) -> test_files {
                                          return {.bytes = {
                                                      {path_of("jsonlf", u.a, u.b), packed(lines_for(u, true), u.b)}}};
                                        },
                                        .build = [](const verb_plan& p) { return read_numbers("jsonlf", p); },
                                        .expected =
                                            [](const verb_lists& l) {
                                              int64s out;
                                              for (std::int64_t i = 0; i != l.a; ++i)
                                                if (!is_bad(i, l.b)) out.push_back(l.element(i));
                                              return out;
                                            }});

}  // namespace
}  // namespace sluice::lib::jsonl_case
