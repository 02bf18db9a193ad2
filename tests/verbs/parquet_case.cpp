// SPDX-License-Identifier: Apache-2.0
// parquet: what it gives, by plain loops.
#if SLUICE_HAVE_PARQUET

#include "verbs/parquet_model.hpp"

#include "support/trials/file_case.hpp"

namespace sluice::lib::parquet_case {
namespace {

std::string path_for(const verb_use& use) { return path_of("parquet", use.a, use.b); }

/// Groups of one to seven rows.
std::string file_for(const verb_use& use) {
  std::vector<parquet_row> rows;
  for (std::int64_t i = 0; i != use.a; ++i) rows.push_back({i, std::string(use.b % 7 ? use.b % 50 : 3000, 'x')});
  return parquet_bytes(std::move(rows), 1 + use.b % 7);
}

const register_verb parquet_case(
    "parquet",
    {.inputs = 0,
     .has_knob = true,
     .size = some_length,
     .files = [](const verb_use& u) -> test_files { return {.bytes = {{path_for(u), file_for(u)}}}; },
     .build =
         [](const verb_plan& p) {
           return parquet<parquet_row>(path_for(p), some_reading<parquet_options>(p)) |
                  map([from = p.opened_for](const parquet_row& r) { return source_element(r.number, from); });
         },
     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::parquet_case

#endif
