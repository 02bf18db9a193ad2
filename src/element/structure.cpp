// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/structure.hpp"

#include "absl/strings/str_cat.h"
#include "element/build.hpp"
#include "element/path.hpp"

namespace sluice::lib {

namespace {

using detail::path;

/// Calls leaf(type, offset, path) for each leaf in order, until a call returns false.
template <class F> bool each_leaf(const element_type& t, std::size_t offset, const path& at, F& leaf) {
  if (!t.has_members()) return leaf(t, offset, at);
  for (std::size_t k = 0; k != t.members.size(); ++k)
    if (!each_leaf(*t.members[k].type, offset + t.members[k].offset, at.part(t, k), leaf)) return false;
  return true;
}

std::size_t leaf_count(const element_type& t) {
  if (!t.has_members()) return 1;
  std::size_t n = 0;
  for (auto& m : t.members) n += leaf_count(*m.type);
  return n;
}

void make_packed(const element_type& t, void* to, std::vector<value>& leaves, std::size_t& next, const path& at) {
  if (t.has_members()) {
    detail::make_members(t, to, [&, &at = at](std::size_t k, const element_type& m, void* part) {
      make_packed(m, part, leaves, next, at.part(t, k));
    });
    return detail::check_made(t, to);
  }
  value& leaf = leaves[next++];
  if (!leaf.has_value() || !is_same_type(leaf.type(), t))
    throw error(invalid_argument_error(absl::StrCat(at.prefix(), "expected ", type_text(t), ", got ",
                                                    leaf.has_value() ? type_text(leaf.type()) : "no value")));
  value_room::move_out(leaf, to);
}

}  // namespace

std::vector<std::string> leaf_paths(const element_type& t) {
  std::vector<std::string> paths;
  auto add = [&](const element_type&, std::size_t, const path& at) { return paths.push_back(at.text()), true; };
  each_leaf(t, 0, {}, add);
  return paths;
}

std::vector<value> flatten(const element_type& t, const void* p) {
  std::vector<value> leaves;
  auto add = [&](const element_type& leaf, std::size_t offset, const path&) {
    leaves.push_back(value::copy_of(leaf, static_cast<const char*>(p) + offset));
    return true;
  };
  each_leaf(t, 0, {}, add);
  return leaves;
}

std::vector<value> flatten(const value& v) {
  return v.has_value() ? flatten(v.type(), v.data()) : std::vector<value>();
}

result<value> pack(const element_type& t, std::vector<value> leaves) {
  try {
    if (leaves.size() != leaf_count(t))
      return invalid_argument_error(absl::StrCat(type_text(t), " has ", leaf_count(t), " leaves, got ", leaves.size()));
    std::size_t next = 0;
    return value_room::make(t, [&](void* to) { make_packed(t, to, leaves, next, {}); });
  } catch (...) { return current_exception_status(); }
}

std::optional<std::string> first_difference(const element_type& t, const void* a, const void* b) {
  std::optional<std::string> found;
  auto differ = [&](const element_type& leaf, std::size_t offset, const path& at) {
    if (compare(leaf, static_cast<const char*>(a) + offset, static_cast<const char*>(b) + offset) == 0) return true;
    found = at.text();
    return false;
  };
  each_leaf(t, 0, {}, differ);
  return found;
}

}  // namespace sluice::lib
