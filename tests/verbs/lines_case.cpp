// SPDX-License-Identifier: Apache-2.0
// lines: numbers in the lines of a file.
#include <cstdint>
#include <string>

#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::lines_case {
namespace {

using namespace test;

/// Ends of both kinds; some files begin with an empty line, and some have a last line without an end.
std::string text_file(const verb_use& use) {
  std::string text;
  for (std::int64_t i = 0; i != use.a; ++i) {
    const bool is_empty = i == 0 && use.b % 2;
    if (!is_empty) text += text_of_number(i, use.b);  // an empty one reads as 0
    const bool has_end = is_empty || i + 1 != use.a || use.b % 5;
    if (has_end) text += i % 3 ? "\n" : "\r\n";
  }
  return text;
}
std::string path_for(const verb_use& use) { return path_of("lines", use.a, use.b); }

const register_verb lines_case(
    "lines",
    {.inputs = 0,
     .has_knob = true,
     .size = some_length,
     .files = [](const verb_use& u) -> test_files { return {.bytes = {{path_for(u), packed(text_file(u), u.b)}}}; },
     .build = [](const verb_plan& p) { return elements_of(lines(path_for(p), some_reading<lines_options>(p)), p); },
     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::lines_case
