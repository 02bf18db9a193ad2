// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/file_readers.hpp"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/text/plan_quotes.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/file_checks.hpp"
#include "cli/inputs/file_kind.hpp"
#include "cli/inputs/format_options.hpp"
#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/stream_schema.hpp"
#include "cli/inputs/text_kind.hpp"
#include "cli/options/typed_command.hpp"
#include "cli/verbs.hpp"
#include "format/codec/compression_suffix.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/listed.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

constexpr reader kReaders[] = {{"tfrecord", "tfrecord", ""},
                               {"lines", "lines", ""},
                               {"csv", "csv", ""},
                               {"tsv", "csv", "", '\t'},
                               {"jsonl", "jsonl", ""},
                               {"npy", "npy", ""},
                               {"tar", "tar", ""},
                               {"webdataset", "webdataset", ""},
                               {"zip", "zip_members", ""},
                               {"arrow", "from_arrow", " | unbatch"},
                               {"parquet", "parquet", ""},
                               {"bagz", "bagz", ""},
                               {"array_record", "array_record", ""},
                               {"mds", "mds", ""},
                               {"npz", "zip_members", " | map({name: name, array: decode_npy(bytes)})"}};

/// Prints "note: people.csv is empty" once: a verb may look at a file more than once.
void note_once(const std::string& file, const std::string& words) {
  static absl::flat_hash_set<std::string> noted;
  if (!noted.insert(absl::StrCat(file, "\n", words)).second) return;
  std::fprintf(stderr, "note: %s %s\n", file == "-" ? "standard input" : detail::redacted(file).c_str(), words.c_str());
}

/// An array of objects in one line is one element, which its author rarely means.
void note_one_array(const std::string& file, std::string_view head) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = head.find_first_not_of(kBlanks);
  if (begin == head.npos || head[begin] != '[') return;
  const std::size_t first = head.find_first_not_of(kBlanks, begin + 1), line_end = head.find('\n', begin);
  if (first == head.npos || head[first] != '{' || line_end < first) return;
  if (line_end != head.npos && head.find_first_not_of(kBlanks, line_end) != head.npos) return;
  note_once(file, absl::StrCat("begins with one JSON array, which is one element; `jq -c '.[]' ",
                               file == "-" ? std::string("FILE") : shell_word(detail::redacted(file)),
                               " > out.jsonl` makes an element of each object in it"));
}

/// The reader of a text whose name ends in .csv or .tsv: in a .tsv the delimiter is always the tab.
reader reader_of_table(std::string_view format, const sampled_file& s) {
  reader r = reader_named(format);
  r.is_empty = is_blank(s);
  if (format == "tsv") return r;
  if (const char mark = delimiter_of(s.head, s.is_all); mark != 0) r.delimiter = mark;
  return r;
}

}  // namespace

std::vector<std::string> reader_formats() {
  std::vector<std::string> all;
  for (const reader& r : kReaders) all.emplace_back(r.format);
  return all;
}

reader reader_named(std::string_view format) {
  for (const reader& r : kReaders)
    if (r.format == format) return r;
  throw misuse(absl::StrCat("--from is one of ", absl::StrJoin(reader_formats(), ", "), ", not ", std::string(format)));
}

result<reader> find_reader(const std::string& file, compression c) {
  const std::string_view by_name = kind_of_name(file);
  const bool has_checks =
      !by_name.empty() && by_name != "lines" && by_name != "csv" && by_name != "tsv" && by_name != "jsonl";
  if (detail::is_remote(file) && has_checks) return reader_named(by_name);
  std::error_code unknown;
  const std::string path = detail::without_file_scheme(file);
  if (file != "-" && !detail::is_remote(file) && !std::filesystem::exists(path, unknown))
    return detail::cannot_open(unknown ? unknown.value() : ENOENT, path);
  const sampled_file s = sample_of(file, c);
  const std::string name(without_query(file));
  if (s.is_packed && detect_compression(s.head) != compression::none)
    return unimplemented_error(
        absl::StrCat("is compressed twice: decompress it first, as by gzip -dc, and read the result"));
  auto kind = kind_of({.name = name, .head = s.head, .tail = s.tail, .is_all = s.is_all, .is_packed = s.is_packed});
  if (kind.ok() && (*kind == "zip" || *kind == "npz") && (s.is_packed || !names_file(file)))
    return unimplemented_error(
        "is a zip archive, whose list of members is at its end: unpack it, or copy it to a file, and name that");
  if (kind.ok() && *kind == "parquet" && (s.is_packed || !names_file(file)))
    return unimplemented_error(s.is_packed
                                   ? "is a compressed Parquet file, whose footer is at its end: decompress it first"
                                   : "is a Parquet file, whose footer is at its end: copy it to a file, and name that");
  if (kind.ok() && (*kind == "csv" || *kind == "tsv")) return reader_of_table(*kind, s);
  if (kind.ok() && (*kind == "jsonl" || *kind == "lines")) note_one_array(file, s.head);
  if (kind.ok()) return reader_named(*kind);
  if (kind.why().code() != status_code::invalid_argument || c != compression::automatic) return kind.why();
  // Bytes of an unknown kind in a file that is named as a compressed one are damage.
  const bool is_named = file != "-" && is_file(file);
  if (is_named && !s.is_packed)
    if (status why = check_compression_suffix(s.head, file); !why.ok()) return why;
  return kind.why();
}

reader reader_of(const std::string& file) {
  auto found = find_reader(file);
  if (found.ok()) return *found;
  const status& why = found.why();
  const bool is_kind = why.code() == status_code::unimplemented || why.code() == status_code::invalid_argument;
  if (!is_kind || !why.where().file.empty()) throw_status(why);
  throw misuse(absl::StrCat(file == "-" ? "standard input" : file, " ", std::string(why.message())));
}

namespace {

/// Prints a note if the first row of a file does not contain the typed delimiter, and looks like one with another.
void note_other_delimiter(const std::string& file, char typed) {
  static bool is_noted = false;  // for one file of several
  const sampled_file s = sample_of(file);
  const std::string_view row = std::string_view(s.head).substr(0, s.head.find('\n'));
  const char found = delimiter_of(s.head, s.is_all);
  if (is_noted || found == 0 || row.find(typed) != row.npos) return;
  is_noted = true;
  auto words = [](char c) { return c == '\t' ? std::string("tab") : absl::StrCat("'", std::string(1, c), "'"); };
  std::fprintf(stderr, "note: the first row of %s contains no %s; without --delimiter, %s is detected\n",
               detail::redacted(file).c_str(), words(typed).c_str(), words(found).c_str());
}

}  // namespace

reader reader_of(const std::string& file, const format_arguments& a) {
  // The delimiter is detected where CSV is named, too.
  const bool is_table = a.from == "csv" || a.from == "tsv";
  reader r = a.from.empty() ? reader_of(file)
             : is_table     ? reader_of_table(a.from, sample_of(file))
                            : reader_named(a.from);
  if (is_table && !a.delimiter.empty()) r.delimiter = reader_named(a.from).delimiter;
  if (r.op == "csv" && !a.delimiter.empty() && is_file(file)) note_other_delimiter(file, a.delimiter[0]);
  return r;
}

namespace {

/// "JSON lines", for messages.
std::string_view words_for(const reader& r) {
  if (r.format == "jsonl") return "JSON lines";
  if (r.format == "tfrecord") return "TFRecords";
  if (r.format == "lines") return "lines of text";
  return r.format;
}

}  // namespace

void check_options(const std::string& file, const reader& r, const format_arguments& a) {
  const std::string name = file == "-" ? "standard input" : detail::redacted(file);
  auto refuse = [&](const std::string& option, std::string_view formats) {
    throw misuse(absl::StrCat(
        option, " applies to ", std::string(formats), ", and ", name, " is read as ", std::string(words_for(r)),
        a.from.empty() ? absl::StrCat(": leave ", option, " out, or read the file as CSV with --from csv")
                       : absl::StrCat(" (--from ", a.from, ")")));
  };
  if (std::string option = a.first_of_csv(); !option.empty() && r.op != "csv") refuse(option, "CSV");
  const bool infers = r.op == "csv" || r.op == "jsonl";
  if (a.infer && !infers) refuse("--infer", "CSV and JSON lines");
  if (a.infer && !a.schema.empty())
    throw misuse("give --infer or --schema, not both: --infer detects the types from rows, and --schema states them");
  const bool has_columns = r.op == "from_arrow" || r.op == "parquet";
  if (!a.schema.empty() && !infers && !has_columns && r.op != "tfrecord")
    refuse("--schema", "CSV, JSON lines, Arrow, Parquet and tf.Examples");
  if (!a.delimiter.empty() && a.delimiter == a.escape) throw misuse("--delimiter and --escape are the same character");
}

namespace {

void append_csv_options(std::string& text, const reader& r, const format_arguments& a) {
  const csv_dialect d = dialect_of(a, r.delimiter);
  if (d.header) text += ", header=true";
  if (d.delimiter != ',') absl::StrAppend(&text, ", delimiter=", detail::in_quotes(std::string(1, d.delimiter)));
  if (d.escape != 0) absl::StrAppend(&text, ", escape=", detail::in_quotes(std::string(1, d.escape)));
}

}  // namespace

std::string plan_for(const std::string& file, const reader& r, const format_arguments& a) {
  if (!find_op(r.op))
    throw misuse(absl::StrCat(file, ": this sluice has no operator ", std::string(r.op), ", which reads it"));
  check_options(file, r, a);
  if (r.is_empty && a.schema.empty()) {
    note_once(file, "is empty: it has no header, and no rows");
    return absl::StrCat("lines(", detail::in_quotes(file), ") | take(0)");
  }
  const bool is_stream = a.schema.empty() && !names_file(file) && !is_file_pattern(file);
  const std::string schema = is_stream ? schema_of_stream(file, r, a) : a.schema;
  std::string text = absl::StrCat(std::string(r.op), "(", detail::in_quotes(file));
  const bool has_columns = r.op == "from_arrow" || r.op == "parquet";
  const bool is_inner = r.op == "csv" || r.op == "jsonl" || has_columns;
  if (is_inner && !schema.empty()) absl::StrAppend(&text, has_columns ? ", schema=" : ", ", detail::in_quotes(schema));
  if (r.op == "csv") append_csv_options(text, r, a);
  if (a.infer && schema.empty()) absl::StrAppend(&text, ", infer=", *a.infer);
  if (r.op == "jsonl" && (is_stream || a.is_merged) && !schema.empty()) absl::StrAppend(&text, ", strict=true");
  absl::StrAppend(&text, ")", std::string(r.behind));
  if (r.op == "tfrecord" && !schema.empty())
    absl::StrAppend(&text, " | parse_example(", detail::in_quotes(schema), ")");
  return text;
}

}  // namespace sluice::lib::cli
