// SPDX-License-Identifier: Apache-2.0
// The columns of several Arrow files, merged by name.
//
//   merged_rows all;
//   for (const std::string& file : files)
//     if (status why = all.add(*type_of_rows_in(file), file); !why.ok()) return why;
//   all.type();     // {a: int64, b: string?}
#pragma once

#include <string>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::arrow {

/// The columns of the first file, then those that only later files have. A column that a file lacks, or that may be
/// null in one, is optional. Structures within columns are merged in the same way.
class merged_rows {
 public:
  /// Errors: invalid_argument: a column has a type of its own in this file. The message has both types, and the schema
  /// of the columns on which the files agree.
  status add(const element_type& row, const std::string& file);
  /// Returns the type of the merged rows. REQUIRES: add() was called.
  const element_type* type() const;

 private:
  struct column {
    std::string name;
    const element_type* type;  ///< without the optional
    bool may_be_null;
    std::string file;  ///< the first that has it
  };
  status add_members(const std::vector<member>& members, const std::string& file);
  status refuse(const column& c, const element_type& other, std::vector<member> members, const std::string& file) const;

  std::vector<column> columns_;
  bool is_one_value_ = true;  ///< no file has rows of several columns
  bool is_first_ = true;
};

}  // namespace sluice::lib::arrow
