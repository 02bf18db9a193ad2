// SPDX-License-Identifier: Apache-2.0
#include "cli/messages/advice.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text/closest.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/file_readers.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/options/typed_command.hpp"
#include "io/paths/file_router.hpp"
#include "output/data_folder.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

bool is_format_typed = false;  ///< set before the verb runs

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// Returns the suggestion of a file with a similar name in the same folder.
std::string similar_file(const std::string& path) {
  constexpr std::size_t kNamesMax = 10000;
  const std::filesystem::path missing(detail::without_file_scheme(path));
  const std::filesystem::path folder = missing.parent_path();
  std::error_code unreadable;
  if (detail::is_remote(path) || std::filesystem::exists(missing, unreadable)) return {};
  if (std::filesystem::is_symlink(missing, unreadable))
    return absl::StrCat("; it is a link to ", std::filesystem::read_symlink(missing, unreadable).string(),
                        ", which does not exist");
  std::vector<std::string> names;
  std::filesystem::directory_iterator entries(folder.empty() ? "." : folder, unreadable);
  for (; !unreadable && entries != std::filesystem::directory_iterator() && names.size() != kNamesMax;
       entries.increment(unreadable))
    names.push_back((folder / entries->path().filename()).string());
  return detail::did_you_mean(path, names);
}

/// Returns "is a CSV file".
std::string content_of(const reader& r) {
  static constexpr std::pair<std::string_view, std::string_view> kContents[] = {
      {"csv", "is a CSV file"},
      {"tsv", "is a CSV file"},
      {"jsonl", "contains JSON lines"},
      {"npy", "is an npy file"},
      {"tar", "is a tar archive"},
      {"webdataset", "is a tar archive"},
      {"zip", "is a zip archive"},
      {"arrow", "contains Arrow"},
      {"npz", "is an npz file"},
      {"tfrecord", "contains TFRecords"},
      {"parquet", "is a Parquet file"},
      {"bagz", "is a Bagz file"},
      {"array_record", "is an ArrayRecord file"},
      {"mds", "is the index of an MDS folder"}};
  for (const auto& [format, words] : kContents)
    if (r.format == format) return std::string(words);
  return "contains lines of text";
}

/// Returns the plan that reads the file, if the stage that failed at its beginning reads another format.
std::string reader_of_content(const provenance& at, std::string_view message) {
  const bool has_place = at.offset_bytes != provenance::kUnknown || at.record_index != provenance::kUnknown;
  const bool is_beginning = at.offset_bytes == 0 || at.record_index == 0 ||
                            (!has_place && (message.starts_with("line 1: ") || at.element == provenance::kUnknown));
  if (message.starts_with("is named .")) return {};                             // it is damaged, whatever its format
  const bool is_later_stage = has_place && at.element != provenance::kUnknown;  // not the stage that reads the file
  if (at.stage == "mds") return {};  // shards show no format: index.json states it
  // A manifest states the format of the files of its folder.
  if ((at.stage == "load" || at.stage == "snapshot") &&
      is_file((std::filesystem::path(at.file).parent_path() / kManifestName).string()))
    return {};
  if (at.stage.empty() || is_later_stage || !is_beginning || at.file.empty() || !is_file(at.file)) return {};
  try {
    const reader found = reader_of(at.file);
    if (found.op == at.stage) return {};
    if (is_format_typed) return absl::StrCat("; ", at.file, " ", content_of(found), ": leave --from out");
    return absl::StrCat("; ", at.file, " ", content_of(found), ": read it by ", plan_for(at.file, found, {}));
  } catch (const std::exception& e) { return absl::StrCat("; ", e.what()); }
}

/// Returns "if(n != 0, 6 / n, 0)" for the stage "map(6 / n)".
std::string without_zero(std::string_view stage) {
  constexpr std::string_view kAny = "if(y != 0, x / y, 0)";
  const std::size_t open = stage.find('(');
  if (open == stage.npos) return std::string(kAny);
  const std::string_view inside = stage.substr(open + 1, stage.rfind(')') - open - 1);
  const std::size_t sign = std::min(inside.find(" / "), inside.find(" % "));
  if (sign == inside.npos || inside.find_first_of("(){},") != inside.npos) return std::string(kAny);
  const std::string_view divisor = inside.substr(sign + 3);
  const bool is_constant = divisor.find_first_not_of("0123456789.") == divisor.npos;
  if (is_constant || divisor.find(' ') != divisor.npos || inside.substr(0, sign).find(' ') != inside.npos)
    return std::string(kAny);
  return absl::StrCat("if(", std::string(divisor), " != 0, ", std::string(inside), ", 0)");
}

/// Returns the suggestion for a pattern that no file matches.
std::string way_to_files(std::string_view message, std::string_view file) {
  const std::size_t begin = message.find("matches the pattern \"");
  const bool is_in_file = contains(message, "matches this pattern");
  if (begin == message.npos && !is_in_file) return {};
  std::string_view pattern = is_in_file ? file : message.substr(message.find('"', begin) + 1);
  pattern = pattern.substr(0, pattern.find_first_of("*?[{\""));
  const std::string folder(pattern.substr(0, pattern.rfind('/') + 1));
  return absl::StrCat("; sluice ls '", folder, "*' lists the files that exist");
}

/// Returns the first variable of the shell in a path, such as "$HOME"; empty for a path without variables.
std::string variable_in(std::string_view path) {
  const std::size_t at = path.find('$');
  if (at == path.npos) return {};
  const auto is_of_name = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '{' || c == '}';
  };
  std::size_t end = at + 1;
  while (end != path.size() && is_of_name(path[end])) ++end;
  return end == at + 1 ? std::string() : std::string(path.substr(at, end - at));
}

/// Returns what to do if a file to read does not exist, and no name is similar.
std::string way_to_folder_of(const std::string& path) {
  if (detail::is_remote(path) || path.find('\'') != path.npos) return {};
  if (path.starts_with("~/")) return "; the shell replaces ~ only outside of quotes";
  if (const std::string name = variable_in(path); !name.empty())
    return absl::StrCat("; the shell replaces ", name, " only outside of single quotes");
  for (const std::string_view scheme : {"http:/", "https:/", "s3:/", "gs:/", "http//", "https//"})
    if (path.starts_with(scheme))
      return absl::StrCat("; did you mean ", std::string(scheme.substr(0, scheme.find_first_of(":/"))), "://",
                          path.substr(scheme.size()), "?");
  if (const std::string::size_type comma = path.find(','); comma != path.npos && is_file(path.substr(0, comma)))
    return absl::StrCat("; a verb reads one file, or a pattern such as '*.csv': name ", path.substr(0, comma),
                        " alone");
  const std::filesystem::path folder = std::filesystem::path(detail::without_file_scheme(path)).parent_path();
  std::error_code unreadable;
  if (!folder.empty() && !std::filesystem::is_directory(folder, unreadable))
    return absl::StrCat("; the folder ", folder.string(), " does not exist");
  return absl::StrCat("; sluice ls '", (folder / "*").string(), "' lists the files that exist");
}

/// Returns how the folder of a file to create is created.
std::string way_to_new_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(detail::without_file_scheme(path)).parent_path().string();
  std::error_code unknown;
  if (folder.empty() || std::filesystem::exists(folder, unknown)) return {};
  return absl::StrCat("; the folder ", folder, " does not exist; create it: mkdir -p ", shell_word(folder));
}

/// Returns the advice for the missing index of an MDS folder; empty for other files.
std::string way_to_index(const std::string& path) {
  constexpr std::string_view kIndex = "/index.json";
  if (!path.ends_with(kIndex)) return {};
  const std::string folder = path.substr(0, path.size() - kIndex.size());
  std::error_code unknown;
  if (is_file(folder)) return absl::StrCat("; ", folder, " is a file, and mds reads a folder with an index.json");
  return std::filesystem::is_directory(folder, unknown)
             ? absl::StrCat("; mds reads a folder with an index.json, and ", folder, " has none")
             : std::string();
}

/// Returns the advice for a file that does not exist.
std::string way_to_missing(const status& why) {
  const std::string_view message = why.message();
  if (contains(message, "the cache cannot be opened")) return way_to_new_folder(why.where().file);
  if (const std::string advice = way_to_index(why.where().file); !advice.empty()) return advice;
  std::string advice = way_to_files(message, why.where().file);
  if (!advice.empty() || why.where().file.empty()) return advice;
  advice = similar_file(why.where().file);
  if (!advice.empty()) return advice;
  if (contains(message, "cannot read the checkpoint"))
    return "; with --resume-or-start in place of --resume the run starts at the beginning";
  const bool is_read =
      contains(message, "cannot open") || contains(message, "cannot read") || message.starts_with("no such file");
  return is_read && why.where().element == provenance::kUnknown ? way_to_folder_of(why.where().file) : std::string();
}

/// Returns true for the error of one element, which a policy may drop.
bool is_of_element(const status& why) {
  const bool is_bad_value = why.code() == status_code::invalid_argument || why.code() == status_code::not_found ||
                            why.code() == status_code::data_loss || why.code() == status_code::out_of_range ||
                            why.code() == status_code::unknown;
  return is_bad_value && why.where().element != provenance::kUnknown;
}

/// Returns what to do about a row with another number of fields.
std::string way_to_row(std::string_view message) {
  if (contains(message, "line 1: ")) return "; without a header the schema names all columns of the file";
  return "; a field that contains the delimiter or a line break stands in quotes; --on-error skip drops such rows";
}

/// Returns the command that makes texts of a member whose values have several types.
std::string way_to_one_type(std::string_view message, const std::string& file) {
  constexpr std::string_view kMixed = " has several types, which no schema reads";
  const std::size_t end = message.find(kMixed);
  if (end == message.npos) return {};
  const std::string_view name = message.substr(0, end).substr(message.substr(0, end).rfind(' ') + 1);
  return absl::StrCat(": `jq -c '.", std::string(name), " |= tostring' ", shell_word(detail::redacted(file)),
                      " > out.jsonl` makes texts of all");
}

}  // namespace

std::string advice_for(const status& why) {
  const std::string_view message = why.message();
  const provenance& at = why.where();
  if (is_about_folder(why)) return at.stage.empty() ? std::string() : absl::StrCat("; ", way_to_files_in(at.file));
  if (why.code() == status_code::data_loss || why.code() == status_code::invalid_argument) {
    std::string reader = reader_of_content(at, message);
    if (!reader.empty()) return reader;
  }
  std::string advice = why.code() == status_code::not_found ? way_to_missing(why) : std::string();
  if (why.code() == status_code::unavailable && contains(message, "Connection refused") &&
      !contains(message, "check the host and the port"))
    return "; nothing listens at this host and port: check both";
  const bool is_line = at.stage == "jsonl" && at.record_index != provenance::kUnknown && contains(message, "not JSON");
  if (is_line && !contains(message, "on-error")) return absl::StrCat(advice, "; --on-error skip drops such lines");
  if (contains(message, "the schema was inferred from the file's first rows"))
    advice += "; or infer the types from all rows: --infer all, in a plan infer=-1";
  if (at.stage == "csv" && contains(message, "the row has ")) absl::StrAppend(&advice, way_to_row(message));
  if (at.stage == "jsonl") absl::StrAppend(&advice, way_to_one_type(message, at.file));
  if (!is_of_element(why) || contains(message, "on_error") || contains(message, "on-error")) return advice;
  if (contains(message, ": division by zero")) absl::StrAppend(&advice, "; ", without_zero(at.stage), " avoids it");
  return absl::StrCat(advice, "; --on-error skip drops such elements");
}

bool is_about_folder(const status& why) {
  std::error_code unknown;
  const bool may_be = why.code() == status_code::invalid_argument || why.code() == status_code::unavailable;
  return may_be && why.where().element == provenance::kUnknown &&
         std::filesystem::is_directory(detail::without_file_scheme(why.where().file), unknown);
}

void note_typed_format(bool is_typed) { is_format_typed = is_typed; }

bool contains_plan(const std::string& path) {
  constexpr std::uintmax_t kBytesMax = 64 << 10;
  std::error_code unknown;
  if (!is_file(path) || std::filesystem::file_size(path, unknown) > kBytesMax || unknown) return false;
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    parse_plan(text);
    return true;
  } catch (const std::exception&) { return false; }
}

std::string way_to_sql(const std::string& text) {
  const std::string lower = absl::AsciiStrToLower(text);
  constexpr std::string_view kSelect = "select ", kFrom = " from ";
  const std::size_t from = lower.find(kFrom);
  if (!lower.starts_with(kSelect) || from == lower.npos) return {};
  const std::string columns = text.substr(kSelect.size(), from - kSelect.size());
  std::string file = text.substr(from + kFrom.size());
  file = file.substr(0, file.find_first_of(" ;"));
  while (!file.empty() && (file.front() == '\'' || file.front() == '"')) file.erase(0, 1);
  while (!file.empty() && (file.back() == '\'' || file.back() == '"')) file.pop_back();
  if (!is_file(file)) return "this is SQL, and a plan is, for example, 'csv(\"FILE\", header=true) | select(id)'";
  if (columns.find('(') != columns.npos)
    return absl::StrCat("this is SQL; the rows are counted by: sluice count ", shell_word(file));
  const std::string plan =
      absl::StrCat(plan_reading(file), columns == "*" ? "" : absl::StrCat(" | select(", columns, ")"));
  return absl::StrCat("this is SQL; use: sluice run ", shell_word(plan), " --output jsonl");
}

std::string way_to_header(const std::string& text, std::string_view message) {
  constexpr std::string_view kNoField = "no field is named ", kCall = "csv(\"";
  const std::size_t named = message.find(kNoField), call = text.find(kCall);
  if (named == message.npos || call == text.npos) return {};
  std::string_view name = message.substr(named + kNoField.size());
  name = name.substr(0, name.find(';'));
  const std::size_t quote = text.find('"', call + kCall.size()), close = text.find(')', call);
  if (quote == text.npos || close == text.npos || quote > close) return {};
  const std::string path = text.substr(call + kCall.size(), quote - call - kCall.size());
  const std::string reader = text.substr(call, close - call);
  if (is_file(path) && reader.find("delimiter") == reader.npos) {
    const std::string right = plan_reading(path);
    if (right.find("delimiter") != right.npos)
      return absl::StrCat("; the first row of ", path, " has another delimiter: write ", right);
  }
  if (!is_file(path) || reader.find("header") != reader.npos) return {};
  try {
    const node_ptr with_header = parse_plan(reader + ", header=true)");
    for (const member& m : with_header->type->members)
      if (m.name == name)
        return absl::StrCat("; the first row of ", path, " contains ", m.name, ": write ", reader, ", header=true)");
  } catch (const std::exception&) {}  // the file is no table with a header
  return {};
}

}  // namespace sluice::lib::cli
