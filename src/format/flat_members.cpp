// SPDX-License-Identifier: Apache-2.0
#include "format/flat_members.hpp"

#include <set>

namespace sluice::lib {
namespace {

void collect(const element_type& type, const flat_member& around, std::vector<flat_member>& to) {
  for (const member& m : type.members) {
    flat_member here = around;
    here.path = around.path.empty() ? m.name : around.path + "." + m.name;
    here.offset += m.offset;
    here.type = m.type;
    if (m.type->kind == kind::maybe && m.type->element->has_members()) {
      here.optionals.push_back({here.offset, m.type});
      here.offset = 0;
      collect(*m.type->element, here, to);
    } else if (m.type->has_members()) {
      collect(*m.type, here, to);
    } else {
      to.push_back(std::move(here));
    }
  }
}

}  // namespace

const void* flat_member::in(const void* element) const {
  for (const optional& o : optionals) {
    std::size_t n = 0;
    element = o.type->items(*o.type, static_cast<const char*>(element) + o.offset, n);
    if (n == 0) return nullptr;
  }
  return static_cast<const char*>(element) + offset;
}

result<std::vector<flat_member>> flat_members(const element_type& type) {
  std::vector<flat_member> members;
  if (type.has_members()) {
    collect(type, {}, members);
  } else {
    flat_member& value = members.emplace_back();
    value.path = "value";
    value.type = &type;
  }
  std::set<std::string_view> paths;
  for (const flat_member& m : members)
    if (!paths.insert(m.path).second) return invalid_argument_error(type.name + " has two members called " + m.path);
  return members;
}

}  // namespace sluice::lib
