// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/type.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib {
namespace {

void append_value(const std::string& bytes, std::string& out) { print_json_text(bytes, out); }
template <class N> void append_value(const N& number, std::string& out) { print(type_of<N>(), &number, out); }

template <class V> void append_values(const std::vector<V>& values, std::string& out) {
  if (values.size() == 1) return append_value(values[0], out);
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append_value(values[i], out);
  }
  out += ']';
}

void append_feature(const feature_values& feature, std::string& out) {
  switch (feature.kind) {
    case feature_kind::none: out += "null"; return;
    case feature_kind::bytes: return append_values(feature.bytes, out);
    case feature_kind::floats: return append_values(feature.floats, out);
    case feature_kind::int64s: return append_values(feature.int64s, out);
  }
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
  return out + "}";
}

}  // namespace sluice::lib
