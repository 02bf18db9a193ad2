// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/parquet.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrow/merged_rows.hpp"
#include "arrow/row_type.hpp"
#include "engine/files/arrow_schema.hpp"
#include "engine/files/chosen_columns.hpp"
#include "engine/files/file_stage.hpp"
#include "io/plan_file_reader.hpp"
#include "op/parquet/excluded_rows.hpp"
#include "op/parquet/parquet_stage.hpp"
#include "op/parquet/planned_footer.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/matching_files.hpp"

namespace sluice::lib {
namespace {

/// The initial number of concurrent reads; the file system may choose another.
constexpr std::int64_t kChunkReadsInFlight = 4;
/// The most bytes before the end of a file that are read for the indexes of pages and bloom filters. Files with more have
/// the parts that their last row groups need there.
constexpr std::uint64_t kPageIndexBytesMax = std::uint64_t{16} << 20;

using footer_result = result<planned_footer>;

/// Reads the footer of the one file whose columns the plan does not state. All copies of the node share it.
void find_footer(arguments& args) {
  parquet_arguments a = args.as<parquet_arguments>();
  const std::string& path = a.path.value;
  if (!a.path.is_given || a.options.schema.is_given() || a.options.schema.found) return;
  if (path.empty() || path == "-" || detail::is_pattern_for_plan(path)) return;
  a.options.schema.found = std::make_shared<const footer_result>(read_planned_footer(path));
  args = arguments::of(std::move(a));
}

const footer_result* footer_of(const node& n) {
  return static_cast<const footer_result*>(n.as<parquet_arguments>().options.schema.found.get());
}

/// Returns the structure of all columns. Null, with the reason in `why`, if the schema is invalid.
const element_type* whole_parquet_row(const node& n, std::string& why) {
  const auto& a = n.as<parquet_arguments>();
  if (a.options.schema.row) return a.options.schema.row;
  if (!a.options.schema.value.empty()) {
    auto row = arrow::row_type_of(a.options.schema.value);
    if (!row.ok()) why = row.why().message();
    return row.ok() ? *row : nullptr;
  }
  const footer_result* footer = footer_of(n);
  if (!footer) {
    why = a.path.value == "-" ? "a Parquet file is read from its end, and standard input has none: copy it to a file"
                              : "the schema of an unknown file cannot be read: give it as schema=\"label: int64\"";
    return nullptr;
  }
  if (!footer->ok()) throw_status(footer->why());
  auto row = arrow::row_type_of((*footer)->file->schema());
  if (!row.ok()) throw_status(row.why().in_file(a.path.value));
  return *row;
}

const element_type* parquet_row(const node& n, std::string& why) {
  const auto& a = n.as<parquet_arguments>();
  if (a.options.read_bytes.value < 1) return why = "read_bytes must be at least 1B", nullptr;
  const element_type* whole = whole_parquet_row(n, why);
  return whole ? chosen_members(*whole, a.built, why) : nullptr;
}

/// Returns the arguments with the columns of several files, merged by name.
arguments parquet_of_files(const node& n, const std::vector<std::string>& files) {
  parquet_arguments a = n.as<parquet_arguments>();
  if (a.options.schema.is_given()) return n.arguments;
  arrow::merged_rows rows;
  for (const std::string& file : files) {
    auto footer = read_planned_footer(file);
    if (!footer.ok()) throw_status(footer.why());
    auto row = arrow::row_type_of(footer->file->schema());
    if (!row.ok()) throw_status(row.why().in_file(file));
    if (status why = rows.add(**row, file); !why.ok()) throw_status(why);
  }
  a.options.schema = arrow_schema_arg(arrow::row_text(*rows.type()));  // as the plan's text has it
  return arguments::of(std::move(a));
}

/// The chunks of the other columns are not read, so their damage is not found, with or without trust.
arguments parquet_for_columns(const node& n, const std::vector<std::string>& names, bool trust, std::string& why) {
  return arguments_for_columns<parquet_arguments>(n, names, trust, why);
}

group_input_options reading_of(const node& n, const open_context& context) {
  const auto& a = n.as<parquet_arguments>();
  group_input_options o;
  o.path = a.path.value;
  o.read_bytes = static_cast<std::size_t>(a.options.read_bytes.value);
  o.cache = a.options.cache;
  o.reads_in_flight = &context.live(n, a.options.reads_in_flight, kChunkReadsInFlight);
  if (a.options.reads_in_flight.is_autotuned()) o.reads_untouched = kChunkReadsInFlight;
  const auto footer = std::static_pointer_cast<const footer_result>(n.as<parquet_arguments>().options.schema.found);
  if (footer && footer->ok()) o.planned = std::shared_ptr<const planned_footer>(footer, &**footer);
  return o;
}

erased_stream open_parquet_elements(const node& n, open_context& context) {
  return open_parquet_stage(n, context, reading_of(n, context), nullptr);
}
erased_stream open_parquet_rows(const node& n, open_context& context, const std::shared_ptr<row_landing>& landing) {
  if (!n.type->stacks_by_member()) return {};
  return open_parquet_stage(n, context, reading_of(n, context), landing);
}

/// Reads the end of the file if its indexes may exclude more than the footer does.
std::vector<element_run> found_excluded(const node& n, const planned_footer& known,
                                        std::span<const member_comparison> comparisons) {
  const std::optional<std::uint64_t> begin = indexes_begin(*known.file, *n.type, comparisons);
  if (!begin) return excluded_rows(*known.file, *n.type, comparisons);
  const std::string tail = read_same_tail(n.as<parquet_arguments>().path.value,
                                          std::min(known.size_bytes - *begin, kPageIndexBytesMax), known);
  return excluded_rows(*known.file, *n.type, comparisons, {tail, known.size_bytes - tail.size()});
}

/// Only if the footer was read when the plan was built: a file that has changed since is then refused.
std::vector<element_run> excluded_in_footer(const node& n, std::span<const member_comparison> comparisons) {
  const footer_result* footer = footer_of(n);
  if (!footer || !footer->ok()) return {};
  const planned_footer& known = **footer;
  return known.exclusions->of(n.type->kind == kind::structure, comparisons,
                              [&] { return found_excluded(n, known, comparisons); });
}

cardinality rows_in_footer(const node& n) {
  const footer_result* footer = footer_of(n);
  return footer && footer->ok() ? cardinality::of_many((*footer)->rows) : cardinality();
}

}  // namespace

const op_info parquet_op{
    .name = "parquet",
    .doc = "the rows of a Parquet file as structures",
    .shape = op_info::source,
    .arguments = arguments_of<parquet_arguments>,
    .make_canonical = find_footer,
    .of_matches = plan_of_matching_files,
    .for_files = parquet_of_files,
    .for_columns = parquet_for_columns,
    .type = parquet_row,
    .facts = {.size = rows_in_footer,
              .seeks = [](const node& n) { return rows_in_footer(n).kind == cardinality::exact; },
              .excluded = excluded_in_footer},
    .splits = {.rule = split_rule::one_file, .skips_in_file = [](const node&) { return true; }},
    .lowering = {.open = open_parquet_elements, .open_rows = open_parquet_rows, .has_columns = true},
};

}  // namespace sluice::lib
