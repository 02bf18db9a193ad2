// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/file_readers.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "cli/inputs/file_checks.hpp"
#include "cli/inputs/file_kind.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/verbs.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/listed.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

constexpr reader kReaders[] = {{"tfrecord", "tfrecord", false, "", ""},
                               {"lines", "lines", false, "", ""},
                               {"csv", "csv", true, "header=true", ""},
                               {"tsv", "csv", true, "header=true, delimiter=\"\\t\"", "", '\t'},
                               {"jsonl", "jsonl", true, "", ""},
                               {"npy", "npy", false, "", ""},
                               {"tar", "tar", false, "", ""},
                               {"webdataset", "webdataset", false, "", ""},
                               {"zip", "zip_members", false, "", ""},
                               {"arrow", "from_arrow", true, "", " | unbatch"},
                               {"npz", "zip_members", false, "", " | map({name: name, array: decode_npy(bytes)})"}};

/// CSV whose header shows another delimiter than the comma.
constexpr reader kSemicolons{"csv", "csv", true, "header=true, delimiter=\";\"", "", ';'};
constexpr reader kBars{"csv", "csv", true, "header=true, delimiter=\"|\"", "", '|'};

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

/// Returns the delimiter of a table in text: a comma if the header has one outside quotes; else the tab, semicolon or bar
/// that occurs equally often in the header and in each of the next rows; 0 if no such character exists.
/// `is_all`: `head` is the whole file.
char delimiter_of(std::string_view head, bool is_all) {
  constexpr std::size_t kRows = 20;
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

/// The reader of a text whose name ends in .csv or .tsv: in a .tsv the delimiter is always the tab.
const reader& reader_of_table(std::string_view format, const sampled_file& s) {
  if (format == "tsv") return reader_named(format);
  switch (delimiter_of(s.head, s.is_all)) {
    case '\t': return reader_named("tsv");
    case ';': return kSemicolons;
    case '|': return kBars;
    default: return reader_named(format);
  }
}

}  // namespace

std::vector<std::string> reader_formats() {
  std::vector<std::string> all;
  for (const reader& r : kReaders) all.emplace_back(r.format);
  return all;
}

const reader& reader_named(std::string_view format) {
  for (const reader& r : kReaders)
    if (r.format == format) return r;
  throw misuse(absl::StrCat("--from is one of ", absl::StrJoin(reader_formats(), ", "), ", not ", std::string(format)));
}

result<const reader*> find_reader(const std::string& file, compression c) {
  const std::string_view by_name = kind_of_name(file);
  const bool has_checks =
      !by_name.empty() && by_name != "lines" && by_name != "csv" && by_name != "tsv" && by_name != "jsonl";
  if (detail::is_remote(file) && has_checks) return &reader_named(by_name);
  std::error_code unknown;
  const std::string path = detail::without_file_scheme(file);
  if (file != "-" && !detail::is_remote(file) && !std::filesystem::exists(path, unknown))
    return detail::cannot_open(unknown ? unknown.value() : ENOENT, path);
  const sampled_file s = sample_of(file, c);
  const std::string name(without_query(file));
  auto kind = kind_of({.name = name, .head = s.head, .tail = s.tail, .is_all = s.is_all, .is_packed = s.is_packed});
  if (kind.ok() && (*kind == "zip" || *kind == "npz") && (s.is_packed || !names_file(file)))
    return unimplemented_error(
        "is a zip archive, whose list of members is at its end: unpack it, or copy it to a file, and name that");
  if (kind.ok() && (*kind == "csv" || *kind == "tsv")) return &reader_of_table(*kind, s);
  if (kind.ok()) return &reader_named(*kind);
  if (kind.why().code() != status_code::invalid_argument || c != compression::automatic) return kind.why();
  // Bytes of an unknown kind in a file that is named as a compressed one are damage.
  if (status why = check_name(file); !why.ok()) return why;
  return kind.why();
}

const reader& reader_of(const std::string& file) {
  auto found = find_reader(file);
  if (found.ok()) return **found;
  const status& why = found.why();
  const bool is_kind = why.code() == status_code::unimplemented || why.code() == status_code::invalid_argument;
  if (!is_kind || !why.where().file.empty()) throw_status(why);
  throw misuse(absl::StrCat(file == "-" ? "standard input" : file, " ", std::string(why.message())));
}

std::string plan_for(const std::string& file, const reader& r, const std::string& schema) {
  if (!find_op(r.op))
    throw misuse(absl::StrCat(file, ": this sluice has no operator ", std::string(r.op), ", which reads it"));
  std::string text = absl::StrCat(std::string(r.op), "(", in_quotes(file));
  if (r.takes_schema && !schema.empty())
    absl::StrAppend(&text, r.format == "arrow" ? ", schema=" : ", ", in_quotes(schema));
  if (!r.options.empty()) absl::StrAppend(&text, ", ", std::string(r.options));
  return absl::StrCat(text, ")", std::string(r.behind));
}

}  // namespace sluice::lib::cli
