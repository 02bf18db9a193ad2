// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/text_kind.hpp"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/ascii.h>

#include <algorithm>
#include <cstddef>

#include "base/text/byte_order_mark.hpp"
#include "format/json/json_rows.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::size_t kRows = 20;  // that are compared with the header

/// Returns the number of `mark`s outside quotes in a line that has no line end.
std::size_t marks_in(std::string_view line, char mark) {
  std::size_t count = 0;
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    else if (c == mark && !is_quoted) ++count;
  }
  return count;
}

/// Returns the beginning of `head` up to the first line end outside quotes, and removes both from `head`.
std::string_view take_row(std::string_view& head) {
  bool is_quoted = false;
  std::size_t end = 0;
  for (; end != head.size() && (is_quoted || head[end] != '\n'); ++end) is_quoted ^= head[end] == '"';
  const std::string_view row = head.substr(0, end);
  head.remove_prefix(std::min(end + 1, head.size()));
  return row;
}

/// Returns true for an object of JSON in one line, or for the beginning of a long one.
bool is_json_line(std::string_view head, bool is_all) {
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  const std::size_t end = head.find('\n');
  if (!head.starts_with('{')) return false;
  if (end == head.npos && !is_all) return head.starts_with("{\"");
  return json_text_check().check(head.substr(0, end)).ok();
}

/// Returns true for a name of a column: it begins with a letter, and has no blanks at its ends.
bool is_column_name(std::string_view name) {
  if (name.size() > 1 && name.starts_with('"') && name.ends_with('"')) name = name.substr(1, name.size() - 2);
  constexpr std::size_t kNameMost = 64;
  if (name.empty() || name.size() > kNameMost || name.ends_with(' ')) return false;
  const auto first = static_cast<unsigned char>(name[0]);
  return absl::ascii_isalpha(first) || first == '_' || first >= 0x80;
}

bool has_column_names(std::string_view header, char mark) {
  absl::flat_hash_set<std::string_view> names;
  while (!header.empty() && (header.ends_with('\r'))) header.remove_suffix(1);
  for (std::size_t end = 0; end != header.npos;) {
    end = header.find(mark);
    const std::string_view name = header.substr(0, end);
    if (!is_column_name(name) || !names.insert(name).second) return false;
    if (end != header.npos) header.remove_prefix(end + 1);
  }
  return names.size() > 1;
}

/// Returns true if each whole row in `rest` has this number of marks, and at least one has.
bool has_rows(std::string_view rest, std::size_t marks, char mark, bool is_all) {
  std::size_t rows = 0;
  for (std::size_t n = 0; n != kRows && !rest.empty(); ++n) {
    const bool is_ended = rest.ends_with('\n');
    const std::string_view row = take_row(rest);
    const bool is_cut = rest.empty() && !is_all && !is_ended;
    if (is_cut || row.empty() || row == "\r") continue;
    if (marks_in(row, mark) != marks) return false;
    ++rows;
  }
  return rows != 0;
}

}  // namespace

std::string_view kind_of_text(std::string_view head, bool is_all) {
  head.remove_prefix(detail::byte_order_mark_bytes(head));
  if (is_json_line(head, is_all)) return "jsonl";
  std::string_view rest = head;
  const std::string_view header = take_row(rest);
  const char mark = delimiter_of(head, is_all);
  const bool is_table =
      mark != 0 && has_column_names(header, mark) && has_rows(rest, marks_in(header, mark), mark, is_all);
  return is_table ? "csv" : "lines";
}

char delimiter_of(std::string_view head, bool is_all) {
  const std::size_t end = head.find('\n');
  if (end == head.npos && !is_all) return '\0';  // the header is not complete
  std::string_view rest = head;
  const std::string_view header = take_row(rest);
  if (marks_in(header, ',') != 0) return ',';
  for (const char mark : {'\t', ';', '|'}) {
    const std::size_t marks = marks_in(header, mark);
    std::string_view rows = rest;
    bool fits_all = marks != 0;
    for (std::size_t n = 0; n != kRows && fits_all && !rows.empty(); ++n) {
      const std::string_view row = take_row(rows);
      const bool is_cut = rows.empty() && !is_all;
      if (!is_cut && row != "" && row != "\r") fits_all = marks_in(row, mark) == marks;
    }
    if (fits_all) return mark;
  }
  return '\0';
}

}  // namespace sluice::lib::cli
