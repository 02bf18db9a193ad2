// SPDX-License-Identifier: Apache-2.0
// The JSON of a tf.Example, read by another JSON reader, says what protobuf says.
#include <nlohmann/json.hpp>

#include <cmath>

#include "absl/strings/escaping.h"
#include "fuzz/protobuf_examples.hpp"
#include "fuzz/target.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib::fuzz {
namespace {

using json = nlohmann::json;

std::string decoded(const std::string& base64) {
  std::string bytes;
  expect(absl::Base64Unescape(base64, &bytes), "this is no base64: " + base64);
  return bytes;
}

std::string name_of(const std::string& key) { return key.starts_with("base64:") ? decoded(key.substr(7)) : key; }

std::string bytes_of(const json& j) {
  if (j.is_string()) return j.get<std::string>();
  expect(j.is_object() && j.size() == 1 && j.contains("base64"), "bytes are " + j.dump());
  auto bytes = decoded(j["base64"].get<std::string>());
  expect(!is_utf8(bytes), "a text went as base64");
  return bytes;
}

bool is_float(const json& j, float want) {
  if (std::isnan(want)) return j == "NaN";
  if (std::isinf(want)) return j == (want > 0 ? "Infinity" : "-Infinity");
  return j.is_number() && j.get<float>() == want;
}

bool is_value(const json& j, const feature_values& want, std::size_t i) {
  switch (want.kind) {
    case feature_kind::bytes: return bytes_of(j) == want.bytes[i];
    case feature_kind::floats: return is_float(j, want.floats[i]);
    case feature_kind::int64s: return j.is_number_integer() && j.get<std::int64_t>() == want.int64s[i];
    case feature_kind::none: break;
  }
  return false;
}

bool is_feature(const json& j, const feature_values& want) {
  if (want.kind == feature_kind::none) return j.is_null();
  std::size_t count = want.bytes.size() + want.floats.size() + want.int64s.size();
  if (count == 1) return is_value(j, want, 0);
  if (!j.is_array() || j.size() != count) return false;
  for (std::size_t i = 0; i != count; ++i)
    if (!is_value(j[i], want, i)) return false;
  return true;
}

}  // namespace

void example_json(std::string_view bytes) {
  auto text = example_to_json(bytes);
  auto want = read_by_protobuf(bytes);
  // The second field, which Example does not know, has the lists of a SequenceExample.
  auto with_lists = read_sequence_by_protobuf(bytes);
  const bool is_example = want.has_value() && with_lists.has_value();
  if (have_protobuf()) expect(text.ok() == is_example, "JSON and protobuf disagree whether this is an example");
  if (!text.ok()) return;
  expect(text->find('\n') == text->npos, "the JSON has more than one line");
  auto j = json::parse(*text, nullptr, false);
  expect(j.is_object(), "this is no JSON: " + *text);
  if (!want || !with_lists || !with_lists->lists.empty()) return;
  expect(j.size() == want->size(), "there are other features");
  for (auto& [key, value] : j.items()) {
    auto feature = want->find(name_of(key));
    expect(feature != want->end(), "no feature has this name: " + key);
    expect(is_feature(value, feature->second), "a feature has other values: " + value.dump());
  }
}

}  // namespace sluice::lib::fuzz
