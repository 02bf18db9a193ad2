// SPDX-License-Identifier: Apache-2.0
// npy: what it gives, by plain loops.

#include <string>
#include <vector>

#include "format/npy_rows.hpp"
#include "sluice/op/npy.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/npy_model.hpp"

namespace sluice::lib::npy_case {
namespace {

using namespace test;

std::string path_for_npy(const verb_use& use) { return path_of("npy", use.a, use.b); }

/// Rows with their number in front; one in seven of the uses has rows that are longer than one read.
std::string array_for(const verb_use& use) {
  const std::size_t numbers = use.b % 7 ? 1 + use.b % 5 : 700;
  std::string out = npy_header("{'descr': '<i8', 'fortran_order': False, 'shape': (" + std::to_string(use.a) + ", " +
                                   std::to_string(numbers) + "), }",
                               use.b % 2 ? 64 : 1);
  for (std::int64_t i = 0; i != use.a; ++i) {
    std::vector<std::int64_t> row(numbers, -1);
    row[0] = i;
    out.append(reinterpret_cast<const char*>(row.data()), row.size() * 8);
  }
  return out;
}

const register_verb npy_case("npy", {.inputs = 0,
                                     .has_knob = true,
                                     .size = some_length,
                                     .files = [](const verb_use& u) -> test_files {
                                       return {.bytes = {{path_for_npy(u), packed(array_for(u), u.b)}}};
                                     },
                                     .build =
                                         [](const verb_plan& p) {
                                           return npy(path_for_npy(p), some_reading<npy_options>(p)) |
                                                  map([from = p.opened_for](const tensor& row) {
                                                    return source_element(row.values<std::int64_t>()[0], from);
                                                  });
                                         },
                                     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::npy_case
