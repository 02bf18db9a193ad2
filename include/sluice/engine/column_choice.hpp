// SPDX-License-Identifier: Apache-2.0
// The columns that a reader builds, as arguments of readers of columns: csv, jsonl, from_arrow, parquet, sql,
// parse_example.
//
//   csv("a.csv", "id: int64, name: bytes, score: double", columns=["id", "score"])      // structures {id, score}
//
// The schema still describes all columns. The fields of the others are checked, so that a file has the same errors with
// and without `columns`: numbers are parsed, missing values are found. With trust=true they are skipped unchecked. The
// rule prune_columns sets both (docs/optimizer.md); a user may do so as well. In a Parquet file each column has bytes of
// its own: those of the others are not read, with and without `trust`, so that their damage is not found.
#pragma once

#include <string>
#include <vector>

#include "sluice/element/type.hpp"
#include "sluice/engine/dataset_options.hpp"

namespace sluice::lib {

/// Names of columns. None: all columns.
struct column_names {
  std::vector<std::string> list{};
  /// The structure of all columns, if a rewrite has found it already: a reader whose schema is inferred then does not
  /// read its file again. Never printed, compared or hashed.
  const element_type* all = nullptr;
};

struct column_choice {
  using given_by_name = void;  ///< arguments_of() adds these members to those of the call; they are given by name
  column_names columns = {};   ///< the columns to build; []: all
  run_switch trust = {};       ///< with `columns`: true: the other columns are not checked
};

}  // namespace sluice::lib
