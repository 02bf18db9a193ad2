// SPDX-License-Identifier: Apache-2.0
#include "op/parquet/excluded_rows.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "arrow/ipc_formats.hpp"

namespace sluice::lib {
namespace {

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

std::vector<element_run> excluded_rows(const parquet_file& file, const element_type& row,
                                       std::span<const member_comparison> comparisons) {
  struct compared {
    const member_comparison* by;
    std::size_t column;
  };
  std::vector<compared> all;
  for (const member_comparison& c : comparisons) {
    if (c.member.empty() == (row.kind == kind::structure)) continue;
    if (std::optional<std::size_t> column = column_of(file, c.member)) all.push_back({&c, *column});
  }
  std::vector<element_run> runs;
  std::uint64_t first = 0;
  for (std::size_t g = 0; g != file.groups(); first += file.rows(g), ++g) {
    const std::uint64_t rows = file.rows(g);
    if (rows == 0) continue;
    const bool is_excluded = std::ranges::any_of(
        all, [&](const compared& c) { return excludes_all(file.bounds(g, c.column), *c.by, rows); });
    if (!is_excluded) continue;
    if (!runs.empty() && runs.back().first + runs.back().count == first) runs.back().count += rows;
    else runs.push_back({first, rows});
  }
  return runs;
}

}  // namespace sluice::lib
