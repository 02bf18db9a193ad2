// SPDX-License-Identifier: Apache-2.0
#include "format/flat_members.hpp"

#include <set>

namespace sluice::lib {
namespace {

void collect(const element_type& type, const std::string& path, std::size_t offset, std::vector<flat_member>& to) {
  for (const member& m : type.members) {
    std::string name = path.empty() ? m.name : path + "." + m.name;
    if (m.type->has_members()) collect(*m.type, name, offset + m.offset, to);
    else to.push_back({std::move(name), offset + m.offset, m.type});
  }
}

}  // namespace

result<std::vector<flat_member>> flat_members(const element_type& type) {
  std::vector<flat_member> members;
  if (!type.has_members()) members.push_back({"value", 0, &type});
  else collect(type, "", 0, members);
  std::set<std::string_view> paths;
  for (const flat_member& m : members)
    if (!paths.insert(m.path).second) return invalid_argument_error(type.name + " has two members called " + m.path);
  return members;
}

}  // namespace sluice::lib
