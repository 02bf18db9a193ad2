// SPDX-License-Identifier: Apache-2.0
// bagz: what it gives, by plain loops.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "output/encoders/element_encoder.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::bagz_case {
namespace {

using namespace test;

bool packs(const verb_use& use) { return use.b % 3 == 0; }
std::string path_for(const verb_use& use) { return path_of("bagz", use.a, use.b) + (packs(use) ? ".bagz" : ".bag"); }

/// Records of different lengths; one in seven of the uses has records that are longer than one read.
std::string file_for(const verb_use& use) {
  auto encoder = make_bagz_encoder(type_of<std::string>(), packs(use) ? compression::zstd : compression::none);
  encoded made;
  for (std::int64_t i = 0; i != use.a; ++i) {
    std::string element = std::to_string(i);
    element.resize(use.b % 7 ? 24 + (use.b + static_cast<std::uint64_t>(i)) % 50 : 4'500, ' ');
    CHECK(encoder->append(reinterpret_cast<const char*>(&element), 1, made).ok());
  }
  CHECK(encoder->end(made).ok());
  return made.bytes;
}

const register_verb bagz_case(
    "bagz",
    {.inputs = 0,
     .has_knob = true,
     .size = some_length,
     .files = [](const verb_use& u) -> test_files { return {.bytes = {{path_for(u), file_for(u)}}}; },
     .build = [](const verb_plan& p) { return elements_of(bagz(path_for(p), some_reading<bagz_options>(p)), p); },
     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::bagz_case
