// SPDX-License-Identifier: Apache-2.0
// Elements as rows of CSV (RFC 4180).
//
//   auto csv = csv_writer::of(type_of<sample>());       // struct sample { std::string text; std::int64_t label; }
//   csv->append_header(out);                            // text,label
//   csv->append(&s, out);                               // "say ""a, b""",3
//
// Columns are the members, those of inner structures by their dotted paths; elements without members are one column, `value`.
// Lines end with \n. A field is in quotes where it has a comma, a quote or a line end, begins or ends with a blank, or is
// an empty text; an optional without a value is nothing at all, so that the two differ, except in a table of one column,
// where an empty line would be no row. Texts are written as their bytes are; numbers in the shortest form that reads back to
// the same; bools as true and false; what is no number as nan, inf and -inf.
// Thread: immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/flat_members.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

/// One field, in quotes where it has to be.
void append_csv_field(std::string& out, std::string_view text);

class csv_writer {
 public:
  /// Errors: invalid_argument: a member that is no number, bool, text, or optional of these, by its path.
  static result<csv_writer> of(const element_type& type);

  void append_header(std::string& out) const;
  void append(const void* element, std::string& out) const;

 private:
  explicit csv_writer(std::vector<flat_member> columns) : columns_(std::move(columns)) {}
  std::vector<flat_member> columns_;
};

}  // namespace sluice::lib
