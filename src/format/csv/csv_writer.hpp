// SPDX-License-Identifier: Apache-2.0
// Writes elements as rows of CSV (RFC 4180).
//
//   auto csv = csv_writer::of(type_of<sample>());       // struct sample { std::string text; std::int64_t label; }
//   csv->append_header(out);                            // text,label
//   csv->append(&s, out);                               // "say ""a, b""",3
//
// Columns are the members; members of inner structures have dotted paths. An element without members is one column,
// `value`. Lines end with \n. A field is quoted if it contains a comma, a quote or a line end, begins or ends with a
// blank, or is an empty text. An optional without a value is an empty field without quotes, so the two differ; in a
// table of one column it is quoted, because an empty line would be no row. Texts are written byte by byte, numbers in
// the shortest form that reads back to the same value, bools as true and false, and special numbers as nan, inf and
// -inf.
// Thread: immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/flat_members.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

/// Appends one field, quoted if necessary.
void append_csv_field(std::string& out, std::string_view text);

class csv_writer {
 public:
  /// Errors: invalid_argument, with the path: a member is no number, bool, text, or optional of these.
  static result<csv_writer> of(const element_type& type);

  void append_header(std::string& out) const;
  void append(const void* element, std::string& out) const;

 private:
  explicit csv_writer(std::vector<flat_member> columns) : columns_(std::move(columns)) {}
  std::vector<flat_member> columns_;
};

}  // namespace sluice::lib
