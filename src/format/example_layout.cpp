// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/example_layout.hpp"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

namespace sluice::lib {
namespace {

constexpr std::size_t kValuesMax = std::size_t{1} << 20;

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kSpace = " \t\r\n";
  auto first = s.find_first_not_of(kSpace);
  return first == s.npos ? std::string_view() : s.substr(first, s.find_last_not_of(kSpace) - first + 1);
}

struct described {
  feature_slot slot;
  const element_type* type = nullptr;
};

/// One value, a list or an optional of V, as `shape` says: "", "[]", "[16]", "?". False: it says none of these.
template <class V> bool describe(std::string_view shape, described& d) {
  if (shape.empty()) {
    d.type = &type_of<V>();
    detail::feature_field<V>::describe(d.slot);
  } else if (shape == "?") {
    d.type = &type_of<std::optional<V>>();
    detail::feature_field<std::optional<V>>::describe(d.slot);
  } else if (shape == "[]") {
    d.type = &type_of<std::vector<V>>();
    detail::feature_field<std::vector<V>>::describe(d.slot);
  } else {
    std::size_t count = 0;
    if (shape.front() != '[' || shape.back() != ']') return false;
    std::string_view digits = trimmed(shape.substr(1, shape.size() - 2));
    if (!absl::SimpleAtoi({digits.data(), digits.size()}, &count) || count == 0 || count > kValuesMax) return false;
    detail::complete_slot<V>(d.slot);
    d.slot.length = count;
    d.type = array_of(&type_of<V>(), count);
  }
  return true;
}

bool describe(std::string_view kind, std::string_view shape, described& d) {
  if (kind == "bytes") return describe<std::string>(shape, d);
  if (kind == "int64") return describe<std::int64_t>(shape, d);
  if (kind == "float") return describe<float>(shape, d);
  return false;
}

status read_feature(std::string_view text, described& d) {
  auto colon = text.find(':');
  d.slot.name = trimmed(text.substr(0, colon));
  if (colon == text.npos || d.slot.name.empty())
    return invalid_argument_error(
        absl::StrCat("expected a feature such as label: int64, and found \"", std::string(trimmed(text)), "\""));
  std::string_view type = trimmed(text.substr(colon + 1));
  auto end_of_kind = std::min(type.find_first_of("[?"), type.size());
  if (describe(trimmed(type.substr(0, end_of_kind)), type.substr(end_of_kind), d)) return {};
  return invalid_argument_error(absl::StrCat("feature ", d.slot.name,
                                             " is bytes, int64 or float, then nothing, [], [16] or ?; and \"",
                                             std::string(type), "\" is none of these"));
}

}  // namespace

result<example_layout> layout_of(std::string_view schema_text) {
  std::vector<member> members;
  std::vector<feature_slot> slots;
  for (absl::string_view text : absl::StrSplit(absl::string_view(schema_text.data(), schema_text.size()), ',')) {
    described d;
    status why = read_feature({text.data(), text.size()}, d);
    if (!why.ok()) return why;
    for (auto& earlier : slots)
      if (earlier.name == d.slot.name)
        return invalid_argument_error(absl::StrCat("feature ", d.slot.name, " is there twice"));
    members.push_back({d.slot.name, 0, d.type});
    slots.push_back(std::move(d.slot));
  }
  example_layout layout;
  layout.type = struct_of("example", std::move(members));
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i].offset = layout.type->members[i].offset;
  layout.schema = example_schema(std::move(slots));
  return layout;
}

std::string schema_text(const example_schema& schema) {
  std::string out;
  for (auto& slot : schema.slots()) {
    absl::StrAppend(&out, out.empty() ? "" : ", ", slot.name, ": ", std::string(to_string(slot.kind)));
    if (!slot.required) out += '?';
    else if (slot.length == feature_slot::kAny) out += "[]";
    else if (slot.length != 1) absl::StrAppend(&out, "[", slot.length, "]");
  }
  return out;
}

}  // namespace sluice::lib
