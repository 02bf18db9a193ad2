// SPDX-License-Identifier: Apache-2.0
// Builds elements of any type from JSON texts with simdjson, and infers the type of such texts.
//
//   json_row_reader reader(type_of<sample>());
//   status why = reader.read(line, bytes_behind_it, to);        // "tags[3]: expected int64, got \"x\""
//
// Shape:  the form in which print (element/type.hpp) writes elements. Members are found by their names. Other members
//         are skipped, unless the type was inferred. The last of two members with one name counts. A member that is an
//         optional may be missing or null. Whole numbers may be written as 2.0; -0 is 0.
// Errors: invalid_argument. Without simdjson (-Dsimdjson=disabled) read(), check() and look_at() return unimplemented.
// Thread: none; a reader reuses its buffers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Returns ok if elements of the type can be built from JSON here.
status check_json_type(const element_type& t);

class json_row_reader {
 public:
  /// `inferred_from`: the texts from which the type was inferred, in words; "": it was declared. For an inferred type a
  /// member that it does not have is an error, because it may be wanted, and a value that does not fit is reported with
  /// a schema that fits. `is_strict`: other members are errors for a declared type, too.
  explicit json_row_reader(const element_type& row, std::string inferred_from = {}, bool is_strict = false);
  /// Builds only the members that the structure `built` has; the others are checked, or with `trust` skipped. REQUIRES:
  /// they are members of `row`, in order.
  void build_only(const element_type& built, bool trust);
  ~json_row_reader();
  json_row_reader(json_row_reader&&) noexcept;

  /// Builds an element at uninitialised `to`. After an error none exists. `behind`: the number of readable bytes after
  /// the text; if they are few, the text is copied.
  status read(std::string_view text, std::size_t behind, void* to);
  /// Does the same for texts of any form, through simdjson's document. read() calls it where plain_json_rows
  /// (plain_json.hpp) has built nothing.
  status read_document(std::string_view text, std::size_t behind, void* to);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// Checks that texts are JSON in UTF-8, whatever their contents.
class json_text_check {
 public:
  json_text_check();
  ~json_text_check();
  json_text_check(const json_text_check&) = delete;
  status check(std::string_view text);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// Infers the common type of several texts: int64 if all numbers are whole, else double; optional if a value is null,
/// or a member is missing; lists of the common type of their items.
class json_type_guess {
 public:
  json_type_guess();
  ~json_type_guess();
  json_type_guess(const json_type_guess&) = delete;

  /// Errors: also, with the place, texts that have no common type with those before; out_of_range: the common type
  /// would
  /// round a number.
  status look_at(std::string_view text);
  /// Errors: invalid_argument: look_at() was not called.
  result<const element_type*> type() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace sluice::lib
