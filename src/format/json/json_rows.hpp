// SPDX-License-Identifier: Apache-2.0
// From a JSON text to an element of any type, by simdjson; and what type such texts have.
//
//   json_row_reader reader(type_of<sample>());
//   status why = reader.read(line, bytes_behind_it, to);        // "tags[3]: expected int64, got \"x\""
//
// Shape:  as print (element/type.hpp) writes elements. Members are found by their names, others passed over unless the type was inferred; of a name that is
//         there twice the last counts. A member that is an optional may be missing, or null. Whole numbers may be spelled 2.0; -0 is 0.
// Errors: invalid_argument. Without simdjson (-Dsimdjson=disabled) read(), check() and look_at() answer unimplemented.
// Thread: none; a reader keeps its buffers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Ok where elements of the type can be made of JSON here.
status check_json_type(const element_type& t);

class json_row_reader {
 public:
  /// `inferred_from`: texts of the file that the type was inferred from, in words; "": none. Then a member that the type does not
  /// have is an error, since nobody has said that it is not wanted, and what does not fit is told with a schema that it fits.
  explicit json_row_reader(const element_type& row, std::string inferred_from = {});
  ~json_row_reader();
  json_row_reader(json_row_reader&&) noexcept;

  /// Builds an element at uninitialised `to`, or none. `behind`: the number of bytes after the text that may be read;
  /// if they are few, the text is copied.
  status read(std::string_view text, std::size_t behind, void* to);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// Looks whether texts are JSON in UTF-8, whatever is in them.
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

/// Finds the type that several texts have: int64 where all numbers are whole, else double; optional where one is null, or a
/// member is missing; lists of what their items have in common.
class json_type_guess {
 public:
  json_type_guess();
  ~json_type_guess();
  json_type_guess(const json_type_guess&) = delete;

  /// Errors: also texts that have nothing in common with those before, with the place.
  status look_at(std::string_view text);
  /// Errors: invalid_argument where no text was looked at.
  result<const element_type*> type() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace sluice::lib
