// SPDX-License-Identifier: Apache-2.0
#include "op/parquet/excluded_rows.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "arrow/ipc_formats.hpp"

namespace sluice::lib {
namespace {

constexpr std::uint64_t kSkippedRowsMin = 1024;
/// Integers up to this size are doubles.
constexpr std::int64_t kExactMost = std::int64_t{1} << 53;

bool is_exact_double(std::int64_t v) { return v >= -kExactMost && v <= kExactMost; }

/// Returns true if no value from `min` to `max` satisfies the comparison with `to`. A bound or literal that is no number
/// satisfies none of these operators.
template <class T> bool none_between(const T& min, const T& max, member_comparison::operator_type op, const T& to) {
  switch (op) {
    case member_comparison::less: return !(min < to);
    case member_comparison::less_equal: return !(min <= to);
    case member_comparison::equal: return to < min || max < to;
    case member_comparison::greater_equal: return !(max >= to);
    case member_comparison::greater: return !(max > to);
  }
  return false;
}

/// Returns the column of the rows' member; nullopt if the comparison is with no column of the file.
std::optional<std::size_t> column_of(const parquet_file& file, std::string_view member) {
  const ArrowSchema& all = file.schema();
  for (std::int64_t k = 0; k != all.n_children; ++k) {
    const std::string_view name = arrow::ipc_name_of(*all.children[k]);
    if (member.empty() ? all.n_children == 1 || name == "value" : name == member) return static_cast<std::size_t>(k);
  }
  return std::nullopt;
}

/// A comparison with a column.
struct compared_column {
  const member_comparison* by;
  std::size_t column;
};

std::vector<compared_column> compared_columns(const parquet_file& file, const element_type& row,
                                              std::span<const member_comparison> comparisons) {
  std::vector<compared_column> all;
  for (const member_comparison& c : comparisons) {
    if (c.member.empty() == (row.kind == kind::structure)) continue;
    if (std::optional<std::size_t> column = column_of(file, c.member)) all.push_back({&c, *column});
  }
  return all;
}

bool excludes_group(const parquet_file& file, std::size_t group, const std::vector<compared_column>& all) {
  return std::ranges::any_of(all, [&](const compared_column& c) {
    return excludes_all(file.bounds(group, c.column), *c.by, file.rows(group));
  });
}

bool may_use_bloom(const member_comparison& c) {
  return c.op == member_comparison::equal && c.literal != member_comparison::real;
}

/// Returns the bytes of a range; none if the range has none, or is not in memory.
std::string_view bytes_in(const file_end& end, const file_range& r) {
  if (r.bytes == 0 || r.offset < end.offset || r.offset - end.offset > end.bytes.size()) return {};
  const std::string_view rest = end.bytes.substr(static_cast<std::size_t>(r.offset - end.offset));
  return r.bytes > rest.size() ? std::string_view() : rest.substr(0, static_cast<std::size_t>(r.bytes));
}

bool lacks_value(const parquet_file& file, std::size_t group, const compared_column& c, const file_end& end) {
  if (!may_use_bloom(*c.by)) return false;
  const std::string_view bloom = bytes_in(end, file.indexes(group, c.column).bloom);
  if (bloom.empty()) return false;
  return c.by->literal == member_comparison::text ? file.lacks(c.column, bloom, std::string_view(c.by->text_value))
                                                  : file.lacks(c.column, bloom, c.by->whole_value);
}

/// Adds a run that begins at or after the beginning of the last one.
void add_run(std::vector<element_run>& runs, std::uint64_t first, std::uint64_t count) {
  if (runs.empty() || first > runs.back().first + runs.back().count) return runs.push_back({first, count});
  runs.back().count = std::max(runs.back().first + runs.back().count, first + count) - runs.back().first;
}

/// Returns the runs of rows in the group that its pages exclude.
std::vector<element_run> excluded_pages(const parquet_file& file, std::size_t group,
                                        const std::vector<compared_column>& all, const file_end& end) {
  std::vector<element_run> parts;
  for (const compared_column& c : all) {
    const column_indexes found = file.indexes(group, c.column);
    const std::string_view bounds = bytes_in(end, found.bounds), places = bytes_in(end, found.places);
    if (bounds.empty() || places.empty()) continue;
    for (const page_bounds& p : file.pages(group, c.column, bounds, places))
      if (p.rows != 0 && excludes_all(p.bounds, *c.by, p.rows)) parts.push_back({p.first_row, p.rows});
  }
  std::ranges::sort(parts, {}, &element_run::first);
  std::vector<element_run> runs;
  for (const element_run& r : parts) add_run(runs, r.first, r.count);
  // Skipping a few rows of a group costs more than it saves: the pages are decoded nevertheless.
  std::erase_if(runs, [&](const element_run& r) { return r.count < kSkippedRowsMin && r.count != file.rows(group); });
  return runs;
}

}  // namespace

bool excludes_all(const column_bounds& b, const member_comparison& c, std::uint64_t rows) {
  if (b.nulls && *b.nulls == rows)
    return true;  // a comparison with a missing value is none, which a filter treats as false
  if (b.kind == column_bounds::text)
    return c.literal == member_comparison::text && none_between(b.text_min, b.text_max, c.op, c.text_value);
  if (b.kind == column_bounds::whole && c.literal == member_comparison::whole)
    return none_between(b.whole_min, b.whole_max, c.op, c.whole_value);
  if (b.kind == column_bounds::unknown || c.literal == member_comparison::text) return false;
  // Numbers of different types are compared exactly, as doubles if both sides are.
  if (c.literal == member_comparison::whole && !is_exact_double(c.whole_value)) return false;
  const double to = c.literal == member_comparison::whole ? static_cast<double>(c.whole_value) : c.real_value;
  if (b.kind == column_bounds::whole)
    return is_exact_double(b.whole_min) && is_exact_double(b.whole_max) &&
           none_between(static_cast<double>(b.whole_min), static_cast<double>(b.whole_max), c.op, to);
  // A literal beside a float may be rounded to one.
  const auto rounded = static_cast<double>(static_cast<float>(to));
  return none_between(b.real_min, b.real_max, c.op, to) && none_between(b.real_min, b.real_max, c.op, rounded);
}

std::optional<std::uint64_t> indexes_begin(const parquet_file& file, const element_type& row,
                                           std::span<const member_comparison> comparisons) {
  const std::vector<compared_column> all = compared_columns(file, row, comparisons);
  std::optional<std::uint64_t> begin;
  const auto add = [&](const file_range& r) {
    if (r.bytes != 0) begin = std::min(begin.value_or(r.offset), r.offset);
  };
  for (std::size_t g = 0; g != file.groups(); ++g) {
    if (file.rows(g) == 0 || excludes_group(file, g, all)) continue;
    for (const compared_column& c : all) {
      const column_indexes found = file.indexes(g, c.column);
      add(found.bounds);
      add(found.places);
      if (may_use_bloom(*c.by)) add(found.bloom);
    }
  }
  return begin;
}

std::vector<element_run> excluded_rows(const parquet_file& file, const element_type& row,
                                       std::span<const member_comparison> comparisons, const file_end& end) {
  const std::vector<compared_column> all = compared_columns(file, row, comparisons);
  std::vector<element_run> runs;
  std::uint64_t first = 0;
  for (std::size_t g = 0; g != file.groups(); first += file.rows(g), ++g) {
    const std::uint64_t rows = file.rows(g);
    if (rows == 0) continue;
    const bool is_excluded = excludes_group(file, g, all) || std::ranges::any_of(all, [&](const compared_column& c) {
                               return lacks_value(file, g, c, end);
                             });
    if (is_excluded) add_run(runs, first, rows);
    else
      for (const element_run& r : excluded_pages(file, g, all, end)) add_run(runs, first + r.first, r.count);
  }
  return runs;
}

}  // namespace sluice::lib
