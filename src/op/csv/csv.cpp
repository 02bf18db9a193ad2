// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/csv.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include "engine/by_number/planned_index.hpp"
#include "engine/files/chosen_columns.hpp"
#include "engine/files/column_schema.hpp"
#include "engine/files/file_pieces.hpp"
#include "engine/files/file_stage.hpp"
#include "engine/files/parsed_texts.hpp"
#include "op/csv/formats.hpp"
#include "op/csv/infer.hpp"
#include "plan/codecs/index_codec.hpp"
#include "plan/matching_files.hpp"
#include "sluice/format/csv_schema.hpp"

namespace sluice::lib {

namespace {

csv_dialect dialect_of(const csv_options& o) {
  csv_dialect d;
  d.header = o.header;
  d.delimiter = o.delimiter[0];
  d.quotes = o.quotes;
  d.escape = o.escape.empty() ? '\0' : o.escape[0];
  d.comment = o.comment.empty() ? '\0' : o.comment[0];
  d.na = o.na_value;
  d.select = o.select;
  return d;
}

std::string mistake_in(const csv_options& o, std::size_t columns) {
  if (o.delimiter.size() != 1 || o.delimiter == "\"" || o.delimiter == "\n" || o.delimiter == "\r")
    return absl::StrCat("delimiter must be one character that is no quote and no line end, and is \"", o.delimiter,
                        "\"", o.delimiter == "tab" || o.delimiter == "\\t" ? ": write delimiter=\"\\t\"" : "");
  if (o.escape.size() > 1 || o.escape == "\n" || o.escape == "\r" || o.escape == "\"" || o.escape == o.delimiter)
    return "escape must be one character that is no quote, delimiter or line end, or empty: a quote within a field is "
           "written twice anyway";
  if (o.infer == 0 || o.infer < -1) return "infer must be a number of rows from 1 on, or -1 for all";
  if (o.comment.size() > 1 || o.comment == "\n" || o.comment == "\r" || o.comment == "\"" || o.comment == o.delimiter ||
      (!o.comment.empty() && o.comment == o.escape))
    return "comment must be one character that is no quote, delimiter or line end, or empty";
  if (o.select.empty()) return {};
  if (columns == 0) return "select chooses the fields of a schema's columns, and the schema is missing";
  if (o.select.size() != columns)
    return absl::StrCat("select has ", o.select.size(), " fields, and the schema ", columns, " columns");
  constexpr std::int64_t kFieldMost = 1 << 20;
  absl::flat_hash_set<std::int64_t> selected;
  for (std::size_t k = 0; k != o.select.size(); ++k) {
    const std::int64_t field = o.select[k];
    if (field < 0 || field > kFieldMost) return absl::StrCat("select: there is no field ", field);
    if (!selected.insert(field).second) return absl::StrCat("select has field ", field, " twice");
  }
  return {};
}

std::deque<file_pieces> pieces_of(const csv_arguments& a, const std::vector<std::string>& files) {
  std::deque<file_pieces> all;
  const inflate_limits limits = limits_of(a.options.inflated_bytes_max, a.options.inflate_ratio_max);
  for (const std::string& file : files) all.emplace_back(file, a.options.compression, limits);
  return all;
}

result<csv_schema> inferred_schema(const csv_arguments& a) {
  return infer_csv_schema(pieces_of(a, {a.path.value}), dialect_of(a.options), a.options.infer);
}

/// Returns the structure of all columns of a reader without a schema.
const element_type& all_inferred_columns(const node& n) {
  const auto& a = n.as<csv_arguments>();
  if (a.built.columns.list.empty()) return *n.type;
  if (a.built.columns.all) return *a.built.columns.all;
  result<csv_schema> s = inferred_schema(a);
  if (!s.ok()) throw_status(s.why());
  return *s->row;
}

const element_type* csv_row_type(const node& n, std::string& why) {
  check_index<csv_arguments>(n);
  const auto& a = n.as<csv_arguments>();
  why = mistake_in(a.options, 0);
  const bool is_said = a.schema.is_said();
  if (!a.options.select.empty() && is_said) why.clear();  // checked below
  if (why.empty() && a.options.read_bytes.value < 1) why = "read_bytes must be at least 1B";
  if (!why.empty()) return nullptr;
  if (!is_said && a.built.columns.all) return chosen_members(*a.built.columns.all, a.built, why);
  result<csv_schema> s = is_said ? a.schema.columns() : inferred_schema(a);
  if (!s.ok()) {
    if (!s.why().where().file.empty()) throw_status(s.why());
    why = s.why().message();
    return nullptr;
  }
  if (is_said) why = mistake_in(a.options, s->columns.size());
  return why.empty() ? chosen_members(*s->row, a.built, why) : nullptr;
}

/// Texts of another encoding are read as they are, and a run that reads them has a warning.
csv_form form_of(const node& n, const open_context& context) {
  const auto& a = n.as<csv_arguments>();
  auto warn = [run = context.run, path = a.path.value](std::size_t at) {
    run->warn(absl::StrCat("csv: byte ", at, " of ", path,
                           " is not UTF-8, so that some texts are bytes, printed as "
                           "{\"base64\":…}: convert the file, such as with iconv -f LATIN1 -t UTF-8"));
  };
  csv_dialect d = dialect_of(a.options);
  if (a.schema.is_said()) {
    csv_schema said = *a.schema.columns();
    choose_columns(said, a.built);
    return {std::move(said), std::move(d), std::move(warn)};
  }
  d.names = false;  // each field is a column
  d.inferred_from = csv_rows_looked_at(a.options.infer);
  csv_schema inferred = *csv_schema_of(all_inferred_columns(n));
  for (csv_column& c : inferred.columns)
    if (c.values == dtype::string) c.otherwise = "";
  choose_columns(inferred, a.built);
  return {std::move(inferred), std::move(d), std::move(warn)};
}

/// Returns the arguments with the common schema of several files.
arguments csv_of_files(const node& n, const std::vector<std::string>& files) {
  csv_arguments a = n.as<csv_arguments>();
  if (a.schema.is_said()) return n.arguments;
  if (std::string why = mistake_in(a.options, 0); !why.empty()) throw_status(invalid_argument_error(why));
  result<csv_schema> common = infer_csv_schema(pieces_of(a, files), dialect_of(a.options), a.options.infer);
  if (!common.ok()) throw_status(common.why());
  a.schema = column_schema_arg(csv_schema_text(*common));  // as the plan's text has it
  return arguments::of(std::move(a));
}

erased_stream open_csv(const node& n, open_context& context) {
  const knob& parallelism = n.as<csv_arguments>().options.parallelism;
  byte_source_options reading = reading_with<csv_arguments>(n, context);
  if (!parses_ahead(n, context, parallelism))
    return open_file_stage(n, context, std::move(reading), csv_format_of(form_of(n, context)));
  csv_parts parts = csv_parts_of(form_of(n, context));
  return open_parsed_texts(n, context, std::move(reading), std::move(parts.cutter), std::move(parts.parser),
                           parallelism);
}

erased_stream open_csv_rows(const node& n, open_context& context, const std::shared_ptr<row_landing>& landing) {
  if (!n.type->stacks_by_member()) return {};
  const knob& parallelism = n.as<csv_arguments>().options.parallelism;
  byte_source_options reading = reading_with<csv_arguments>(n, context);
  if (!parses_ahead(n, context, parallelism))
    return open_file_rows(n, context, std::move(reading), csv_format_of(form_of(n, context)), landing);
  csv_parts parts = csv_parts_of(form_of(n, context));
  return open_parsed_rows(n, context, std::move(reading), std::move(parts.cutter), std::move(parts.parser), parallelism,
                          landing);
}

}  // namespace

const op_info csv_op{
    .name = "csv",
    .doc = "the rows of a CSV file as structures",
    .shape = op_info::source,
    .arguments = arguments_of<csv_arguments>,
    .of_matches = plan_of_matching_files,
    .for_files = csv_of_files,
    .for_columns = arguments_for_columns<csv_arguments>,
    .type = csv_row_type,
    .facts = facts_by_index<csv_arguments>(),
    .splits = {.rule = split_rule::one_file, .skips_in_file = ranges_by_index<csv_arguments>},
    .lowering = {.open = open_csv, .open_rows = open_csv_rows},
};

}  // namespace sluice::lib
