// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/merged_schema.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "cli/inputs/file_readers.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "engine/files/file_pieces.hpp"
#include "op/csv/infer.hpp"
#include "op/jsonl/infer.hpp"
#include "sluice/format/csv_schema.hpp"

namespace sluice::lib::cli {

format_arguments with_merged_schema(const std::vector<std::string>& files, const format_arguments& a) {
  if (files.size() < 2 || !a.schema.empty() || !std::ranges::all_of(files, names_file)) return a;
  const reader first = reader_of(files[0], a);
  if ((first.op != "csv" && first.op != "jsonl") || first.is_empty) return a;
  std::deque<file_pieces> pieces;
  for (const std::string& file : files) {
    const reader r = reader_of(file, a);
    if (r.op != first.op || r.delimiter != first.delimiter) return a;
    pieces.emplace_back(file, compression::automatic, inflate_limits());
  }
  format_arguments common = a;
  common.is_merged = true;
  common.infer.reset();
  if (first.op == "csv") {
    auto schema =
        infer_csv_schema(std::move(pieces), dialect_of(a, first.delimiter), a.infer.value_or(kCsvRowsLookedAt));
    common.schema = csv_schema_text(std::move(schema).value());
  } else {
    common.schema =
        jsonl_schema_text(*infer_jsonl_type(std::move(pieces), a.infer.value_or(kJsonlLinesLookedAt)).value());
  }
  return common;
}

}  // namespace sluice::lib::cli
