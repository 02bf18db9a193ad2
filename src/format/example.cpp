// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/example.hpp"

#include <absl/container/inlined_vector.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "format/example_wire.hpp"

namespace sluice::lib {
namespace {

/// A record has seldom more features; the order of those behind is not learned, so that a forged one costs no memory.
constexpr std::size_t kLearnedMax = 1024;

/// What has been found of a slot's feature so far.
struct found_feature {
  feature_kind kind = feature_kind::none;
  std::size_t count = 0;
};

/// Puts the values of one entry into their field.
class field_sink {
 public:
  field_sink(const feature_slot& slot, void* field, buffer* owner, found_feature& found)
      : slot_(slot), field_(field), owner_(owner), found_(found) {}

  void begin(feature_kind kind) {
    if (found_.kind != kind) found_ = {kind, 0};
    wanted_ = kind == slot_.kind;
  }
  void bytes(std::string_view value) {
    std::size_t i = found_.count++;
    if (!wanted_ || i >= slot_.length) return;  // counted all the same: the error says how many there were
    slot_.store(slot_.resize ? slot_.resize(field_, i + 1) : field_, i, value, owner_);
  }
  void floats(const char* raw, std::size_t count) {
    std::size_t i = found_.count;
    found_.count += count;
    if (!wanted_ || i >= slot_.length) return;
    count = std::min(count, slot_.length - i);
    void* to = slot_.resize ? slot_.resize(field_, i + count) : field_;
    if (count > 0) std::memcpy(static_cast<float*>(to) + i, raw, count * sizeof(float));
  }
  void int64(std::int64_t value) {
    std::size_t i = found_.count++;
    if (!wanted_ || i >= slot_.length) return;
    void* to = slot_.resize ? slot_.resize(field_, i + 1) : field_;
    static_cast<std::int64_t*>(to)[i] = value;
  }

 private:
  const feature_slot& slot_;
  void* field_;
  buffer* owner_;
  found_feature& found_;
  bool wanted_ = false;
};

status check_found(const feature_slot& slot, const found_feature& found) {
  auto wrong = [&](const auto&... words) {
    return invalid_argument_error(absl::StrCat("feature \"", slot.name, "\" ", words...));
  };
  if (found.kind == feature_kind::none) return slot.required ? wrong("is missing") : status();
  if (found.kind != slot.kind)
    return wrong("holds ", std::string(to_string(found.kind)), " values, expected ", std::string(to_string(slot.kind)));
  if (slot.length != feature_slot::kAny && found.count != slot.length)
    return wrong("has ", found.count, found.count == 1 ? " value" : " values", ", expected ", slot.length);
  return {};
}

status not_an_example() { return data_loss_error("the bytes are no tf.Example: its wire format is damaged"); }

/// Collects the values of one entry, whatever they are.
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

feature_key::feature_key(std::string_view name) noexcept : size_(name.size()) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (size_ < kWord) {
    if (size_) std::memcpy(&front_, name.data(), size_);
  } else {
    std::memcpy(&front_, name.data(), kWord);
    std::memcpy(&back_, name.data() + size_ - kWord, kWord);
  }
}

example_schema::example_schema(std::vector<feature_slot> slots) : slots_(std::move(slots)) {
  for (const feature_slot& slot : slots_) keys_.emplace_back(slot.name);
}

std::size_t example_schema::find(std::string_view name, const feature_key& key) const noexcept {
  for (std::size_t i = 0; i != slots_.size(); ++i)
    if (keys_[i] == key && (!key.is_long() || slots_[i].name == name)) return i;
  return slots_.size();
}

status example_schema::parse(std::string_view example, void* to, buffer* owner) const {
  return example_parser(*this).parse(example, to, owner);
}

std::size_t example_parser::slot_of(std::string_view name, std::size_t position) {
  const std::size_t none = schema_.slots_.size();
  const feature_key key(name);
  if (position < order_.size() && order_[position].key == key) {
    const std::size_t slot = order_[position].slot;
    if (!key.is_long() || (slot != none && schema_.slots_[slot].name == name)) return slot;
  }
  const std::size_t slot = schema_.find(name, key);
  if (position < kLearnedMax) {
    if (position >= order_.size()) order_.resize(position + 1);
    order_[position] = {key, slot};
  }
  return slot;
}

status example_parser::parse(std::string_view example, void* to, buffer* owner) {
  const std::vector<feature_slot>& slots = schema_.slots_;
  absl::InlinedVector<found_feature, 16> found(slots.size());
  std::size_t position = 0;
  auto on_entry = [&](std::string_view bytes) {
    detail::map_entry entry;
    if (!detail::read_entry(bytes, entry)) return false;
    const std::size_t i = slot_of(entry.key, position++);
    if (i == slots.size()) return true;
    found[i] = {};  // the last entry of a key counts
    field_sink sink(slots[i], static_cast<char*>(to) + slots[i].offset, owner, found[i]);
    return detail::read_entry_values(bytes, entry, sink);
  };
  if (!detail::read_example(example, on_entry)) return not_an_example();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const feature_slot& slot = slots[i];
    status why = check_found(slot, found[i]);
    if (!why.ok()) return why;
    // What an earlier entry of the key, or the struct itself, had more goes.
    if (slot.resize) slot.resize(static_cast<char*>(to) + slot.offset, found[i].count);
  }
  return {};
}

result<std::map<std::string, feature_values, std::less<>>> read_example(std::string_view example) {
  std::map<std::string, feature_values, std::less<>> features;
  auto on_entry = [&](std::string_view bytes) {
    detail::map_entry entry;
    if (!detail::read_entry(bytes, entry)) return false;
    feature_values& values = features[std::string(entry.key)];
    values = {};
    values_sink sink{values};
    return detail::read_entry_values(bytes, entry, sink);
  };
  if (!detail::read_example(example, on_entry)) return not_an_example();
  return features;
}

}  // namespace sluice::lib
