// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/stream_schema.hpp"

#include <deque>
#include <utility>

#include "arrow/row_type.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/verbs.hpp"
#include "engine/files/arrow_rows_in_file.hpp"
#include "engine/files/file_pieces.hpp"
#include "op/csv/infer.hpp"
#include "op/jsonl/infer.hpp"
#include "sluice/format/csv_schema.hpp"

namespace sluice::lib::cli {
namespace {

/// Returns the pieces of the first bytes.
std::deque<file_pieces> pieces_of(const std::string& name, std::string bytes, bool is_all) {
  std::deque<file_pieces> pieces;
  pieces.emplace_back(name, std::move(bytes), is_all, compression::automatic);
  return pieces;
}

}  // namespace

std::string schema_of_stream(const std::string& file, const reader& r, const format_arguments& a) {
  if (r.op != "csv" && r.op != "jsonl" && r.op != "from_arrow") return {};
  bool is_all = false;
  std::string bytes = beginning_of_stream(file, is_all);
  if (bytes.empty()) return {};
  const std::string name = file == "-" ? "standard input" : file;
  if (a.infer && *a.infer < 0 && !is_all)
    throw misuse("--infer all reads the data twice, and " + name + " can be read once: copy it to a file");
  std::deque<file_pieces> pieces = pieces_of(name, std::move(bytes), is_all);
  if (r.op == "csv") {
    const csv_schema schema =
        infer_csv_schema(std::move(pieces), dialect_of(a, r.delimiter), a.infer.value_or(kCsvRowsLookedAt)).value();
    return csv_schema_text(schema);
  }
  if (r.op == "jsonl") {
    const element_type& type = *infer_jsonl_type(std::move(pieces), a.infer.value_or(kJsonlLinesLookedAt)).value();
    return jsonl_schema_text(type);
  }
  std::string head;
  while (pieces[0].more(head)) {}
  return arrow::row_text(*arrow_rows_in_bytes(name, head, pieces[0].is_all()).value());
}

}  // namespace sluice::lib::cli
