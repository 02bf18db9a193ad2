// SPDX-License-Identifier: Apache-2.0
// Functions that the readers of types and specs share: names, numbers, and errors with their column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"

namespace sluice::lib::detail {

inline bool is_name_char(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_identifier(std::string_view s);
/// Appends the name, in quotes if it is not an identifier.
void append_name(std::string_view name, std::string& out);

/// Errors: throws invalid_argument: "WHAT, column 7: expected ')', got ','".
class text_scanner {
 public:
  text_scanner(std::string_view text, std::string_view what);

  std::size_t place() const { return at_; }
  void go_to(std::size_t place) { at_ = place; }
  // Each of these functions skips spaces first.
  bool at(char c);
  bool take(char c);
  bool take(std::string_view word);
  void expect(char c);
  bool done();
  void skip_spaces();
  /// Reads an identifier, or the text between double quotes or backticks.
  std::string name(std::string_view wanted);
  std::uint64_t number(std::uint64_t most);

  [[noreturn]] void fail(std::string_view why) const;
  [[noreturn]] void fail_at(std::size_t place, std::string_view why) const;
  [[noreturn]] void fail_expecting(std::string_view wanted) const;

 private:
  std::string quoted();
  std::string in_backticks();
  bool take_here(char c);

  std::string_view text_, what_;
  std::size_t at_ = 0;
};

/// Returns the library's name of a type that other languages name otherwise: int64 for int, long and bigint, double for
/// float64, string for bytes, text and str. Returns other names unchanged. All schemas accept all of these names.
std::string_view usual_type_name(std::string_view name);

/// Appends the text in single quotes, as schemas write names and defaults: control characters and bytes that are not
/// ASCII as \xNN.
void append_single_quoted(std::string_view text, std::string& out);

}  // namespace sluice::lib::detail
