// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/format_options.hpp"

#include <absl/strings/str_cat.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "cli/inputs/file_readers.hpp"
#include "cli/options/option_checks.hpp"

namespace sluice::lib::cli {
namespace {

/// Reads one character, or the words for a tab. Returns 0 for other texts.
char sign_of(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  const bool is_sign = text.size() == 1 && text != "\n" && text != "\r" && text != "\"";
  return is_sign ? text[0] : '\0';
}

CLI::Validator sign() {
  auto check = [](const std::string& text) -> std::string {
    if (sign_of(text) != 0) return {};
    return absl::StrCat("expects one character that is no quote and no line end, or tab, and is \"", text, "\"");
  };
  return CLI::Validator(check, "CHARACTER");
}

bool read_rows(const std::string& text, std::int64_t& rows) {
  if (text == "all") return rows = -1, true;
  auto read = std::from_chars(text.data(), text.data() + text.size(), rows);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && rows > 0;
}

CLI::Validator rows_or_all() {
  auto check = [](const std::string& text) -> std::string {
    std::int64_t rows = 0;
    if (read_rows(text, rows)) return {};
    return absl::StrCat("expects a number of rows from 1 on, or all, and is \"", text, "\"");
  };
  return CLI::Validator(check, "ROWS|all");
}

}  // namespace

std::string format_arguments::first_of_csv() const {
  if (!delimiter.empty()) return "--delimiter";
  if (has_no_header) return "--no-header";
  return escape.empty() ? "" : "--escape";
}

std::string format_arguments::first_given() const {
  if (!from.empty()) return "--from";
  if (!schema.empty()) return "--schema";
  if (std::string name = first_of_csv(); !name.empty()) return name;
  return infer ? "--infer" : "";
}

void add_format_options(CLI::App& verb, format_arguments& to) {
  verb.add_option("--from", to.from, "the files' format; by default detected by contents and names")
      ->check(one_of(reader_formats()));
  verb.add_option(
      "--schema", to.schema,
      "names and types of the columns, such as \"text: string, label: int64?\", for CSV, JSON lines and Arrow, and of "
      "the features of tf.Examples, such as \"text: bytes, values: float[16]\"; by default inferred");
  verb.add_option_function<std::string>(
          "--delimiter", [&to](const std::string& text) { to.delimiter = sign_of(text); },
          "the character between the fields of CSV, or tab; by default detected: a comma, tab, semicolon or bar")
      ->check(sign());
  verb.add_flag("--no-header", to.has_no_header, "the first row of CSV is data; the columns are c0, c1 …");
  verb.add_option_function<std::string>(
          "--escape", [&to](const std::string& text) { to.escape = sign_of(text); },
          "the character of CSV after which a character stands for itself, such as \\; by default none, and a quote is "
          "written twice")
      ->check(sign());
  verb.add_option_function<std::string>(
          "--infer",
          [&to](const std::string& text) {
            std::int64_t rows = 0;
            if (read_rows(text, rows)) to.infer = rows;
          },
          "the number of rows of CSV or lines of JSON from which a schema is inferred, or all; 100 by default, of the "
          "first MiB")
      ->check(rows_or_all());
}

csv_dialect dialect_of(const format_arguments& a, char delimiter) {
  csv_dialect d;
  d.delimiter = a.delimiter.empty() ? delimiter : a.delimiter[0];
  d.escape = a.escape.empty() ? '\0' : a.escape[0];
  d.header = !a.has_no_header;
  return d;
}

}  // namespace sluice::lib::cli
