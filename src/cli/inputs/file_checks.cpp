// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/file_checks.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <filesystem>
#include <utility>

#include "base/text/byte_order_mark.hpp"
#include "base/text/plan_quotes.hpp"
#include "cli/inputs/file_readers.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/verbs.hpp"
#include "engine/files/arrow_rows_in_file.hpp"
#include "engine/files/file_head.hpp"
#include "format/archive/tar_archive.hpp"
#include "format/codec/compression_suffix.hpp"
#include "format/json/json_rows.hpp"
#include "format/npy_rows.hpp"
#include "io/paths/file_router.hpp"
#include "op/csv/infer.hpp"
#include "op/jsonl/infer.hpp"
#include "sluice/format/csv_schema.hpp"
#include "sluice/op/csv.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::size_t kErrorsKept = 16;
constexpr std::int64_t kAllBytes = std::int64_t{1} << 62;

class json_lines_sink final : public checking_sink {
 public:
  explicit json_lines_sink(std::string file) : file_(std::move(file)) {}

  status take(const block& lines) override {
    for (std::uint32_t i = 0; i != lines.size(); ++i) {
      std::string_view text = lines.type().text(lines.at(i));
      if (++number_ == 1) text.remove_prefix(detail::byte_order_mark_bytes(text));
      if (text.find_first_not_of(" \t\r") == text.npos) {
        ++passed_;
        continue;
      }
      status why = json_.check(text);
      if (why.code() == status_code::unimplemented) return why.in_file(file_);
      if (why.ok()) {
        is_first_ = false;
        continue;
      }
      if (std::exchange(is_first_, false))
        if (status several = jsonl_text_of_several_lines(text, file_); !several.ok()) {
          passed_ += lines.size() - i;
          return several;
        }
      found(data_loss_error(absl::StrCat("line ", number_, ": ", std::string(why.message())))
                .in_file(file_, provenance::kUnknown, number_ - 1));
    }
    return {};
  }

 private:
  std::string file_;
  std::uint64_t number_ = 0;
  bool is_first_ = true;
  json_text_check json_;
};

//// Reads every field as a text, and the header as a row like the others: the types of the values are not checked.
file_check check_of_csv(const std::string& file, const csv_dialect& dialect, compression c) {
  bool is_all = false;
  std::string begin = names_file(file) ? std::string() : beginning_of_stream(file, is_all);
  std::vector<csv_column> columns(csv_fields_in_first_row(names_file(file)
                                                              ? file_pieces(file, c, inflate_limits())
                                                              : file_pieces(file, std::move(begin), is_all, c),
                                                          dialect)
                                      .value());
  for (std::size_t i = 0; i != columns.size(); ++i) {
    columns[i].member = columns[i].name = absl::StrCat("c", i);
    columns[i].otherwise = "";
  }
  csv_arguments a;
  a.path.value = file;
  a.schema = column_schema_arg(csv_schema_of(std::move(columns)), "csv");
  a.options.compression = c;
  a.options.delimiter = std::string(1, dialect.delimiter);
  if (dialect.escape != 0) a.options.escape = std::string(1, dialect.escape);
  file_check made;
  made.plan = make_source(csv_op, arguments::of(std::move(a)));
  made.sink = std::make_unique<checking_sink>();
  made.head_elements = dialect.header ? 1 : 0;
  return made;
}

/// Returns the piece size of a local archive: blocks, unless the file ends within one.
std::size_t tar_piece(const std::string& file) {
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(detail::without_file_scheme(file), unknown);
  return !unknown && size % kTarBlockBytes == 0 ? kTarBlockBytes : 1;
}

file_check check_by(const std::string& file, const reader& found, const format_arguments& a, compression c) {
  std::string_view format = found.format;
  const std::string options =
      c == compression::automatic ? "" : absl::StrCat(", compression=", std::string(to_string(c)));
  check_options(file, found, a);
  if (found.is_empty && a.schema.empty()) format = "lines";
  else if (found.op == "csv" && a.schema.empty()) return check_of_csv(file, dialect_of(a, found.delimiter), c);
  // A plan's error has no code, and a damaged schema is damage.
  if (format == "arrow" && file != "-") arrow_rows_in_file(file, c).value();
  file_check made;
  made.sink = std::make_unique<checking_sink>();
  made.is_npy = format == "npy";
  if (format == "jsonl" && a.schema.empty()) {
    made.sink = std::make_unique<json_lines_sink>(file);
    format = "lines";
  }
  const reader& r = reader_named(format);
  const bool takes_compression =
      r.op != "zip_members" && r.op != "parquet" && r.op != "bagz" && r.op != "array_record" && r.op != "mds";
  const bool has_schema = r.op == "csv" || r.op == "jsonl" || r.op == "from_arrow" || r.op == "parquet";
  std::string text = plan_for(file, r.op == "csv" ? found : r, has_schema ? a : format_arguments());
  if (takes_compression && !options.empty()) text.insert(text.rfind(')'), options);
  made.plan = plan_of_file(file, text, has_schema ? a : format_arguments());
  const bool ends_early = format == "npy" || format == "tar" || format == "webdataset" || format == "arrow";
  const bool is_packed = c == compression::automatic ? is_compressed(file) : c != compression::none;
  if (file == "-" || !names_data(file)) return made;
  made.is_tar = (format == "tar" || format == "webdataset") && (is_packed || is_file(file));
  if (made.is_tar)
    made.to_end = plan_of(
        absl::StrCat("fixed_length(", detail::in_quotes(file), ", ", is_packed ? 1 : tar_piece(file), options, ")"));
  else if (ends_early && is_packed)
    made.to_end =
        plan_of(absl::StrCat("fixed_length(", detail::in_quotes(file), ", 1", options, ") | skip(", kAllBytes, ")"));
  return made;
}

}  // namespace

void checking_sink::found(status why) {
  ++errors_;
  if (first_errors_.size() < kErrorsKept) first_errors_.push_back(std::move(why));
}

result<file_check> check_of(const std::string& file, const format_arguments& format, compression c) {
  try {
    const bool is_detected = format.from.empty();
    auto found = is_detected ? find_reader(file, c) : result<reader>(reader());
    if (!found.ok()) {
      const std::string name = file == "-" ? "standard input" : file;
      if (found.why().code() != status_code::invalid_argument) return found.why().in_file(name);
      throw misuse(absl::StrCat(name, " ", std::string(found.why().message())));
    }
    if (c == compression::automatic)
      if (status why = check_name(file); !why.ok()) return why;
    return check_by(file, is_detected ? *found : reader_of(file, format), format, c);
  } catch (const error& e) { return e.why(); }
}

status check_name(const std::string& file) {
  if (file == "-" || !is_file(file) || compression_suffix(file).empty()) return {};
  auto begin = read_file_head(file, compression::none, kCompressionGuessBytes);
  // reading it reports the reason
  if (!begin.ok() || detect_compression(begin->bytes, file) != compression::none) return {};
  status why = check_compression_suffix(begin->bytes, file);
  return why.ok()
             ? why
             : why.with_message(absl::StrReplaceAll(std::string(why.message()), {{"compression=", "--compression "}}));
}

status check_npy_size(const std::string& file, std::uint64_t size_bytes) {
  auto begin = read_file_head(file, compression::none, kNpyHeadBytesMax);
  npy_head head;
  if (!begin.ok()) return begin.why();
  npy_scan s = read_npy_head(begin->bytes, head);
  if (!s.why.ok()) return s.why.in_file(file);
  const std::uint64_t declared_bytes =
      s.used_bytes + head.rows * head.row_bytes;  // the rows were read, so this is at most the file's size
  if (declared_bytes >= size_bytes) return {};
  return data_loss_error(absl::StrCat(size_bytes - declared_bytes, " bytes follow the ", head.rows,
                                      " rows that the header declares"))
      .in_file(file, declared_bytes);
}

}  // namespace sluice::lib::cli
