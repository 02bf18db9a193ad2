// SPDX-License-Identifier: Apache-2.0
// Schemas as text, and structures made from them: a schema reads back, and parsing into one agrees with the map.
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <memory>

#include "fuzz/target.hpp"
#include "sluice/format/example.hpp"
#include "sluice/format/example_layout.hpp"

namespace sluice::lib::fuzz {
namespace {

/// A few schemas of two features: what is made from a schema lives for ever, so there must not be millions.
std::string schema_of(input& in) {
  static constexpr std::string_view kNames[] = {"a", "b", "image/encoded"};
  static constexpr std::string_view kKinds[] = {"bytes", "int64", "float", "none"};
  static constexpr std::string_view kShapes[] = {"",   "?",     "[]",    "[1]", " [ 2 ] ", "[16]",    "[0]",
                                                 "[x", "[2,2]", "[?,3]", "[]?", "[2]?",    "[] = []", "[2,1] = 'd'"};
  std::string text;
  for (int i = 0; i != 2; ++i) {
    auto b = in.byte(), c = in.byte();
    if (i != 0 && c & 0x80) break;
    text += i != 0 ? ", " : "";
    text += kNames[b % 3];
    text += ":";
    text += kKinds[b / 3 % 16 == 0 ? 3 : b / 3 % 3];
    text += kShapes[c & 0x20 ? 8 + c % 6 : c % (c & 0x40 ? 8 : 6)];
  }
  return text;
}

/// Room for one structure of a type, constructed.
class object {
 public:
  explicit object(const element_type& t) : type_(t), room_(std::aligned_alloc(t.align, rounded(t))) {
    type_.construct(type_, room_, 1, type_.size);
  }
  object(const object&) = delete;
  ~object() {
    type_.destroy(type_, room_, 1);
    std::free(room_);
  }
  void* at() const { return room_; }
  std::string json() const {
    std::string out;
    print(type_, room_, out);
    return out;
  }

 private:
  static std::size_t rounded(const element_type& t) { return (t.size + t.align - 1) / t.align * t.align; }
  const element_type& type_;
  void* room_;
};

bool fits(const feature_slot& slot, const feature_values& v) {
  if (v.kind == feature_kind::none) return !slot.required;
  return v.kind == slot.kind && slot.takes(v.size());
}

nlohmann::json flattened(const nlohmann::json& nested) {
  nlohmann::json flat = nlohmann::json::array();
  for (auto& v : nested) {
    if (!v.is_array()) flat.push_back(v);
    else
      for (auto& inner : flattened(v)) flat.push_back(inner);
  }
  return flat;
}

/// The structure's JSON has, for each feature that is there, the same values as the example's.
void compare(const example_layout& layout, const std::string& ours, std::string_view bytes) {
  auto all = nlohmann::json::parse(*example_to_json(bytes)), some = nlohmann::json::parse(ours);
  expect(some.size() == layout.schema.slots().size(), "the structure has other members");
  for (auto& slot : layout.schema.slots()) {
    auto value = some[slot.name];
    if (slot.form == field_form::tensor) value = flattened(value);
    if (slot.length != 1 && value.is_array() && value.size() == 1) value = nlohmann::json(value[0]);
    if (slot.length == 1 && value.is_array()) value = nlohmann::json(value[0]);  // [1] is an array of one
    auto want = all.contains(slot.name) ? all[slot.name] : nlohmann::json();
    if (slot.otherwise && want.is_null()) continue;  // a default
    expect(value == want, "a member is " + value.dump() + ", and the feature " + want.dump());
  }
}

}  // namespace

void example_layout(std::string_view bytes) {
  input in(bytes);
  auto layout = layout_of(schema_of(in));
  if (!layout.ok()) {
    expect(layout.why().code() == status_code::invalid_argument, layout.why().to_string());
    return;
  }
  auto again = layout_of(schema_text(layout->schema));
  expect(again.ok() && again->schema.slots().size() == layout->schema.slots().size(), "a schema does not read back");
  std::string_view wire = in.rest();
  object o(*layout->type);
  status why = layout->schema.parse(wire, o.at());
  auto features = read_example(wire);
  std::string shown = o.json();  // also after an error its fields are valid
  if (!features.ok())
    return;  // features nobody asks for are passed over unread, so this may be an example all the same
  bool all_fit = true;
  for (auto& slot : layout->schema.slots()) {
    auto found = features->find(slot.name);
    all_fit = all_fit && fits(slot, found == features->end() ? feature_values() : found->second);
  }
  expect(why.ok() == all_fit, "parsing into a structure: " + why.to_string());
  if (all_fit) compare(*layout, shown, wire);
}

}  // namespace sluice::lib::fuzz
