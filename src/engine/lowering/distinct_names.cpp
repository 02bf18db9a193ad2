// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/distinct_names.hpp"

#include <absl/strings/str_cat.h>

#include <cstddef>
#include <set>
#include <utility>

namespace sluice::lib {

std::vector<std::string> distinct_names(const std::vector<std::string>& names) {
  const std::set<std::string> said(names.begin(), names.end());
  std::set<std::string> given;
  std::vector<std::string> all;
  for (std::size_t k = 0; k != names.size(); ++k) {
    const bool is_said = !names[k].empty();
    std::string name = is_said ? names[k] : absl::StrCat("c", k);
    // Appends the suffix until no other column has the name.
    for (bool is_new = !is_said; given.contains(name) || (is_new && said.contains(name)); is_new = true)
      absl::StrAppend(&name, "_", k);
    given.insert(name);
    all.push_back(std::move(name));
  }
  return all;
}

}  // namespace sluice::lib
