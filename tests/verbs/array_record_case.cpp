// SPDX-License-Identifier: Apache-2.0
// array_record: what it gives, by plain loops.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/riegeli/array_record_footer.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::array_record_case {
namespace {

using namespace test;

std::string path_for(const verb_use& use) { return path_of("array_record", use.a, use.b); }

/// Chunks of one to five records; one in seven of the uses has records that are longer than one read.
std::string file_for(const verb_use& use) {
  riegeli_writer writer;
  array_record_chunks chunks;
  std::vector<std::uint64_t> decoded;
  std::string made;
  writer.begin(made);
  const int level = use.b % 3 == 0 ? 3 : 0;
  const std::int64_t group = 1 + static_cast<std::int64_t>(use.b % 5);
  for (std::int64_t i = 0; i < use.a; i += group) {
    std::vector<std::string> records;
    std::uint64_t bytes = 0;
    for (std::int64_t k = i; k != std::min(i + group, use.a); ++k) {
      std::string& element = records.emplace_back(std::to_string(k));
      element.resize(use.b % 7 ? 24 + (use.b + static_cast<std::uint64_t>(k)) % 50 : 4'500, ' ');
      bytes += element.size();
    }
    chunks.ends.push_back(chunks.records() + records.size());
    chunks.offsets.push_back(writer.append(std::vector<std::string_view>(records.begin(), records.end()), level, made));
    decoded.push_back(bytes);
  }
  append_array_record_end(writer, chunks, decoded, "group_size:1", level, made);
  return made;
}

const register_verb array_record_case(
    "array_record", {.inputs = 0,
                     .has_knob = true,
                     .size = some_length,
                     .files = [](const verb_use& u) -> test_files { return {.bytes = {{path_for(u), file_for(u)}}}; },
                     .build =
                         [](const verb_plan& p) {
                           return elements_of(array_record(path_for(p), some_reading<array_record_options>(p)), p);
                         },
                     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::array_record_case
