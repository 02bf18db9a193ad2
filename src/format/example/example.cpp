// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/example.hpp"

#include <algorithm>

#include <absl/container/flat_hash_map.h>

#include "format/example/example_wire.hpp"
#include "format/example/feature_table.hpp"
#include "sluice/format/example_parser.hpp"

namespace sluice::lib {
namespace {

/// Collects the values of one entry of any kind.
struct values_sink {
  feature_values& to;
  void begin(feature_kind kind) {
    if (to.kind == kind) return;
    to = {};
    to.kind = kind;
  }
  void bytes(std::string_view value) { to.bytes.emplace_back(value); }
  void floats(const char* raw, std::size_t count) {
    if (count == 0) return;
    std::size_t i = to.floats.size();
    to.floats.resize(i + count);
    std::memcpy(to.floats.data() + i, raw, count * sizeof(float));
  }
  void int64(std::int64_t value) { to.int64s.push_back(value); }
};

}  // namespace

std::string_view to_string(feature_kind kind) {
  switch (kind) {
    case feature_kind::none: return "nothing";
    case feature_kind::bytes: return "bytes";
    case feature_kind::floats: return "float";
    case feature_kind::int64s: return "int64";
  }
  return "nothing";
}

example_schema::example_schema(const example_schema& other) = default;
example_schema::example_schema(example_schema&& other) noexcept = default;
example_schema& example_schema::operator=(const example_schema& other) = default;
example_schema& example_schema::operator=(example_schema&& other) noexcept = default;
example_schema::~example_schema() = default;

std::size_t feature_values::size() const noexcept { return bytes.size() + floats.size() + int64s.size(); }

detail::slot_list::slot_list() = default;
detail::slot_list::~slot_list() = default;
std::size_t detail::slot_list::size() const noexcept { return slots_.size(); }
feature_slot& detail::slot_list::add(std::string_view name, std::size_t offset) {
  feature_slot& slot = slots_.emplace_back();
  slot.name = name;
  slot.offset = offset;
  return slot;
}
example_schema detail::slot_list::made() { return example_schema(std::move(slots_)); }

example_schema::example_schema(std::vector<feature_slot> slots) : slots_(std::move(slots)), members_(slots_.size()) {
  absl::flat_hash_map<std::string, std::size_t> by_name;
  const bool any_parts = std::ranges::any_of(slots_, [](const feature_slot& s) { return !s.parts.empty(); });
  for (std::size_t i = 0; any_parts && i != members_; ++i) by_name.try_emplace(slots_[i].name, i);
  for (std::size_t i = 0; i != members_; ++i)
    for (std::size_t k = 0; k != slots_[i].parts.size(); ++k) {
      has_parts_ = true;
      std::string name = slots_[i].parts[k].name;
      if (name.empty()) continue;
      const auto [at, is_new] = by_name.try_emplace(name, slots_.size());
      const std::size_t slot = slots_[i].parts[k].slot = at->second;
      if (is_new) {
        feature_slot part{.name = std::move(name)};
        part.kind = feature_kind::int64s;
        part.length = feature_slot::kAny;
        part.required = false;
        slots_.push_back(std::move(part));
      } else if (slots_[slot].kind != feature_kind::int64s) {
        throw error(invalid_argument_error("feature " + name + " says where values stand, and is of " +
                                           std::string(to_string(slots_[slot].kind)) + " for the member " +
                                           slots_[slot].member_name()));
      }
    }
  std::size_t child = 0;
  for (std::size_t i = 0; i != members_; ++i)
    if (slots_[i].is_built) slots_[i].child = child++;
  for (const feature_slot& slot : slots_) keys_.emplace_back(slot.name);
  table_ = detail::feature_table_of(slots_);
}

std::size_t example_schema::find(std::string_view name, const feature_key& key) const noexcept {
  return detail::find_feature(slots_, keys_, table_, name, key);
}

status example_schema::parse(std::string_view example, void* to, buffer* owner) const {
  return example_parser(*this).parse(example, to, owner);
}

result<std::map<std::string, feature_values, std::less<>>> read_example(std::string_view example) {
  std::map<std::string, feature_values, std::less<>> features;
  auto on_entry = [&](std::string_view bytes) {
    std::string_view key;
    if (!detail::read_key(bytes, key)) return false;
    feature_values& values = features[std::string(key)];
    values = {};
    values_sink sink{values};
    return detail::read_entry_values(bytes, sink);
  };
  if (!detail::read_example(example, on_entry)) return detail::not_an_example();
  return features;
}

}  // namespace sluice::lib
