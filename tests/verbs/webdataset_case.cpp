// SPDX-License-Identifier: Apache-2.0
// webdataset: what it gives, by plain loops.

#include <string>

#include "io/temporary_folder.hpp"
#include "sluice/sluice.hpp"
#include "support/bytes/tar_bytes.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::webdataset_case {
namespace {

using namespace test;

std::string samples_path_for(const verb_use& use) { return path_of("webdataset", use.a, use.b); }

/// Samples of one to three parts, with directories and files of no sample between.
std::string samples_for(const verb_use& use) {
  std::string bytes;
  for (std::int64_t i = 0; i != use.a; ++i) {
    const auto n = use.b + static_cast<std::uint64_t>(i);
    const std::string key = "d/" + std::to_string(i);
    if (n % 3 == 0) bytes += tar_entry_bytes({.name = "d/", .type = '5'}, "");
    if (n % 2 == 0) bytes += tar_file_bytes(key + ".JPG", std::string(n % 600, 'j'));
    if (n % 5 == 0) bytes += tar_file_bytes("d/README", "no part");
    bytes += tar_file_bytes(key + ".txt", text_of_number(i, use.b), n % 3);
    if (n % 7 == 0) bytes += tar_file_bytes(key + ".seg.png", "s");
  }
  return use.b % 3 ? bytes + tar_end(2 + use.b % 18) : bytes;
}

const register_verb webdataset_case("webdataset",
                                    {.inputs = 0,
                                     .has_knob = true,
                                     .size = some_length,
                                     .files = [](const verb_use& u) -> test_files {
                                       return {.bytes = {{samples_path_for(u), packed(samples_for(u), u.b)}}};
                                     },
                                     .build =
                                         [](const verb_plan& p) {
                                           return webdataset(samples_path_for(p), some_reading<webdataset_options>(p)) |
                                                  map([from = p.opened_for](const webdataset_sample& s) {
                                                    return source_element(number_in(s.at("txt")), from);
                                                  });
                                         },
                                     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::webdataset_case
