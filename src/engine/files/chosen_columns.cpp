// SPDX-License-Identifier: Apache-2.0
#include "engine/files/chosen_columns.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "base/text/closest.hpp"
#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {
namespace {

class column_names_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { list_.print(&get(p), to); }
  void read(void* p, const argument& a, reading& r) const override {
    list_.read(&static_cast<column_names*>(p)->list, a, r);
  }
  std::string check(const void* p) const override {
    const std::vector<std::string>& all = get(p);
    for (auto name = all.begin(); name != all.end(); ++name)
      if (std::find(all.begin(), name, *name) != name) return " has " + *name + " twice";
    return {};
  }
  bool equal(const void* a, const void* b) const override { return get(a) == get(b); }
  /// Fingerprints omit an empty list, so that those of plans that read all columns stay valid.
  bool is_meant_when_given() const override { return true; }
  std::string type_name() const override { return "list of columns"; }

 private:
  static const std::vector<std::string>& get(const void* p) { return static_cast<const column_names*>(p)->list; }
  const detail::list_codec<std::string> list_;
};

bool is_in(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

template <> const codec& codec_of<column_names>() {
  static const column_names_codec c;
  return c;
}

const element_type* chosen_members(const element_type& all, const column_choice& c, std::string& why) {
  const std::vector<std::string>& wanted = c.columns.list;
  if (wanted.empty()) return &all;
  if (all.kind != kind::structure) return why = "columns needs structures, and reads " + all.name, nullptr;
  std::vector<member> members;
  std::vector<std::string> names;
  for (const member& m : all.members) {
    names.push_back(m.name);
    if (is_in(wanted, m.name)) members.push_back({m.name, 0, m.type});
  }
  for (const std::string& name : wanted)
    if (!is_in(names, name))
      return why = absl::StrCat("columns: no column is named ", name, detail::did_you_mean(name, names)), nullptr;
  if (members.size() == all.members.size()) return &all;
  return struct_of({}, std::move(members));
}

void choose_columns(csv_schema& schema, const column_choice& c) {
  std::string why;
  schema.row = chosen_members(*schema.row, c, why);
  std::size_t k = 0;
  for (csv_column& column : schema.columns) {
    const bool is_built = c.columns.list.empty() || is_in(c.columns.list, column.member);
    column.use = is_built ? column_use::built : c.trust.is_on() ? column_use::skipped : column_use::checked;
    if (is_built) column.offset = schema.row->members[k++].offset;
  }
}

bool narrow_choice(column_choice& c, const node& n, const std::vector<std::string>& names, bool trust,
                   std::string& why) {
  const element_type& row = n.type->kind == kind::batch ? *n.type->element : *n.type;
  if (row.kind != kind::structure) return why = "its elements are no structures", false;
  if (c.trust.is_on() && !trust && !c.columns.list.empty())
    return why = "the plan trusts its other columns, and checks those that it builds", false;
  if (c.columns.list.empty()) c.columns.all = &row;
  c.columns.list.clear();
  for (const member& m : row.members)
    if (is_in(names, m.name)) c.columns.list.push_back(m.name);
  if (trust) c.trust = true;
  return true;
}

}  // namespace sluice::lib
