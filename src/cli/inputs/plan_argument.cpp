// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/plan_argument.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/files/system_calls.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/file_kind.hpp"
#include "cli/inputs/file_readers.hpp"
#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/messages/advice.hpp"
#include "cli/options/typed_command.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verbs.hpp"
#include "io/paths/file_router.hpp"
#include "io/plan_file_reader.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

// Characters shown around the error in a long line, which fits into a terminal of 80 columns.
constexpr std::size_t kShownBefore = 46, kShownAfter = 28;

/// Returns the byte after `at` where the next character begins, or the one before it.
std::size_t next_character(std::string_view s, std::size_t at) {
  do ++at;
  while (at < s.size() && continues_character(s[at]));
  return std::min(at, s.size());
}
std::size_t last_character(std::string_view s, std::size_t at) {
  do --at;
  while (at > 0 && continues_character(s[at]));
  return at;
}

/// Returns the byte where the character at `column`, counted from 1, begins.
std::size_t byte_of(std::string_view text, std::size_t column) {
  std::size_t at = 0;
  for (; column > 1 && at < text.size(); --column) at = next_character(text, at);
  return at;
}

/// Returns the line of `text` that contains byte `at`, or the text around it, and a caret under it.
std::string pointed_at(const std::string& text, std::size_t at) {
  const std::size_t line_begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const std::size_t line_end = std::min(text.find('\n', at), text.size());
  // Secrets are redacted before the line is cut, because a part of a secret is not recognized.
  const std::string line = detail::redacted(text.substr(line_begin, line_end - line_begin));
  at = std::min(detail::redacted(text.substr(line_begin, at - line_begin)).size(), line.size());
  auto from = at, to = at;
  for (std::size_t n = 0; n != kShownBefore && from > 0; ++n) from = last_character(line, from);
  for (std::size_t n = 0; n != kShownAfter && to < line.size(); ++n) to = next_character(line, to);
  std::string_view cut_left = from > 0 ? "…" : "", cut_right = to < line.size() ? "…" : "";
  std::string blank(from > 0 ? 1 : 0, ' ');
  for (auto i = from; i < at; i = next_character(line, i)) blank += line[i] == '\t' ? '\t' : ' ';
  std::string out = "  ";
  out.append(cut_left).append(line, from, to - from).append(cut_right);
  return out + "\n  " + blank + "^";
}

/// Returns true if the text is meant as a path: it has no call, no bar and no quotes, and no stage has its name or a
/// similar one.
bool looks_like_path(const std::string& text, const plan_error& why) {
  if (text.empty() || text.find_first_of("(|\"\n") != text.npos) return false;
  if (text.find_first_of("./*?~-") != text.npos) return true;
  return !find_op(text) && why.why().message().find("did you mean") == std::string_view::npos;
}

/// Returns true for a text that is meant as a path, and is no plan.
bool looks_like_missing(const std::string& text) {
  std::error_code unknown;
  if (text.starts_with('@') || text.find_first_of("(|\"\n{") != text.npos || is_file_pattern(text)) return false;
  if (std::filesystem::exists(text, unknown)) return false;
  try {
    parse_plan(text);
  } catch (const plan_error& e) { return e.file_error().ok() && looks_like_path(text, e); }
  return false;
}

/// Returns the two commands that read a file, a URL or the matches of a pattern.
std::string ways_to_read(const std::string& path, const std::string& plan) {
  return absl::StrCat("use: sluice head ", shell_word(path), ", or sluice run ", shell_word(plan), " --output jsonl");
}

/// Returns ".csv.gz" for the name of a file of a readable kind; empty for other names.
std::string suffix_of_kind(const std::string& name) {
  if (kind_of_name(name).empty() || name[0] == '.') return {};
  const std::size_t records = name.find(".tfrecord"), dot = without_compression_suffix(name).rfind('.');
  if (records != name.npos && records + std::string_view(".tfrecord").size() != name.size()) return ".tfrecord*";
  return dot == name.npos ? std::string() : name.substr(dot);
}

/// Returns the most frequent suffix of readable files; empty if no file is readable. `Entries` is the iterator that lists
/// the folder.
template <class Entries> std::string most_frequent_suffix(const std::string& folder) {
  constexpr std::size_t kFilesMax = 1000;
  std::map<std::string, std::size_t> suffixes;
  std::error_code unknown;
  std::size_t files = 0;
  for (Entries at(folder, std::filesystem::directory_options::skip_permission_denied, unknown), end;
       !unknown && at != end && files != kFilesMax; at.increment(unknown), ++files)
    if (const std::string suffix = suffix_of_kind(at->path().filename().string());
        !suffix.empty() && is_file(at->path().string()))
      ++suffixes[suffix];
  const auto most = std::ranges::max_element(suffixes, {}, [](const auto& s) { return s.second; });
  return most == suffixes.end() ? std::string() : most->first;
}

/// Returns a pattern of the files of the most frequent readable kind in a folder, or in the folders within it; empty if
/// it has none.
std::string pattern_in(const std::string& folder) {
  std::string suffix = most_frequent_suffix<std::filesystem::directory_iterator>(folder);
  if (!suffix.empty()) return absl::StrCat(folder_text(folder), "*", suffix);
  suffix = most_frequent_suffix<std::filesystem::recursive_directory_iterator>(folder);
  return suffix.empty() ? suffix : absl::StrCat(folder_text(folder), "**/*", suffix);
}

/// Returns what to write in place of a folder.
std::string ways_to_folder(const std::string& folder, std::string_view verb, std::string_view after = {}) {
  std::error_code unknown;
  if (const std::string index = absl::StrCat(folder_text(folder), "index.json");
      std::filesystem::exists(index, unknown))
    return absl::StrCat("is a folder with an index of shards; name that: sluice ", std::string(verb), " ",
                        shell_word(index), std::string(after));
  const std::string pattern = verb == "verify" ? folder_text(folder) + "**" : pattern_in(folder);
  return absl::StrCat("is a folder: sluice ls ", shell_word(folder), " lists it; name a file",
                      pattern.empty() ? ""
                                      : absl::StrCat(", or a pattern, as in: sluice ", std::string(verb), " ",
                                                     shell_word(pattern), std::string(after)));
}

/// Suggests the text to write instead of a path.
std::string suggestion_for_path(const std::string& path) {
  std::error_code ignored;
  if (is_file_pattern(path))
    return absl::StrCat(path, " is a pattern of files; ", ways_to_read(path, plan_reading_matches(path, {})));
  if (detail::is_remote(path)) return absl::StrCat(path, " is a URL; ", ways_to_read(path, plan_reading(path)));
  if (contains_plan(path))
    return absl::StrCat(path, " contains a plan; use: sluice run -f ", shell_word(path), " --output jsonl");
  if (is_file(path)) return absl::StrCat(path, " is a file; ", ways_to_read(path, plan_reading(path)));
  if (std::filesystem::is_directory(path, ignored)) return absl::StrCat(path, " ", ways_to_folder(path, "head"));
  if (path == "-") return "- is no plan; a plan on standard input is read by -f -, and data there by: sluice head -";
  return absl::StrCat("expects a plan, such as 'tfrecord(\"a.tfrecord\") | batch(32)', and ", path,
                      " is neither a plan nor a file");
}

}  // namespace

bool names_file(const std::string& path) { return detail::is_remote(path) || is_file(path); }

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(detail::without_file_scheme(path), ignored);
}

bool is_empty_file(const std::string& path) {
  std::error_code ignored;
  return is_file(path) && std::filesystem::file_size(detail::without_file_scheme(path), ignored) == 0;
}

std::string_view without_query(std::string_view path) {
  const bool is_url = path.starts_with("http://") || path.starts_with("https://");
  return is_url ? path.substr(0, path.find_first_of("?#")) : path;
}

std::string_view name_of_data(std::string_view path) { return without_compression_suffix(without_query(path)); }

std::string plan_reading(const std::string& file, const format_arguments& format) {
  return plan_for(file, reader_of(file, format), format);
}

std::string plan_reading_matches(const std::string& pattern, const format_arguments& format) {
  runtime rt({.workers = 1});
  add_remote_files(rt);
  std::vector<std::string> files = matched_files(rt, {pattern});
  std::erase_if(files, is_empty_file);
  reader r = files.empty() ? reader_named("lines") : reader_of(files[0], format);
  r.is_empty = false;  // the others may have rows
  return plan_for(pattern, r, format);
}

namespace {

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

/// `name`: the source of the text; empty: it was typed. Errors: misuse, with the position within the text.
node_ptr plan_in_json(const std::string& text, const std::string& name) {
  try {
    return parse_plan_json(text);
  } catch (const error& e) {
    if (!e.why().where().file.empty()) throw;  // the plan is right, and a file cannot be read
    throw misuse(absl::StrCat(name, name.empty() ? "" : ": ", std::string(e.why().message())));
  }
}

}  // namespace

namespace {

/// Returns what is typed instead of a schema to select columns with this verb.
std::string way_to_columns(const std::string& file, const std::string& names, const std::string& verb) {
  if (verb == "count" || verb == "verify") return absl::StrCat("; ", verb, " needs no types: leave --schema out");
  if (verb != "convert")
    return absl::StrCat("; for some columns only: sluice select ", shell_word(names), " ", shell_word(file));
  const std::string plan = absl::StrCat(plan_reading(file), " | select(", names, ")");
  return absl::StrCat("; for some columns only: sluice run ", shell_word(plan), " --output out.jsonl");
}

/// Returns the schema that a list of columns means, with the types of the file, and the command that prints only these;
/// empty if the text is no list of the file's columns.
std::string way_to_typed_columns(const std::string& file, const std::string& columns, const std::string& verb) {
  std::string schema, names;
  try {
    const node_ptr plan = parse_plan(plan_reading(file));
    for (absl::string_view part : absl::StrSplit(columns, ',')) {
      const std::string name(absl::StripAsciiWhitespace(part));
      const auto found = std::ranges::find(plan->type->members, name, &member::name);
      if (found == plan->type->members.end()) return {};
      absl::StrAppend(&schema, schema.empty() ? "" : ", ", name, ": ", type_text(*found->type));
      absl::StrAppend(&names, names.empty() ? "" : ",", name);
    }
  } catch (const std::exception&) { return {}; }
  return absl::StrCat("a type is missing after each name: write ", shell_word(schema),
                      way_to_columns(file, names, verb));
}

/// Returns "id: int64" for the schema {"id": "int64"}; empty if the text is no such object.
std::string schema_without_braces(std::string_view text) {
  if (!text.starts_with('{') || !text.ends_with('}')) return {};
  std::string out(text.substr(1, text.size() - 2));
  std::erase_if(out, [](char c) { return c == '"' || c == '\''; });
  return out;
}

}  // namespace

node_ptr plan_of_file(const std::string& file, const std::string& text, const format_arguments& format) {
  if (format.schema.empty()) return plan_of(text);
  try {
    return parse_plan(text);
  } catch (const plan_error& e) {
    if (!e.file_error().ok()) throw_status(e.file_error());
    std::string way = way_to_typed_columns(file, format.schema, format.verb);
    if (const std::string bare = schema_without_braces(format.schema); !bare.empty())
      way = absl::StrCat("a schema has neither braces nor quotes: write ", shell_word(bare));
    std::string_view why = e.why().message();
    for (std::string_view begin : {"the schema, ", "the type, "})
      if (const std::size_t at = why.find(begin); at != why.npos) why = why.substr(at + begin.size());
    throw misuse(absl::StrCat("--schema: ", way.empty() ? std::string(why) : way));
  }
}

namespace {

/// Returns how a plan without a source reads the data that is piped to the program; empty for other mistakes.
std::string way_to_piped_data(std::string_view message) {
  struct stat is{};
  const bool is_piped = ::fstat(STDIN_FILENO, &is) == 0 && S_ISFIFO(is.st_mode);
  if (!is_piped || message.find("a plan starts with a source") == message.npos) return {};
  return "; \"-\" in place of \"FILE\" is standard input, whose columns are named, as in csv(\"-\", \"id: int64\", "
         "header=true)";
}

}  // namespace

node_ptr plan_of(const std::string& text) {
  if (text.size() > 1 && text.front() == '@') return plan_in_file(text.substr(1));
  if (is_json(text)) return plan_in_json(text, "");
  if (text.find_first_not_of(" \t\r\n") == text.npos)
    throw misuse("the plan is empty; a plan is, for example, 'csv(\"FILE\", header=true) | take(10)'");
  try {
    return parse_plan(text);
  } catch (const plan_error& e) {
    if (!e.file_error().ok()) throw_status(e.file_error());
    if (const std::string sql = way_to_sql(text); !sql.empty()) throw misuse(sql);
    if (is_file(text) || looks_like_path(text, e)) throw misuse(suggestion_for_path(text));
    throw misuse(absl::StrCat(std::string(e.why().message()), way_to_header(text, e.why().message()),
                              way_to_piped_data(e.why().message()), "\n", pointed_at(text, byte_of(text, e.column()))));
  }
}

bool names_data(const std::string& plan_or_file) {
  std::error_code ignored;
  return plan_or_file == "-" || names_file(plan_or_file) || std::filesystem::is_fifo(plan_or_file, ignored);
}

void refuse_folder(const std::string& path, std::string_view verb, std::string_view after) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(path, unknown)) return;
  throw misuse(absl::StrCat(path, " ", ways_to_folder(path, verb, after)));
}

std::string way_to_files_in(const std::string& folder) {
  const std::string pattern = pattern_in(folder);
  if (pattern.empty()) return absl::StrCat("sluice ls ", shell_word(folder), " lists it");
  return absl::StrCat("its files are read by ", plan_reading_matches(pattern, {}));
}

void check_not_missing(const std::string& plan_or_file, std::string_view verb) {
  std::error_code unknown;
  refuse_folder(plan_or_file, verb.empty() || verb == "run" ? "head" : verb);
  if (!looks_like_missing(plan_or_file)) return;
  if (!std::filesystem::exists(plan_or_file, unknown) && unknown)  // a folder of its path cannot be entered
    throw_status(errno_error(unknown.value(), "cannot open").in_file(plan_or_file));
  throw_status(
      not_found_error("no such file (and it is no plan, such as 'range(9) | batch(3)')").in_file(plan_or_file));
}

node_ptr plan_or_reader(const std::string& plan_or_file, const format_arguments& format) {
  if (names_data(plan_or_file)) return plan_of_file(plan_or_file, plan_reading(plan_or_file, format), format);
  if (is_file_pattern_and_no_plan(plan_or_file))
    return plan_of_file(plan_or_file, plan_reading_matches(plan_or_file, format), format);
  check_not_missing(plan_or_file, format.verb);
  refuse_for_plan(plan_or_file, format);
  return plan_of(plan_or_file);
}

void refuse_for_plan(const std::string& plan, const format_arguments& format) {
  const std::string given = format.first_given();
  if (given == "--from")
    throw misuse(absl::StrCat("--from is the format of a file, and ", plan, " is a plan, which names its reader"));
  if (!given.empty())
    throw misuse(absl::StrCat(given, " says what a file holds, and ", plan, " is a plan: leave ", given,
                              " out; a plan states it in the call of its reader, as in csv(\"a.csv\", \"id: int64\", "
                              "header=true)"));
}

namespace {

std::string text_of(const std::string& path) {
  const bool is_standard_input = path == "-";
  const std::string name = is_standard_input ? "standard input" : path;
  int fd = is_standard_input ? STDIN_FILENO : open_again(path, O_RDONLY | O_NOCTTY);
  if (fd < 0) throw_status(errno_error(errno, "cannot open the plan").in_file(name));
  std::string text;
  bool is_read = read_all(fd, kPlanBytesMax, text);
  int why = errno;
  if (!is_standard_input) ::close(fd);
  if (is_read) return text;
  if (why == EFBIG)
    throw misuse(absl::StrCat(name, ": has more than the ", kPlanBytesMax, " bytes that a plan may have"));
  throw_status(errno_error(why, "cannot read the plan").in_file(name));
}

/// Returns "column 17: shufle: …" without the column, which FILE:LINE:COLUMN contains.
std::string_view without_column(std::string_view message) {
  std::size_t colon = message.find(": ");
  return message.starts_with("column ") && colon != message.npos ? message.substr(colon + 2) : message;
}

/// Returns the number of the character at `at`, counted from 1 at `begin`.
std::size_t column_in(const std::string& text, std::size_t begin, std::size_t at) {
  std::size_t column = 1;
  for (std::size_t i = begin; i < at; i = next_character(text, i)) ++column;
  return column;
}

/// Returns "FILE:LINE:COLUMN: " for a place in the text of a file.
std::string line_and_column(const std::string& file, const std::string& text, std::size_t at) {
  auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  auto begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return absl::StrCat(file == "-" ? "standard input" : file, ":", line, ":", column_in(text, begin, at), ": ");
}

/// Appends the stages of a plan in the order of their names in its text.
void stages_in_text(const node& n, std::vector<const node*>& all) {
  const bool is_first = n.op->shape == op_info::combine;
  if (is_first) all.push_back(&n);
  for (const node_ptr& input : n.inputs) stages_in_text(*input, all);
  if (!is_first) all.push_back(&n);
  for_each_plan(n, [&all](const node_ptr& inner) { stages_in_text(*inner, all); });
}

/// Returns where a word stands in the text of a plan, apart from texts in quotes, comments and names of arguments.
std::vector<std::size_t> places_of_word(std::string_view text, std::string_view word) {
  std::vector<std::size_t> all;
  const auto is_of_name = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else if (text[at] == '#') {
      end = std::min(text.find('\n', at), text.size());
    } else if (is_of_name(text[at])) {
      while (end < text.size() && is_of_name(text[end])) ++end;
      if (text.substr(at, end - at) == word && text.substr(end, 1) != "=") all.push_back(at);
    }
    at = end;
  }
  return all;
}

constexpr std::string_view kRefused = "the plan cannot be split: ";

/// Returns where the stage that the message names stands in the text; npos: the text does not show it.
std::size_t place_of_stage(std::string_view message, const node& plan, std::string_view text) {
  const std::size_t begin = message.find(kRefused);
  if (begin == message.npos) return text.npos;
  const std::string_view rest = message.substr(begin + kRefused.size());
  std::vector<const node*> stages;
  stages_in_text(plan, stages);
  const auto named = std::ranges::find_if(
      stages, [rest](const node* n) { return rest.starts_with(absl::StrCat(stage_text(*n), " ")); });
  if (named == stages.end()) return text.npos;
  const std::string_view name = (*named)->op->name;
  const auto is_like = [name](const node* n) { return n->op->name == name; };
  const std::vector<std::size_t> places = places_of_word(text, name);
  if (std::ranges::count_if(stages, is_like) != static_cast<std::ptrdiff_t>(places.size())) return text.npos;
  return places[static_cast<std::size_t>(std::count_if(stages.begin(), named, is_like))];
}

}  // namespace

bool names_stage(const status& why) { return why.message().find(kRefused) != std::string_view::npos; }

void throw_at_stage(const status& why, const node& plan, const std::string& typed, const std::string& file) {
  const std::string text = file.empty() ? typed : file == "-" ? std::string() : text_of(file);
  const std::string message(why.message());
  const std::size_t at = place_of_stage(message, plan, text);
  if (at == text.npos) throw error(why);
  const std::string place =
      file.empty() ? absl::StrCat("column ", column_in(text, 0, at), ": ") : line_and_column(file, text, at);
  throw error(why.with_message(absl::StrCat(place, message, "\n", pointed_at(text, at))));
}

node_ptr plan_in_file(const std::string& path) {
  std::string text = text_of(path);
  if (is_json(text)) return plan_in_json(text, path == "-" ? "standard input" : path);
  try {
    return parse_plan(text);
  } catch (const plan_error& e) {
    if (!e.file_error().ok()) throw_status(e.file_error());
    if (path != "-" && is_file(path) && !kind_of_name(path).empty() && kind_of_name(path) != "lines")
      throw misuse(absl::StrCat(path, " contains data, and no plan; use: sluice head ", shell_word(path)));
    std::size_t at = byte_of(text, e.column());
    throw misuse(absl::StrCat(line_and_column(path, text, at), std::string(without_column(e.why().message())), "\n",
                              pointed_at(text, at)));
  }
}

}  // namespace sluice::lib::cli
