// SPDX-License-Identifier: Apache-2.0
// Builds elements from JSON texts of the usual form, directly and in one pass. json_row_reader (json_rows.hpp) tries
// this first, and has simdjson read what is left: texts in another form, and all errors.
//
//   plain_json_rows plain(type_of<sample>());
//   if (!plain.read(line, bytes_behind_it, false, to)) …        // nothing exists at `to`
//
// Shape:  the usual form has the structure's members once each, numbers that their types represent without a second
//         rounding, and texts where texts are expected. An element is equal to the one that simdjson's document gives.
// Thread: none; an object reuses its buffers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/element/type.hpp"

namespace sluice::lib {

class plain_json_rows {
 public:
  explicit plain_json_rows(const element_type& row);
  ~plain_json_rows();
  plain_json_rows(plain_json_rows&&) noexcept;
  /// Builds only the members that the structure `built` has. The others must have the usual form, too; with `trust` they
  /// are skipped. REQUIRES: they are members of the row, in order.
  void build_only(const element_type& built, bool trust);

  /// Builds an element at uninitialised `to`. Returns false for a text of another form; no element exists then.
  /// `behind`: the number of readable bytes after the text. `refuses_others`: members that the structure does not have
  /// are of another form.
  bool read(std::string_view text, std::size_t behind, bool refuses_others, void* to);

 private:
  struct node;
  class reading;
  std::unique_ptr<node> row_;  ///< null: the type has no usual form
  const element_type* made_;   ///< the type of the elements
  std::string scratch_{};
};

}  // namespace sluice::lib
