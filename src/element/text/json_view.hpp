// SPDX-License-Identifier: Apache-2.0
// JSON that is read where it stands: a text that was checked once, and values within it that are found by walking
// along. A value of a type is made of it without a document in between, which would take many times the text's memory.
//
//   json_value all = checked_json(text);                       // throws where it is not JSON
//   for (json_items items(all); items.next();) use(items.name(), items.value());
//
// Cost: skipping a value takes time in proportion to its text; so does each count(), and each next() that skips a
// value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::lib::detail {

class json_value {
 public:
  enum kind_type { null, boolean, number, string, array, object };

  /// `rest`: from the value's first byte on, of a text that was checked.
  explicit json_value(std::string_view rest) : rest_(rest) {}
  kind_type kind() const;
  /// The spelling of a number, true or false.
  std::string_view spelled() const;
  /// The characters of a string, as UTF-8.
  std::string text() const;
  /// Items of an array, members of an object.
  std::size_t count() const;
  /// A description of the value for errors: 12, "x", "an array of 3".
  std::string shown() const;

 private:
  friend class json_items;
  std::string_view rest_;
};

/// The items of an array or the members of an object, from the first on.
class json_items {
 public:
  explicit json_items(const json_value& of);
  /// Advances to the first item or the next. Returns false if none follows.
  bool next();
  json_value value() const { return json_value(rest_); }
  /// The name of an object's member.
  const std::string& name() const { return name_; }

 private:
  std::string_view rest_;  ///< from the present value on, or from what is before the first
  bool has_names_;
  bool is_first_ = true;
  std::string name_;
};

inline constexpr std::size_t kJsonViewDepthMax = 256;

/// Errors: throws invalid_argument: not JSON, with line and column; deeper than kJsonViewDepthMax.
json_value checked_json(std::string_view text);

}  // namespace sluice::lib::detail
