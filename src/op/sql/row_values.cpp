// SPDX-License-Identifier: Apache-2.0
#include "op/sql/row_values.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "element/build.hpp"
#include "engine/lowering/distinct_names.hpp"
#include "format/csv/csv_fields.hpp"

namespace sluice::lib {
namespace {

constexpr int kSqlRowsLookedAt = 100;
constexpr std::size_t kTextShownBytes = 40;

std::string shown_value(const sql_value& v) {
  std::string out;
  switch (v.kind) {
    case sql_value::null: return "NULL";
    case sql_value::whole: return absl::StrCat(v.number);
    case sql_value::real: return absl::StrCat(v.value);
    default: print_json_text(v.chars.substr(0, kTextShownBytes), out); return out;
  }
}

[[noreturn]] void refuse_value(const csv_column& c, const sql_value& v) {
  csv_schema one;
  one.columns.push_back({.member = c.member, .name = c.member, .values = c.values});
  if (v.kind == sql_value::null)
    throw_status(invalid_argument_error(
        absl::StrCat("column ", c.member, " is NULL: give it a default in the schema, or `?` for an optional value")));
  const bool is_rounded = c.values == dtype::float64 && v.kind == sql_value::whole;
  throw_status(invalid_argument_error(absl::StrCat(
      "column ", csv_schema_text(one), " cannot be ", shown_value(v),
      is_rounded ? ", which would be rounded: CAST(… AS REAL) in the query rounds it, and CAST(… AS TEXT) keeps it"
                 : "")));
}

/// Returns true if a double is this number. A column of integers and reals is inferred as double.
bool fits_double(std::int64_t number) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  const auto d = static_cast<double>(number);
  return d < kTwoTo63 && static_cast<std::int64_t>(d) == number;
}

template <class T> bool number_of(const sql_value& v, T& to) {
  if constexpr (std::is_same_v<T, bool>) {
    to = v.number == 1;
    return v.kind == sql_value::whole && (v.number == 0 || v.number == 1);
  } else if constexpr (std::is_floating_point_v<T>) {
    to = v.kind == sql_value::whole ? static_cast<T>(v.number) : static_cast<T>(v.value);
    if (v.kind == sql_value::whole) return !std::is_same_v<T, double> || fits_double(v.number);
    return v.kind == sql_value::real && (std::isfinite(to) || !std::isfinite(v.value));
  } else {
    to = static_cast<T>(v.number);
    return v.kind == sql_value::whole && std::in_range<T>(v.number);
  }
}

template <class T> void put_value(const csv_column& c, T value, void* to) {
  if (c.is_optional) ::new (to) std::optional<T>(std::move(value));
  else ::new (to) T(std::move(value));
}

void make_text_value(const csv_column& c, const sql_value& v, void* to) {
  const bool is_text = v.kind == sql_value::text || v.kind == sql_value::bytes;
  if (is_text) put_value(c, std::string(v.chars), to);
  else if (v.kind == sql_value::null && c.otherwise) put_value(c, *c.otherwise, to);
  else if (v.kind == sql_value::null && c.is_optional) ::new (to) std::optional<std::string>();
  else refuse_value(c, v);
}

void make_number_value(const csv_column& c, const sql_value& v, void* to) {
  detail::with_csv_number(c.values, [&]<class T>(std::type_identity<T>) {
    T number{};
    if (number_of(v, number)) put_value(c, number, to);
    else if (v.kind == sql_value::null && c.is_optional) ::new (to) std::optional<T>();
    else if (v.kind == sql_value::null && c.otherwise && detail::read_csv_number(*c.otherwise, number))
      put_value(c, number, to);
    else refuse_value(c, v);
  });
}

}  // namespace

status check_sql_columns(const csv_schema& schema, const sql_rows& rows) {
  if (rows.columns() == schema.columns.size()) return {};
  std::string theirs, ours;
  for (std::size_t k = 0; k != rows.columns(); ++k) absl::StrAppend(&theirs, k == 0 ? "" : ", ", rows.column_name(k));
  for (const csv_column& c : schema.columns) absl::StrAppend(&ours, ours.empty() ? "" : ", ", c.member);
  return invalid_argument_error(absl::StrCat("the query has ", rows.columns(), " columns (", theirs,
                                             "), and the schema ", schema.columns.size(), " (", ours, ")"));
}

namespace {

void make_sql_value(const csv_column& c, const sql_value& v, void* to) {
  if (c.values == dtype::string) make_text_value(c, v, to);
  else make_number_value(c, v, to);
}

/// Throws the error that building the value would throw.
void check_sql_value(const csv_column& c, const sql_value& v) {
  alignas(std::optional<std::int64_t>) std::byte number[sizeof(std::optional<std::int64_t>)];
  if (c.values != dtype::string) return make_number_value(c, v, number);
  const bool is_text = v.kind == sql_value::text || v.kind == sql_value::bytes;
  if (!is_text && (v.kind != sql_value::null || (!c.otherwise && !c.is_optional))) refuse_value(c, v);
}

}  // namespace

void make_sql_row(const csv_schema& schema, const sql_rows& rows, void* to) {
  const element_type& row = *schema.row;
  auto* base = static_cast<char*>(to);
  std::size_t built = 0;
  try {
    for (std::size_t k = 0; k != schema.columns.size(); ++k) {
      const csv_column& c = schema.columns[k];
      if (c.use == column_use::checked) check_sql_value(c, rows.value(k));
      if (c.use != column_use::built) continue;
      make_sql_value(c, rows.value(k), base + row.members[built].offset);
      ++built;
    }
  } catch (...) {
    while (built-- != 0)
      row.members[built].type->destroy(*row.members[built].type, base + row.members[built].offset, 1);
    throw;
  }
}

namespace {

/// The kinds of values that a column has in the examined rows.
struct seen_values {
  bool null = false, whole = false, real = false, text = false;

  void look_at(sql_value::kind_type kind) {
    null |= kind == sql_value::null;
    whole |= kind == sql_value::whole;
    real |= kind == sql_value::real;
    text |= kind == sql_value::text || kind == sql_value::bytes;
  }
};

/// Returns the query without the spaces and semicolons at its end, so that more text can follow.
std::string_view without_end(std::string_view query) {
  while (!query.empty() && (absl::ascii_isspace(static_cast<unsigned char>(query.back())) || query.back() == ';'))
    query.remove_suffix(1);
  return query;
}

/// Returns a query for the types of the values in the first rows, for which SQLite reads no value.
std::string query_of_types(std::string_view query, std::size_t columns) {
  std::string names, types;
  for (std::size_t k = 0; k != columns; ++k) {
    absl::StrAppend(&names, k == 0 ? "" : ",", "c", k);
    absl::StrAppend(&types, k == 0 ? "" : ",", "typeof(c", k, ")");
  }
  // The line end ends a comment in the query.
  return absl::StrCat("WITH sluice_rows_of_query(", names, ") AS (", std::string(without_end(query)), "\n) SELECT ",
                      types, " FROM sluice_rows_of_query LIMIT ", kSqlRowsLookedAt);
}

sql_value::kind_type kind_called(std::string_view name) {
  if (name == "null") return sql_value::null;
  if (name == "integer") return sql_value::whole;
  return name == "real" ? sql_value::real : sql_value::text;
}

/// Returns true if SQLite merges both queries into one loop. Otherwise it would build and copy each row of the inner
/// one.
bool is_one_loop(const std::string& path, const std::string& query) {
  constexpr std::size_t kDetail = 3;
  const std::unique_ptr<sql_rows> steps = open_sql(path, "EXPLAIN QUERY PLAN " + query);
  while (steps->next()) {
    const std::string_view step = steps->value(kDetail).chars;
    if (step.starts_with("CO-ROUTINE sluice_rows") || step.starts_with("MATERIALIZE sluice_rows")) return false;
  }
  return true;
}

/// Returns false if the values must be read: the query has an order or a limit, or cannot be nested in another one (for
/// example PRAGMA).
bool look_at_types(const std::string& path, const std::string& query, std::vector<seen_values>& seen) {
  try {
    const std::string of_types = query_of_types(query, seen.size());
    if (!is_one_loop(path, of_types)) return false;
    const std::unique_ptr<sql_rows> types = open_sql(path, of_types);
    while (types->next())
      for (std::size_t k = 0; k != seen.size(); ++k) seen[k].look_at(kind_called(types->value(k).chars));
    return true;
  } catch (const error&) { return false; }
}

/// Finds the limit of a query: the words LIMIT and OFFSET, and the comma between their numbers, that stand outside of
/// parentheses, quotes and comments.
struct limit_places {
  std::size_t limit = std::string_view::npos, offset = limit, comma = limit;

  explicit limit_places(std::string_view q) {
    int depth = 0;
    for (std::size_t i = 0; i < q.size();) {
      const std::size_t end = end_of_token(q, i);
      const std::string_view token = q.substr(i, end - i);
      depth += (token == "(") - (token == ")");
      if (depth == 0 && is_word(token, "limit")) {
        limit = i;
        offset = comma = q.npos;
      } else if (depth == 0 && limit != q.npos) {
        if (is_word(token, "offset")) offset = i;
        if (token == ",") comma = i;
      }
      i = end;
    }
  }

 private:
  static bool is_word(std::string_view token, const char* lower) {
    return absl::EqualsIgnoreCase(std::string(token), lower);
  }
  static bool is_of_word(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c < 0; }
  static std::size_t end_of_token(std::string_view q, std::size_t i) {
    auto behind = [&](std::string_view end, std::size_t from) {
      const std::size_t at = q.find(end, from);
      return at == q.npos ? q.size() : at + end.size();
    };
    const char c = q[i];
    if (c == '\'' || c == '"' || c == '`') return behind(q.substr(i, 1), i + 1);
    if (c == '[') return behind("]", i + 1);
    if (q.substr(i, 2) == "--") return behind("\n", i + 2);
    if (q.substr(i, 2) == "/*") return behind("*/", i + 2);
    std::size_t end = i + 1;
    while (is_of_word(c) && end < q.size() && is_of_word(q[end])) ++end;
    return end;
  }
};

/// The query with a limit of kSqlRowsLookedAt, or its own if that is lower. Line ends end comments.
std::string query_of_first_rows(std::string_view query) {
  query = without_end(query);
  const limit_places at(query);
  if (at.limit == query.npos) return absl::StrCat(std::string(query), "\nLIMIT ", kSqlRowsLookedAt);
  const std::size_t numbers = at.limit + std::string_view("limit").size();
  std::string_view rows = query.substr(numbers), passed;
  if (at.offset != query.npos) {
    rows = query.substr(numbers, at.offset - numbers);
    passed = query.substr(at.offset + std::string_view("offset").size());
  } else if (at.comma != query.npos) {  // LIMIT passed, rows
    passed = query.substr(numbers, at.comma - numbers);
    rows = query.substr(at.comma + 1);
  }
  const std::string own = absl::StrCat("CAST((", std::string(rows), "\n) AS INTEGER)");
  std::string text = absl::StrCat(std::string(query.substr(0, at.limit)), "LIMIT CASE WHEN ", own, " BETWEEN 0 AND ",
                                  kSqlRowsLookedAt, " THEN ", own, " ELSE ", kSqlRowsLookedAt, " END");
  if (!passed.empty()) absl::StrAppend(&text, " OFFSET (", std::string(passed), "\n)");
  return text;
}

/// Opens the query for its first rows. SQLite sorts the whole result of a query that has an order, to temporary files if
/// it is large, before it returns the first row. With a limit it keeps only that number of rows while it reads. A query
/// that accepts no limit, such as a PRAGMA, is opened as it is.
std::unique_ptr<sql_rows> open_first_rows(const std::string& path, const std::string& query) {
  try {
    return open_sql(path, query_of_first_rows(query));
  } catch (const error&) { return open_sql(path, query); }
}

}  // namespace

result<csv_schema> infer_sql_schema(const std::string& path, const std::string& query) {
  const std::unique_ptr<sql_rows> rows = open_sql(path, query);
  std::vector<seen_values> seen(rows->columns());
  if (!look_at_types(path, query, seen)) {
    seen.assign(seen.size(), {});
    const std::unique_ptr<sql_rows> first = open_first_rows(path, query);
    for (int i = 0; i != kSqlRowsLookedAt && first->next(); ++i)
      for (std::size_t k = 0; k != seen.size(); ++k) seen[k].look_at(first->value(k).kind);
  }
  std::vector<std::string> names;
  for (std::size_t k = 0; k != seen.size(); ++k) names.push_back(rows->column_name(k));
  names = distinct_names(names);
  std::vector<csv_column> columns;
  for (std::size_t k = 0; k != seen.size(); ++k) {
    csv_column c;
    c.name = c.member = names[k];
    if (seen[k].text && (seen[k].whole || seen[k].real))
      return invalid_argument_error(
          absl::StrCat("column ", c.member, " has numbers and texts: cast it in the query, CAST(x AS TEXT)"));
    if (seen[k].whole) c.values = dtype::int64;
    if (seen[k].real) c.values = dtype::float64;
    c.is_optional = seen[k].null;
    columns.push_back(std::move(c));
  }
  return csv_schema_of(std::move(columns));
}

}  // namespace sluice::lib
