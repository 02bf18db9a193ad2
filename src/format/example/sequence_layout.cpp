// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/sequence_layout.hpp"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <memory>

#include "element/text/scan_text.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kStepValuesMax = std::size_t{1} << 20;

/// Resizes a list of arrays, whose length is known at run time only.
void* resize_by_type(const sequence_slot& slot, void* field, std::size_t steps) {
  const element_type &list = *slot.list, &step = *list.element;
  std::size_t there = 0;
  void* first = const_cast<void*>(list.items(list, field, there));
  if (there == steps) return first;
  std::unique_ptr<char[]> empty(new char[step.size]);  // numbers or strings: as aligned as new makes it
  step.construct(step, empty.get(), 1, step.size);
  auto destroy = [&](char* p) { step.destroy(step, p, 1); };
  std::unique_ptr<char, decltype(destroy)> made(empty.get(), destroy);
  alignas(std::vector<std::string>) char room[sizeof(std::vector<std::string>)];
  list.collect(list, room, empty.get(), steps, steps, 0);  // an empty step that was moved from is still an empty step
  list.destroy(list, field, 1);
  list.relocate(list, field, room, 1, list.size, list.size);
  return const_cast<void*>(list.items(list, field, there));
}

struct described_list {
  sequence_slot slot;
  const element_type* type = nullptr;
};

/// Parses "", "[]" or "[16]". Returns false for any other text.
template <class V> bool describe_list(std::string_view shape, described_list& d) {
  if (shape.empty()) {
    detail::sequence_field<std::vector<V>>::describe(d.slot);
    d.type = &type_of<std::vector<V>>();
    return true;
  }
  if (shape.front() != '[' || shape.back() != ']') return false;
  const absl::string_view count = absl::StripAsciiWhitespace({shape.data() + 1, shape.size() - 2});
  if (count.empty()) {
    detail::sequence_field<std::vector<std::vector<V>>>::describe(d.slot);
    d.type = &type_of<std::vector<std::vector<V>>>();
    return true;
  }
  if (!absl::SimpleAtoi(count, &d.slot.length) || d.slot.length == 0 || d.slot.length > kStepValuesMax) return false;
  const element_type* step = array_of(&type_of<V>(), d.slot.length);
  detail::complete_step<V>(d.slot);
  d.slot.is_array = true;
  d.slot.step_bytes = step->size;
  d.slot.resize = resize_by_type;
  d.slot.list = d.type = list_of(step);
  return d.type != nullptr;
}

bool describe_list(std::string_view written, std::string_view shape, described_list& d) {
  const std::string_view kind = detail::usual_type_name(written);
  if (kind == "string") return describe_list<std::string>(shape, d);
  if (kind == "int64") return describe_list<std::int64_t>(shape, d);
  if (kind == "float") return describe_list<float>(shape, d);
  return false;
}

absl::string_view stripped(absl::string_view text) { return absl::StripAsciiWhitespace(text); }
std::string_view standard(absl::string_view text) { return {text.data(), text.size()}; }

status read_described(absl::string_view text, described_list& d) {
  const auto colon = text.find(':');
  d.slot.name = std::string(stripped(text.substr(0, colon)));
  if (colon == text.npos || d.slot.name.empty())
    return invalid_argument_error(
        absl::StrCat("expected a feature list such as label: int64, and found \"", stripped(text), "\""));
  const absl::string_view said = stripped(text.substr(colon + 1));
  absl::string_view type = said;
  d.slot.required = !absl::ConsumeSuffix(&type, "?");
  type = stripped(type);
  const auto end_of_kind = std::min(type.find('['), type.size());
  if (describe_list(standard(stripped(type.substr(0, end_of_kind))), standard(type.substr(end_of_kind)), d)) return {};
  return invalid_argument_error(absl::StrCat(
      "feature list ", d.slot.name,
      ": expected bytes, int64 or float, then nothing, [] or [16], then ? if it may be missing, and found \"", said,
      "\""));
}

}  // namespace

result<sequence_layout> sequence_layout_of(std::string_view sequence_text) {
  const absl::string_view all = stripped({sequence_text.data(), sequence_text.size()});
  std::vector<member> members;
  std::vector<sequence_slot> slots;
  absl::flat_hash_set<std::string> names;
  if (!all.empty()) {
    for (absl::string_view text : absl::StrSplit(all, ',')) {
      described_list d;
      if (status why = read_described(text, d); !why.ok()) return why;
      if (!names.insert(d.slot.name).second)
        return invalid_argument_error(absl::StrCat("feature list ", d.slot.name, " appears twice"));
      members.push_back({d.slot.name, 0, d.type});
      slots.push_back(std::move(d.slot));
    }
  }
  sequence_layout layout;
  layout.type = struct_of("sequence", std::move(members));
  for (std::size_t i = 0; i != slots.size(); ++i) slots[i].offset = layout.type->members[i].offset;
  layout.schema = sequence_schema(std::move(slots));
  return layout;
}

std::string sequence_text(const sequence_schema& schema) {
  std::string out;
  for (auto& slot : schema.slots()) {
    absl::StrAppend(&out, out.empty() ? "" : ", ", slot.name, ": ", std::string(to_string(slot.kind)));
    if (slot.length == sequence_slot::kAny) out += "[]";
    else if (slot.is_array) absl::StrAppend(&out, "[", slot.length, "]");
    if (!slot.required) out += '?';
  }
  return out;
}

}  // namespace sluice::lib
