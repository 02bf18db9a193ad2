// SPDX-License-Identifier: Apache-2.0
// from_arrow: what it gives, by plain loops.

#include <string>
#include <vector>

#include "arrow/ipc_writer.hpp"
#include "arrow/row_type.hpp"
#include "sluice/arrow/columns.hpp"
#include "sluice/op/from_arrow.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/from_arrow_model.hpp"

namespace sluice::lib::from_arrow_case {
namespace {

using namespace test;

std::string path_for(const verb_use& use) { return path_of("arrow", use.a, use.b); }

/// Batches of 1 to 3 rows, the first with its number; some are longer than one read.
std::string file_for(const verb_use& use) {
  std::vector<batched<arrow_row>> batches(static_cast<std::size_t>(use.a));
  for (std::int64_t i = 0; i != use.a; ++i) {
    auto& b = batches[static_cast<std::size_t>(i)];
    std::size_t length = use.b % 7 ? use.b % 50 : 3000;
    for (std::uint64_t k = 0; k != 1 + use.b % 3; ++k) b.push_back({i, std::string(length, 'x')});
  }
  std::string bytes = arrow_stream(batches, use.b % 5 != 0);
  return use.b % 11 ? bytes : std::string("ARROW1\0\0", 8) + bytes;
}

std::int64_t number_in_batch(const batched<arrow_row>& b) { return b[&arrow_row::number][0]; }

const register_verb from_arrow_case("from_arrow", {.inputs = 0,
                                                   .has_knob = true,
                                                   .size = some_length,
                                                   .files = [](const verb_use& u) -> test_files {
                                                     return {.bytes = {{path_for(u), packed(file_for(u), u.b)}}};
                                                   },
                                                   .build =
                                                       [](const verb_plan& p) {
                                                         return from_arrow<arrow_row>(
                                                                    path_for(p), some_reading<arrow_file_options>(p)) |
                                                                map([from = p.opened_for](const batched<arrow_row>& b) {
                                                                  return source_element(number_in_batch(b), from);
                                                                });
                                                       },
                                                   .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::from_arrow_case
