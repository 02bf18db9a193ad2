// SPDX-License-Identifier: Apache-2.0
// zip_members: what it gives, by plain loops.

#include <string>

#include "format/archive/zip_archive.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/io/simulated_file_system.hpp"
#include "sluice/sluice.hpp"
#include "support/bytes/zip_bytes.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::zip_members_case {
namespace {

using namespace test;

std::string zip_path_for(const verb_use& use) { return path_of("zip", use.a, use.b); }

/// Files of every form, and folders and links between them.
std::string zip_for(const verb_use& use) {
  zip_writer archive(use.b % 5 == 0 ? "#!/bin/sh\n" : "");
  for (std::int64_t i = 0; i != use.a; ++i) {
    const auto n = use.b + static_cast<std::uint64_t>(i);
    if (n % 3 == 0) archive.add({.name = "d/"});
    if (n % 11 == 0) archive.add({.name = "l", .bytes = "to", .attributes = 0120777u << 16});
    archive.add({.name = "d/" + std::string(n % 5 == 0 ? 300 : n % 7, 'n') + std::to_string(i),
                 .bytes = text_of_number(i, use.b),
                 .is_deflated = n % 2 == 0,
                 .is_64 = n % 7 == 1,
                 .sizes_behind = n % 4 == 3});
  }
  return archive.bytes(use.b % 3 ? "a comment" : "", use.b % 7 == 2);
}

const register_verb zip_members_case(
    "zip_members",
    {.inputs = 0,
     .has_knob = true,
     .size = some_length,
     .files = [](const verb_use& u) -> test_files { return {.bytes = {{zip_path_for(u), zip_for(u)}}}; },
     .build =
         [](const verb_plan& p) {
           return zip_members(zip_path_for(p), some_reading<zip_members_options>(p)) |
                  map([from = p.opened_for](const zip_member& m) { return source_element(number_in(m.bytes), from); });
         },
     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::zip_members_case
