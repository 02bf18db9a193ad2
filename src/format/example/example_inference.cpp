// SPDX-License-Identifier: Apache-2.0
#include "format/example/example_inference.hpp"

#include <algorithm>

#include "format/example/schema_reader.hpp"
#include "format/example/sequence_wire.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib {
namespace {

status changed_kind(std::string_view what, std::string_view name, feature_kind now, feature_kind before) {
  return invalid_argument_error(std::string(what) + " " + std::string(name) + " is of " + std::string(to_string(now)) +
                                ", and before it was of " + std::string(to_string(before)));
}

std::string_view type_of_kind(feature_kind kind) {
  return kind == feature_kind::floats ? "float" : kind == feature_kind::int64s ? "int64" : "bytes";
}

/// Returns true if the bytes are a feature with its name.
bool is_feature_entry(std::string_view bytes) {
  std::string_view key;
  detail::feature_count found;
  return detail::read_key(bytes, key) && detail::read_entry_values(bytes, found) && found.kind != feature_kind::none;
}

}  // namespace

bool may_be_example(std::string_view record) {
  bool has_values = false, is_nested = false;
  auto on_entry = [&](std::string_view entry) {
    std::string_view key;
    detail::feature_count found;
    if (!detail::read_key(entry, key) || !detail::read_entry_values(entry, found)) return false;
    has_values = has_values || found.kind != feature_kind::none;
    is_nested = is_nested || (found.kind == feature_kind::none && is_feature_entry(key));
    return true;
  };
  return detail::read_example(record, on_entry) && (has_values || !is_nested);
}

status example_inference::add(std::string_view record) {
  record_.clear();
  auto on_entry = [&](std::string_view entry) {
    counted c;
    detail::feature_count found;
    if (!detail::read_key(entry, c.name) || !detail::read_entry_values(entry, found)) return false;
    c.kind = found.kind;
    c.count = found.count;
    auto same = std::find_if(record_.begin(), record_.end(), [&](const counted& o) { return o.name == c.name; });
    if (same != record_.end()) *same = c;  // the last entry of a name counts
    else record_.push_back(c);
    return true;
  };
  if (!detail::read_example(record, on_entry)) return detail::not_an_example();
  if (features_.empty() && !may_be_example(record)) return detail::not_an_example();
  ++examples_;
  status why = add_features();
  return why.ok() ? add_lists(record) : why;
}

status example_inference::add_features() {
  for (const counted& c : record_) {
    if (c.kind == feature_kind::none) continue;  // tf.data writes a missing feature like this
    auto at = features_.find(c.name);
    if (at == features_.end()) at = features_.try_emplace(std::string(c.name)).first;
    seen& s = at->second;
    if (s.examples != 0 && s.kind != c.kind) return changed_kind("feature", c.name, c.kind, s.kind);
    s.kind = c.kind;
    s.least = s.examples == 0 ? c.count : std::min(s.least, c.count);
    s.most = std::max(s.most, c.count);
    ++s.examples;
  }
  return {};
}

status example_inference::add_lists(std::string_view record) {
  status why;
  auto on_entry = [&](std::string_view entry) {
    std::string_view name;
    if (!detail::read_key(entry, name)) return false;
    auto at = lists_.find(name);
    if (at == lists_.end()) at = lists_.try_emplace(std::string(name)).first;
    seen_list& s = at->second;
    ++s.examples;
    return detail::read_steps(entry, [&](std::string_view step) {
      detail::feature_count found;
      if (!detail::read_feature(step, found)) return false;
      const bool is_known = s.kind != feature_kind::none, has_kind = found.kind != feature_kind::none;
      if (is_known && has_kind && found.kind != s.kind && why.ok())
        why = changed_kind("feature list", name, found.kind, s.kind);
      if (has_kind) s.kind = found.kind;
      s.least = s.steps == 0 ? found.count : std::min(s.least, found.count);
      s.most = std::max(s.most, found.count);
      ++s.steps;
      return true;
    });
  };
  if (!detail::read_sequence_example(record, [](std::string_view) {}, on_entry))
    return detail::not_a_sequence_example();
  return why;
}

std::string example_inference::schema_text() const {
  std::string text;
  for (auto& [name, s] : features_) {
    if (!text.empty()) text += ", ";
    detail::append_feature_name(name, text);
    text += ": ";
    text += type_of_kind(s.kind);
    const bool is_fixed = s.least == s.most && s.least != 0;
    if (!is_fixed) text += "[]";
    else if (s.most != 1) text += "[" + std::to_string(s.most) + "]";
    if (s.examples != examples_) text += "?";
  }
  return text;
}

result<std::string> example_inference::sequence_text() const {
  std::string text;
  for (auto& [name, s] : lists_) {
    if (name.empty() || name.find_first_of(",:") != name.npos || name.front() == ' ' || name.back() == ' ')
      return invalid_argument_error("the feature list \"" + name +
                                    "\" has a name that a schema of parse_sequence_example cannot contain");
    if (!text.empty()) text += ", ";
    text += name;
    text += ": ";
    text += type_of_kind(s.kind);
    const bool is_fixed = s.steps != 0 && s.least == s.most && s.least != 0;
    if (!is_fixed) text += "[]";
    else if (s.most != 1) text += "[" + std::to_string(s.most) + "]";
    if (s.examples != examples_) text += "?";
  }
  return text;
}

}  // namespace sluice::lib
