// SPDX-License-Identifier: Apache-2.0
#include "op/csv/infer.hpp"

#include <algorithm>
#include <limits>

#include <absl/strings/str_cat.h>

#include "engine/distinct_names.hpp"
#include "engine/file_head.hpp"
#include "format/csv_fields.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kRowsLookedAt = 100;
/// Of which these many bytes have to hold one at least.
constexpr std::size_t kBytesLookedAt = std::size_t{1} << 20;

struct column_guess {
  bool is_whole = true, is_number = true, has_value = false, has_none = false;

  void look_at(const std::string& field, const csv_dialect& dialect) {
    if (field.empty() || field == dialect.na) {
      has_none = true;
      return;
    }
    has_value = true;
    is_whole = is_whole && detail::is_csv_number(dtype::int64, field);
    is_number = is_number && detail::is_csv_number(dtype::float64, field);
  }
  csv_column column() const {
    csv_column c;
    if (has_value && is_whole) c.values = dtype::int64;
    else if (has_value && is_number) c.values = dtype::float64;
    c.is_optional = has_none && c.values != dtype::string;
    return c;
  }
};

std::vector<csv_column> named(std::vector<csv_column> columns, std::vector<std::string> names) {
  names.resize(columns.size());
  names = distinct_names(names);
  for (std::size_t k = 0; k != columns.size(); ++k) columns[k].name = columns[k].member = names[k];
  return columns;
}

}  // namespace

result<csv_schema> infer_csv_schema(const std::string& path, const csv_dialect& dialect, compression packed) {
  constexpr const char* kWayOut = ": say the columns by a schema, such as \"label: int64, text: bytes\"";
  if (path.empty() || path == "-")
    return invalid_argument_error(absl::StrCat("the columns of a file that is not known yet", kWayOut));
  auto head = read_file_head(path, packed, kBytesLookedAt);
  if (!head.ok()) return head.why();
  const auto& [bytes, is_all] = *head;
  csv_parser parser(csv_schema{}, dialect);
  std::vector<std::string> names, fields;
  std::vector<column_guess> guesses;
  std::uint64_t offset = 0;
  bool wants_names = dialect.header;
  for (std::size_t rows = 0; rows != kRowsLookedAt;) {
    csv_scan s = parser.read_fields(std::string_view(bytes).substr(offset), offset, is_all, fields);
    offset += s.used_bytes;
    if (s.rows == 0 && s.searched_bytes != 0 && s.searched_bytes < bytes.size() - offset) continue;
    if (s.rows == 0 && s.used_bytes != 0) continue;
    if (s.rows == 0) break;
    if (std::exchange(wants_names, false)) {
      names = fields;
      guesses.resize(names.size());
      continue;
    }
    if (guesses.empty()) guesses.resize(fields.size());
    if (fields.size() != guesses.size())
      return invalid_argument_error(absl::StrCat("row ", rows, " has ", fields.size(), " fields where ", guesses.size(),
                                                 " are expected", kWayOut))
          .in_file(path);
    for (std::size_t k = 0; k != fields.size(); ++k) guesses[k].look_at(fields[k], dialect);
    ++rows;
  }
  if (guesses.empty())
    return invalid_argument_error(absl::StrCat("the file has no rows to infer columns from", kWayOut)).in_file(path);
  std::vector<csv_column> columns;
  for (const column_guess& g : guesses) columns.push_back(g.column());
  return csv_schema_of(named(std::move(columns), names));
}

}  // namespace sluice::lib
