// SPDX-License-Identifier: Apache-2.0
// fixed_length: what it gives, by plain loops.

#include <cstdint>
#include <string>

#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::fixed_length_case {
namespace {

using namespace test;
using int64 = std::int64_t;

std::string path_for(const verb_use& use) { return path_of("fixed", use.a, use.b); }

/// Between a header and a footer, or without; one in seven of the uses has records that are longer than one read.
fixed_length_options layout_of_use(const verb_use& use) {
  auto o = some_reading<fixed_length_options>(use);
  const auto b = static_cast<int64>(use.b);
  o.record_bytes = use.b % 7 ? 24 + b % 200 : 4'500;
  o.header_bytes = b % 3 ? b % 11 : 0;
  o.footer_bytes = b % 5 ? b % 13 : 0;
  return o;
}

std::string file_for(const verb_use& use) {
  const fixed_length_options o = layout_of_use(use);
  std::string bytes(static_cast<std::size_t>(o.header_bytes.value), 'h');
  for (int64 i = 0; i != use.a; ++i) {
    std::string element = std::to_string(i);
    element.resize(static_cast<std::size_t>(o.record_bytes.value), ' ');
    bytes += element;
  }
  return bytes + std::string(static_cast<std::size_t>(o.footer_bytes.value), 'f');
}

const register_verb fixed_length_case(
    "fixed_length",
    {.inputs = 0,
     .has_knob = true,
     .size = some_length,
     .files = [](const verb_use& u) -> test_files { return {.bytes = {{path_for(u), packed(file_for(u), u.b)}}}; },
     .build = [](const verb_plan& p) { return elements_of(fixed_length(path_for(p), layout_of_use(p)), p); },
     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::fixed_length_case
