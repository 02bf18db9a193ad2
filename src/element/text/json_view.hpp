// SPDX-License-Identifier: Apache-2.0
// Reads JSON in place: the text is checked once, and values in it are found by walking through it. A typed value is
// built without a document in between, which would take many times the text's memory.
//   json_value all = checked_json(text);                       // throws where it is not JSON
//   json_value all = checked_json(text);                       // throws if the text is not JSON
//
// Cost: skipping a value takes time proportional to its text; so does each count(), and each next() that skips a value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::lib::detail {

class json_value {
 public:
  enum kind_type { null, boolean, number, string, array, object };

  /// `rest`: a checked text, from the value's first byte on.
  explicit json_value(std::string_view rest) : rest_(rest) {}
  kind_type kind() const;
  /// Returns the spelling of a number, true or false.
  std::string_view spelled() const;
  /// Returns the characters of a string in UTF-8.
  std::string text() const;
  /// Returns the number of items of an array, or members of an object.
  std::size_t count() const;
  /// Returns a description of the value for errors: 12, "x", "an array of 3".
  std::string shown() const;

 private:
  friend class json_items;
  std::string_view rest_;
};

/// Iterates over the items of an array or the members of an object.
class json_items {
 public:
  explicit json_items(const json_value& of);
  /// Advances to the first item or the next. Returns false if none follows.
  bool next();
  json_value value() const { return json_value(rest_); }
  /// Returns the name of an object's member.
  const std::string& name() const { return name_; }

 private:
  std::string_view rest_;  ///< from the present value on, or from the text before the first
  bool has_names_;
  bool is_first_ = true;
  std::string name_;
};

inline constexpr std::size_t kJsonViewDepthMax = 256;

/// Errors: throws invalid_argument: the text is not JSON, with line and column; it is nested deeper than
/// kJsonViewDepthMax.
json_value checked_json(std::string_view text);

}  // namespace sluice::lib::detail
