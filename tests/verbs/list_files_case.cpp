// SPDX-License-Identifier: Apache-2.0
// list_files: numbers in the names of files. There is one file more than elements are asked for, because a pattern that
// nothing matches is an error.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::list_files_case {
namespace {

using namespace test;
using names = std::vector<std::string>;

names sorted(names all) {
  std::sort(all.begin(), all.end());
  return all;
}

std::string folder_of(const verb_use& use) { return path_of("list", use.a, use.b); }
std::string patterns_of(const verb_use& use) {
  const std::string all = folder_of(use) + "/*";
  return use.b % 3 ? all : all + "," + folder_of(use) + "/0";
}
test_files numbered_files(const verb_use& use) {
  test_files files;
  for (std::int64_t i = 0; i <= use.a; ++i) files.bytes[folder_of(use) + "/" + std::to_string(i)] = "";
  return files;
}
std::int64_t number_of_name(const std::string& path) { return std::atoll(path.c_str() + path.rfind('/') + 1); }

list_files_options order_of(const verb_use& use) {
  return {.shuffle = use.b % 2 == 1, .seed = static_cast<std::int64_t>(use.b)};
}
int64s listed_numbers(const verb_lists& l) {
  names all;
  for (std::int64_t i = 0; i <= l.a; ++i) all.push_back(std::to_string(i));
  if (l.b % 3 == 0) all.push_back("0");  // the matches of all patterns are sorted together
  all = sorted(std::move(all));
  const std::uint64_t by = l.drawn_by(l.b);
  if (l.b % 2)
    for (std::size_t left = all.size(); left > 1; --left) std::swap(all[left - 1], all[draw(by, left, left)]);
  int64s out;
  for (const std::string& name : all) out.push_back(l.element(std::atoll(name.c_str())));
  return out;
}

const register_verb list_files_case("list_files", {.inputs = 0,
                                                   .size = some_length,
                                                   .files = numbered_files,
                                                   .build =
                                                       [](const verb_plan& p) {
                                                         return list_files(patterns_of(p), order_of(p)) |
                                                                map([from = p.opened_for](const std::string& path) {
                                                                  return source_element(number_of_name(path), from);
                                                                });
                                                       },
                                                   .expected = listed_numbers});

}  // namespace
}  // namespace sluice::lib::list_files_case
