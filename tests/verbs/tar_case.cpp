// SPDX-License-Identifier: Apache-2.0
// tar: what it gives, by plain loops.

#include <string>

#include "format/archive/tar_archive.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/sluice.hpp"
#include "support/bytes/tar_bytes.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::tar_case {
namespace {

using namespace test;

std::string tar_path_for(const verb_use& use) { return path_of("tar", use.a, use.b); }

/// Files with names of every form, and directories and links between them.
std::string archive_for(const verb_use& use) {
  std::string bytes;
  for (std::int64_t i = 0; i != use.a; ++i) {
    const auto n = use.b + static_cast<std::uint64_t>(i);
    std::string name = "d/" + std::string(n % 5 == 0 ? 300 : n % 7, 'n') + std::to_string(i);
    if (n % 3 == 0) bytes += tar_entry_bytes({.name = "d/", .type = '5'}, "");
    if (n % 11 == 0) bytes += tar_header_bytes({.name = "l", .size = 77, .type = '2'});
    bytes += tar_file_bytes(name, text_of_number(i, use.b), n % 5 == 0 ? 1 + n % 2 : n % 3);
  }
  return use.b % 3 ? bytes + tar_end(2 + use.b % 18) : bytes;
}

const register_verb tar_case("tar", {.inputs = 0,
                                     .has_knob = true,
                                     .size = some_length,
                                     .files = [](const verb_use& u) -> test_files {
                                       return {.bytes = {{tar_path_for(u), packed(archive_for(u), u.b)}}};
                                     },
                                     .build =
                                         [](const verb_plan& p) {
                                           return tar(tar_path_for(p), some_reading<tar_options>(p)) |
                                                  map([from = p.opened_for](const tar_member& m) {
                                                    return source_element(number_in(m.bytes), from);
                                                  });
                                         },
                                     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::tar_case
