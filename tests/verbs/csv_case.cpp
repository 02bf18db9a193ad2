// SPDX-License-Identifier: Apache-2.0
// csv: what it gives, by plain loops.

#include <string>

#include "sluice/op/csv.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/csv_model.hpp"

namespace sluice::lib::csv_case {
namespace {

using namespace test;

csv_options reading_of(const verb_use& use) {
  auto o = some_reading<csv_options>(use);
  o.header = use.b % 3 == 0;
  o.comment = use.b % 5 == 0 ? "#" : "";
  return o;
}

/// Rows with texts in quotes, empty lines and comments; one in seven of the uses has rows that are longer than one read. `bad`: of
/// some the number is none.
std::string rows_for(const verb_use& use, bool bad) {
  const char* end = use.b % 2 ? "\n" : "\r\n";
  std::string out = use.b % 5 == 0 ? "\n# a comment\n" : "";
  if (use.b % 3 == 0) out += std::string("text,half,number") + end;
  for (std::int64_t i = 0; i != use.a; ++i) {
    std::string text(use.b % 7 ? static_cast<std::size_t>(use.b + static_cast<std::uint64_t>(i)) % 40 : 5000, 'x');
    if (i % 3 == 1) text = "\"" + text + "\n\"\",\"";
    if (text.empty()) text = "e";
    std::string number = std::to_string(i), half = i % 4 == 2 ? "" : number + ".5";
    if (bad && is_bad(i, use.b)) number = "no number";
    out += use.b % 3 == 0 ? text + "," + half + "," + number : number + "," + text + "," + half;
    out += end;
    if (use.b % 5 == 0) out += "# a comment, with \" and ,\n\n";
  }
  return out;
}

std::int64_t checked_number(const numbered_row& r) {
  const bool is_right =
      r.half.has_value() == (r.number % 4 != 2) && (!r.half || *r.half == static_cast<double>(r.number) + 0.5);
  return is_right && (r.number % 3 != 1 || r.text.ends_with("\n\",")) ? r.number : -1;
}

dataset<std::int64_t> numbers_of(const dataset<numbered_row>& rows, const verb_plan& p) {
  return rows | map([from = p.opened_for](const numbered_row& r) { return source_element(checked_number(r), from); });
}

const register_verb csv_case("csv", {.inputs = 0,
                                     .has_knob = true,
                                     .size = some_length,
                                     .files = [](const verb_use& u) -> test_files {
                                       return {.bytes = {{path_of("csv", u.a, u.b), packed(rows_for(u, false), u.b)}}};
                                     },
                                     .build =
                                         [](const verb_plan& p) {
                                           return numbers_of(csv<numbered_row>(path_of("csv", p.a, p.b), reading_of(p)),
                                                             p);
                                         },
                                     .expected = source_elements});

const register_verb csv_batches_case(
    "csv batches", {.inputs = 0,
                    .has_knob = true,
                    .size = some_length,
                    .files = [](const verb_use& u) -> test_files {
                      return {.bytes = {{path_of("csvb", u.a, u.b), packed(rows_for(u, false), u.b)}}};
                    },
                    .build =
                        [](const verb_plan& p) {
                          auto rows = csv<numbered_row>(path_of("csvb", p.a, p.b), reading_of(p));
                          return numbers_of(rows | batch(1 + static_cast<std::int64_t>(p.b) % 4) | unbatch(), p);
                        },
                    .expected = source_elements});

const register_verb csv_failing_case("csv failing",
                                     {.inputs = 0,
                                      .meets_errors = true,
                                      .has_knob = true,
                                      .size = some_length,
                                      .files = [](const verb_use& u) -> test_files {
                                        return {.bytes = {{path_of("csvf", u.a, u.b), packed(rows_for(u, true), u.b)}}};
                                      },
                                      .build =
                                          [](const verb_plan& p) {
                                            auto rows = csv<numbered_row>(path_of("csvf", p.a, p.b), reading_of(p));
                                            if (p.b % 2 == 0) return numbers_of(rows, p);
                                            return numbers_of(rows | batch(1) | unbatch(), p);
                                          },
                                      .expected =
                                          [](const verb_lists& l) {
                                            int64s out;
                                            for (std::int64_t i = 0; i != l.a; ++i)
                                              if (!is_bad(i, l.b)) out.push_back(l.element(i));
                                            return out;
                                          }});

}  // namespace
}  // namespace sluice::lib::csv_case
