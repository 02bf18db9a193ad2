// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/example_layout.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <absl/strings/str_cat.h>

#include "element/text/scan_text.hpp"
#include "format/example/schema_reader.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {
namespace {

// --- Fields that only the schema's text describes ---

/// Describes V, a list of V, or an array of V whose type has a fixed length.
template <class V> void describe_as(feature_slot& slot) {
  if (slot.form == field_form::list) detail::feature_field<std::vector<V>>::describe(slot);
  else detail::complete_slot<V>(slot);
}
/// Describes an array without its functions.
template <class V> void describe_optional_as(feature_slot& slot) {
  if (slot.form == field_form::list) detail::feature_field<std::optional<std::vector<V>>>::describe(slot);
  else if (slot.form == field_form::single) detail::feature_field<std::optional<V>>::describe(slot);
  else detail::complete_slot<V>(slot);
}

/// Resets an optional array, whose length is known at run time only.
void reset_by_type(const feature_slot& slot, void* field) {
  const element_type& t = *slot.type;
  t.destroy(t, field, 1);
  t.construct(t, field, 1, t.size);
}
void* array_by_type(const feature_slot& slot, void* field, std::size_t) {
  const element_type &t = *slot.type, &array = *t.element;
  std::size_t n = 0;
  if (const void* there = t.items(t, field, n)) return const_cast<void*>(there);
  std::unique_ptr<char[]> room(new char[array.size]);  // of int64, float or strings: as aligned as new makes it
  array.construct(array, room.get(), 1, array.size);
  t.destroy(t, field, 1);
  t.collect(t, field, room.get(), 1, 1, array.size);
  array.destroy(array, room.get(), 1);
  return const_cast<void*>(t.items(t, field, n));
}

template <class F> auto with_value_type(feature_kind kind, F f) {
  switch (kind) {
    case feature_kind::floats: return f(std::type_identity<float>());
    case feature_kind::int64s: return f(std::type_identity<std::int64_t>());
    default: return f(std::type_identity<std::string>());
  }
}

// --- Members ---

/// Describes the member's type and how values are stored in it.
const element_type* describe_field(feature_slot& slot) {
  if (slot.form == field_form::tensor) return &type_of<tensor>();
  if (slot.form == field_form::sparse) return &type_of<sparse_tensor>();
  if (slot.form == field_form::ragged) return &type_of<ragged_tensor>();
  return with_value_type(slot.kind, [&]<class V>(std::type_identity<V>) -> const element_type* {
    const bool is_required = slot.required;
    if (slot.is_optional) describe_optional_as<V>(slot);
    else describe_as<V>(slot);
    slot.required = is_required;
    if (slot.form == field_form::single) return slot.is_optional ? &type_of<std::optional<V>>() : &type_of<V>();
    if (slot.form == field_form::list)
      return slot.is_optional ? &type_of<std::optional<std::vector<V>>>() : &type_of<std::vector<V>>();
    const element_type* array = array_of(&type_of<V>(), slot.length);
    if (!slot.is_optional) return array;
    slot.resize = array_by_type;
    slot.reset = reset_by_type;
    return slot.type = maybe_of(array);
  });
}

// --- Writing ---

void write_value(const std::string& v, std::string& out) { detail::append_single_quoted(v, out); }
template <class T> void write_value(T v, std::string& out) {
  char room[32];
  out.append(room, std::to_chars(room, room + sizeof room, v).ptr);
}

template <class List> void write_default(const feature_slot& slot, const List& list, std::string& out) {
  const bool is_single = slot.length != feature_slot::kAny &&
                         std::all_of(list.begin(), list.end(), [&](const auto& v) { return v == list[0]; });
  if (is_single) return write_value(list[0], out);
  out += '[';
  for (const auto& v : list) {
    if (&v != list.data()) out += ", ";
    write_value(v, out);
  }
  out += ']';
}

void append_shape(const feature_slot& slot, std::string& out) {
  if (!slot.shape.empty()) {
    for (std::size_t k = 0; k != slot.shape.size(); ++k)
      absl::StrAppend(&out, k == 0 ? "[" : ",", slot.shape[k] < 0 ? "?" : std::to_string(slot.shape[k]));
    out += ']';
  } else if (slot.form == field_form::list) {
    out += "[]";
  } else if (slot.form == field_form::array) {
    absl::StrAppend(&out, "[", slot.length, "]");
  }
}

void append_parts(const feature_slot& slot, std::string& out) {
  static constexpr std::string_view kNames[] = {"",           "row_splits",   "row_lengths", "row_starts",
                                                "row_limits", "value_rowids", "uniform"};
  out += slot.form == field_form::sparse ? " = sparse(" : " = ragged(";
  detail::append_single_quoted(slot.name, out);
  for (const feature_part& part : slot.parts) {
    out += ", ";
    const bool is_call = part.meaning != feature_part::means::index;
    if (is_call) out.append(kNames[static_cast<std::size_t>(part.meaning)]) += '(';
    if (part.meaning == feature_part::means::uniform) absl::StrAppend(&out, part.length);
    else detail::append_single_quoted(part.name, out);
    if (is_call) out += ')';
  }
  out += ')';
}

/// Returns the type of a feature, without its name and its default: "float[28,28]".
std::string type_of_feature(const feature_slot& slot) {
  std::string out(to_string(slot.kind));
  append_shape(slot, out);
  if (slot.is_optional) out += '?';
  return out;
}

// --- A structure of the program, with a schema's text ---

std::string example_of(const feature_slot& slot) {
  switch (slot.form) {
    case field_form::sparse: return slot.member_name() + " = sparse('values', 'indices'): float[1000]";
    case field_form::ragged: return slot.member_name() + " = ragged('values', row_splits('splits')): float";
    default: return slot.member_name() + ": float[28,28]";
  }
}

/// Returns true if only the text, and no C++ type, determines the feature's values and shape.
bool is_said_by_text(const feature_slot& slot) {
  return slot.form == field_form::tensor || slot.form == field_form::sparse || slot.form == field_form::ragged;
}

bool is_same_field(const feature_slot& a, const feature_slot& b) {
  if (a.form != b.form) return false;
  return is_said_by_text(a) || (a.kind == b.kind && a.length == b.length && a.is_optional == b.is_optional);
}

std::string name_of_field(const feature_slot& slot) {
  switch (slot.form) {
    case field_form::tensor: return "a tensor";
    case field_form::sparse: return "a sparse_tensor";
    case field_form::ragged: return "a ragged_tensor";
    default: return type_of_feature(slot);
  }
}

/// Copies the text's description of a member into its slot.
void say(const detail::written_feature& f, feature_slot& slot) {
  const feature_slot& said = f.slot;
  if (!is_same_field(said, slot))
    detail::fail_in_schema(f.at, absl::StrCat("member ", said.member_name(), ": the schema says ",
                                              said.parts.empty() ? type_of_feature(said) : name_of_field(said),
                                              ", and the structure has ", name_of_field(slot)));
  slot.member = said.member_name() == said.name ? "" : said.member_name();
  slot.name = said.name;
  slot.required = said.required;
  slot.otherwise = said.otherwise;
  if (!is_said_by_text(slot)) return;
  slot.parts = said.parts;
  slot.kind = said.kind;
  slot.shape = said.shape;
  slot.length = said.length;
  slot.each = said.each;
}

}  // namespace

result<example_layout> layout_of(std::string_view schema_text) {
  try {
    std::vector<member> members;
    std::vector<feature_slot> slots;
    for (detail::written_feature& f : detail::read_schema(schema_text)) {
      members.push_back({f.slot.member_name(), 0, describe_field(f.slot)});
      slots.push_back(std::move(f.slot));
    }
    example_layout layout;
    layout.type = struct_of("example", std::move(members));
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i].offset = layout.type->members[i].offset;
    layout.schema = example_schema(std::move(slots));
    return layout;
  } catch (const error& e) { return e.why(); }
}

result<example_schema> schema_of(const element_type& type, const example_schema& own, std::string_view schema_text) {
  try {
    std::vector<feature_slot> slots = own.slots();  // the structure's own slots, without parts
    for (const detail::written_feature& f : detail::read_schema(schema_text)) {
      auto named = std::find_if(slots.begin(), slots.end(), [&](const feature_slot& s) {
        return own.slots()[static_cast<std::size_t>(&s - slots.data())].member_name() == f.slot.member_name();
      });
      if (named == slots.end())
        detail::fail_in_schema(f.at, absl::StrCat(type.name, " has no member ", f.slot.member_name()));
      say(f, *named);
    }
    for (const feature_slot& slot : slots) {
      if (is_said_by_text(slot) && slot.kind == feature_kind::none)
        return invalid_argument_error(absl::StrCat("member ", slot.member_name(), " is ", name_of_field(slot),
                                                   ", and the schema does not say of what: ", example_of(slot)));
      for (const feature_slot& other : slots)
        if (&other != &slot && other.name == slot.name)
          return invalid_argument_error(absl::StrCat("feature ", slot.name, " is of the members ", slot.member_name(),
                                                     " and ", other.member_name()));
    }
    return example_schema(std::move(slots));
  } catch (const error& e) { return e.why(); }
}

std::string schema_text(const example_schema& schema) {
  std::string out;
  for (const feature_slot& slot : std::span(schema.slots()).first(schema.members())) {
    if (!out.empty()) out += ", ";
    detail::append_feature_name(slot.member_name(), out);
    if (!slot.parts.empty()) {
      append_parts(slot, out);
    } else if (!slot.member.empty()) {
      out += " = ";
      detail::append_single_quoted(slot.name, out);
    }
    absl::StrAppend(&out, ": ", type_of_feature(slot));
    if (!slot.otherwise) continue;
    out += " = ";
    detail::with_list(*slot.otherwise, slot.kind, [&](const auto& list) { write_default(slot, list, out); });
  }
  return out;
}

}  // namespace sluice::lib
