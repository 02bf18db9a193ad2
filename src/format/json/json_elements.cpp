// SPDX-License-Identifier: Apache-2.0
#include "format/json/json_elements.hpp"

#if SLUICE_HAVE_SIMDJSON

#include <absl/strings/str_cat.h>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "element/build.hpp"
#include "element/member_finder.hpp"
#include "element/scalars.hpp"
#include "format/json/json_numbers.hpp"
#include "format/json/large_numbers.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib::json {

void refuse_json(const path& at, const std::string& what) { throw error(invalid_argument_error(at.prefix() + what)); }

namespace {

[[noreturn]] void refuse_json_value(const path& at, const element_type& t, const dom& j) {
  const std::string range = is_out_of_range(j) ? range_text(t) : "";
  refuse_json(at, absl::StrCat("expected ", type_text(t), range, ", got ", shown_json(j)));
}

std::string shown_name(std::string_view name) {
  std::string out;
  print_json_text(name.substr(0, kJsonShownBytes), out);
  return name.size() > kJsonShownBytes ? out + "…" : out;
}

void make_json_text(const element_type& t, void* to, const dom& j, const path& at) {
  std::string_view text;
  if (j.get(text) == simdjson::SUCCESS) return detail::make_text(t, to, text);
  std::string bytes;
  if (!bytes_of_base64(j, bytes)) refuse_json_value(at, t, j);
  detail::make_text(t, to, bytes);
}

simdjson::dom::array items_of_json(const element_type& t, const dom& j, const path& at, std::size_t wanted) {
  simdjson::dom::array items;
  if (j.get(items) != simdjson::SUCCESS || (wanted != SIZE_MAX && items.size() != wanted)) refuse_json_value(at, t, j);
  return items;
}

using found_members = std::vector<std::pair<bool, dom>>;

/// Finds the members of an object, in the order of t's members.
found_members members_of_json(const element_type& t, const dom& j, const path& at, other_members others) {
  simdjson::dom::object fields;
  if (j.get(fields) != simdjson::SUCCESS) refuse_json_value(at, t, j);
  found_members found(t.members.size());
  member_finder members(t);
  for (const auto& field : fields) {
    const std::size_t k = members.find(field.key);
    if (field.key == kLargeNumberKey && !number_in_words(j).empty()) refuse_json_value(at, t, j);
    if (k == t.members.size() && others == other_members::passed_over) continue;
    if (k == t.members.size())
      refuse_json(at, absl::StrCat("the member ", shown_name(field.key), " is not in the schema"));
    found[k] = {true, field.value};
  }
  return found;
}

[[noreturn]] void refuse_missing(const element_type& t, std::size_t k, const path& at) {
  refuse_json(at, absl::StrCat("the member ", t.members[k].name, " is missing"));
}

void make_json_member(const element_type& t, std::size_t k, void* part, const found_members& found, const path& at,
                      other_members others) {
  const element_type& m = *t.members[k].type;
  if (found[k].first) return make_json(m, part, found[k].second, at.part(t, k), others);
  if (m.kind != kind::maybe) refuse_missing(t, k, at);
  m.collect(m, part, nullptr, 0, 0, m.element->size);
}

void make_json_structure(const element_type& t, void* to, const dom& j, const path& at, other_members others) {
  const found_members found = members_of_json(t, j, at, others);
  detail::make_members(
      t, to, [&](std::size_t k, const element_type&, void* part) { make_json_member(t, k, part, found, at, others); });
}

/// Throws the error that building the value would throw.
void check_json(const element_type& t, const dom& j, const path& at, other_members others) {
  std::string_view text;
  switch (t.kind) {
    case kind::scalar: {
      alignas(std::max_align_t) std::byte room[sizeof(std::max_align_t)];
      return make_json(t, room, j, at, others);
    }
    case kind::text:
      if (&t == &type_of<std::string>() && j.get(text) == simdjson::SUCCESS) return;
      break;
    case kind::maybe: return j.is_null() ? void() : check_json(*t.element, j, at, others);
    case kind::list: {
      std::size_t i = 0;
      for (const dom& item : items_of_json(t, j, at, SIZE_MAX)) check_json(*t.element, item, at.item(i++), others);
      return;
    }
    default: break;
  }
  detail::item_room room(t, 1);
  make_json(t, room.data(), j, at, others);
  room.set_live(1);
}

}  // namespace

void make_some_json(const element_type& built, const element_type& t, void* to, const dom& j, other_members others,
                    bool trust) {
  const path at;
  const found_members found = members_of_json(t, j, at, others);
  detail::make_some_members(
      built, t, to,
      [&](std::size_t k, const element_type&, void* part) { make_json_member(t, k, part, found, at, others); },
      [&](std::size_t k, const element_type& m) {
        if (trust) return;
        if (found[k].first) check_json(m, found[k].second, at.part(t, k), others);
        else if (m.kind != kind::maybe) refuse_missing(t, k, at);
      });
}

void make_json(const element_type& t, void* to, const dom& j, const path& at, other_members others) {
  switch (t.kind) {
    case kind::scalar:
      return detail::with_number(t, [&]<class T>(std::type_identity<T>) {
        T x{};
        if (!read_json_number(j, x)) refuse_json_value(at, t, j);
        std::memcpy(to, &x, sizeof x);
      });
    case kind::text: return make_json_text(t, to, j, at);
    case kind::maybe:
      return detail::make_list(t, to, j.is_null() ? 0 : 1,
                               [&](std::size_t, void* p) { make_json(*t.element, p, j, at, others); });
    case kind::list: {
      const auto items = items_of_json(t, j, at, SIZE_MAX);
      std::vector<dom> all(items.begin(), items.end());  // size() of a simdjson array saturates
      return detail::make_list(t, to, all.size(),
                               [&](std::size_t i, void* p) { make_json(*t.element, p, all[i], at.item(i), others); });
    }
    case kind::array: {
      auto next = items_of_json(t, j, at, t.extent).begin();
      return detail::make_items(*t.element, to, t.extent, [&](std::size_t i, void* p) {
        make_json(*t.element, p, *next, at.item(i), others);
        ++next;
      });
    }
    case kind::structure: return make_json_structure(t, to, j, at, others);
    case kind::pair:
    case kind::tuple: {
      auto next = items_of_json(t, j, at, t.members.size()).begin();
      return detail::make_members(t, to, [&](std::size_t k, const element_type& m, void* p) {
        make_json(m, p, *next, at.part(t, k), others);
        ++next;
      });
    }
    default: refuse_json(at, type_text(t) + " cannot be made of JSON");
  }
}

}  // namespace sluice::lib::json

#endif
