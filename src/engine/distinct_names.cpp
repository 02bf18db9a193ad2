// SPDX-License-Identifier: Apache-2.0
#include "engine/distinct_names.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>
#include <set>

namespace sluice::lib {

std::vector<std::string> distinct_names(const std::vector<std::string>& names) {
  const std::set<std::string> said(names.begin(), names.end());
  std::set<std::string> given;
  std::vector<std::string> all;
  for (std::size_t k = 0; k != names.size(); ++k) {
    std::string name = names[k];
    bool is_free = !name.empty() && !given.contains(name);
    if (name.empty()) name = absl::StrCat("c", k), is_free = !said.contains(name) && !given.contains(name);
    while (!is_free) {
      absl::StrAppend(&name, "_", k);
      is_free = !said.contains(name) && !given.contains(name);
    }
    given.insert(name);
    all.push_back(std::move(name));
  }
  return all;
}

}  // namespace sluice::lib
