// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>

#include "format/example/sequence_wire.hpp"
#include "sluice/element/type.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib {
namespace {

void append_value(const std::string& bytes, std::string& out) { print_json_text(bytes, out); }
template <class N> void append_value(const N& number, std::string& out) { print(type_of<N>(), &number, out); }

template <class V> void append_list(const std::vector<V>& values, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append_value(values[i], out);
  }
  out += ']';
}

template <class V> void append_values(const std::vector<V>& values, std::string& out) {
  if (values.size() == 1) return append_value(values[0], out);
  append_list(values, out);
}

/// A step of a feature list is always a list, since other steps may have other numbers of values.
void append_step(const feature_values& step, std::string& out) {
  switch (step.kind) {
    case feature_kind::none: out += "[]"; return;
    case feature_kind::bytes: return append_list(step.bytes, out);
    case feature_kind::floats: return append_list(step.floats, out);
    case feature_kind::int64s: return append_list(step.int64s, out);
  }
}

void append_feature(const feature_values& feature, std::string& out) {
  switch (feature.kind) {
    case feature_kind::none: out += "null"; return;
    case feature_kind::bytes: return append_values(feature.bytes, out);
    case feature_kind::floats: return append_values(feature.floats, out);
    case feature_kind::int64s: return append_values(feature.int64s, out);
  }
}

/// A sink for the values of one step.
struct step_sink {
  feature_values& to;
  void begin(feature_kind kind) {
    if (to.kind == kind) return;
    to = {};
    to.kind = kind;
  }
  void bytes(std::string_view value) { to.bytes.emplace_back(value); }
  void floats(const char* raw, std::size_t count) {
    for (std::size_t i = 0; i != count; ++i)
      std::memcpy(&to.floats.emplace_back(), raw + i * sizeof(float), sizeof(float));
  }
  void int64(std::int64_t value) { to.int64s.push_back(value); }
};

/// Returns the feature lists of a tf.SequenceExample, each a list of its steps; empty if the record has none.
result<std::string> lists_to_json(std::string_view record) {
  std::map<std::string, std::string, std::less<>> lists;
  auto on_entry = [&](std::string_view entry) {
    std::string_view name;
    if (!detail::read_key(entry, name)) return false;
    std::string steps = "[";
    const bool is_sound = detail::read_steps(entry, [&](std::string_view step) {
      feature_values values;
      step_sink sink{values};
      if (!detail::read_feature(step, sink)) return false;
      if (steps.size() > 1) steps += ',';
      append_step(values, steps);
      return true;
    });
    lists[std::string(name)] = steps + "]";
    return is_sound;
  };
  if (!detail::read_sequence_example(record, [](std::string_view) {}, on_entry))
    return detail::not_a_sequence_example();
  if (lists.empty()) return std::string();
  std::string out = "{";
  for (const auto& [name, steps] : lists) {
    if (out.size() > 1) out += ',';
    print_json_name(name, out);
    out += ":" + steps;
  }
  return out + "}";
}

}  // namespace

result<std::string> example_to_json(std::string_view example) {
  auto features = read_example(example);
  if (!features.ok()) return features.why();
  std::string out = "{";
  for (auto& [name, feature] : *features) {
    if (out.size() > 1) out += ',';
    print_json_name(name, out);
    out += ':';
    append_feature(feature, out);
  }
  out += '}';
  auto lists = lists_to_json(example);
  if (!lists.ok()) return lists.why();
  if (lists->empty()) return out;
  return "{\"context\":" + out + ",\"sequence\":" + *lists + "}";
}

}  // namespace sluice::lib
