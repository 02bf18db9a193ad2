// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/text_kind.hpp"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text/byte_order_mark.hpp"
#include "base/text/utf8_beginning.hpp"
#include "format/json/json_rows.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib::cli {
namespace {

using namespace std::string_view_literals;

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

/// Returns UTF-16 or UTF-32 by a byte order mark.
std::string_view marked_encoding(std::string_view head) {
  if (head.starts_with("\xff\xfe\0\0"sv) || head.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (head.starts_with("\xff\xfe"sv) || head.starts_with("\xfe\xff"sv)) return "UTF-16";
  return {};
}

/// Texts without a mark, of which most characters are ASCII: their NUL bytes stand at fixed places.
std::string_view unmarked_encoding(std::string_view head) {
  head = head.substr(0, std::min(head.size() / 4 * 4, kTextBytes));
  if (head.size() < 4) return {};
  std::array<std::size_t, 4> nuls{};
  for (std::size_t i = 0; i != head.size(); ++i) nuls[i % 4] += head[i] == '\0';
  const std::size_t units = head.size() / 4, most = units - units / 10;
  const auto full = [&](std::size_t i) { return nuls[i] >= most; };
  const auto empty = [&](std::size_t i) { return nuls[i] == 0; };
  const std::size_t printable = static_cast<std::size_t>(std::ranges::count_if(head, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte != 0x7f) || byte == '\t' || byte == '\n' || byte == '\r';
  }));
  const std::size_t all_nuls = nuls[0] + nuls[1] + nuls[2] + nuls[3];
  if (printable * 10 < (head.size() - all_nuls) * 9) return {};  // numbers, rather than characters
  if (empty(0) && full(1) && full(2) && full(3)) return "UTF-32LE";
  if (full(0) && full(1) && full(2) && empty(3)) return "UTF-32BE";
  if (empty(0) && empty(2) && full(1) && full(3)) return "UTF-16LE";
  if (empty(1) && empty(3) && full(0) && full(2)) return "UTF-16BE";
  return {};
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

bool is_text_head(std::string_view head, bool is_all) {
  const bool is_cut = !is_all || head.size() > kTextBytes;
  head = head.substr(0, kTextBytes);
  if (head.find('\0') != head.npos) return false;
  return is_cut ? detail::is_utf8_beginning(head) : is_utf8(head);
}

bool has_controls(std::string_view head) {
  return std::ranges::any_of(head.substr(0, kTextBytes), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < ' ' && "\b\t\n\v\f\r\x1b"sv.find(c) == std::string_view::npos);
  });
}

markup_page markup_page_of(std::string_view head) {
  head.remove_prefix(detail::byte_order_mark_bytes(head));
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  const std::string begin = absl::AsciiStrToLower(std::string(head.substr(0, 16)));
  if (begin.starts_with("<!doctype html") || begin.starts_with("<html"))
    return {"an HTML page", "servers answer requests that fail with one; `cat FILE` shows it"};
  if (begin.starts_with("<?xml "))
    return {"an XML document", "stores answer requests that fail with one; `cat FILE` shows it"};
  return {};
}

std::string_view excel_delimiter(std::string_view head) {
  head.remove_prefix(detail::byte_order_mark_bytes(head));
  if (!head.starts_with("sep=") || head.size() < 6) return {};
  return head[5] == '\n' || head[5] == '\r' ? head.substr(4, 1) : std::string_view();
}

std::string_view wide_encoding(std::string_view head) {
  const std::string_view marked = marked_encoding(head);
  return marked.empty() ? unmarked_encoding(head) : marked;
}

}  // namespace sluice::lib::cli
