// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/plan_argument.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/files/system_calls.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verbs.hpp"
#include "format/archive/tar_archive.hpp"
#include "io/paths/file_router.hpp"
#include "io/plan_file_reader.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::size_t kShownBefore = 60, kShownAfter = 40;  // characters shown around the error in a long line

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

/// Returns the first bytes of standard input without consuming them: a pipe's bytes are duplicated.
std::string beginning_of_standard_input() {
  std::string bytes(4096, '\0');
  struct stat is{};
  ssize_t n = 0;
  if (::fstat(STDIN_FILENO, &is) == 0 && S_ISREG(is.st_mode)) {
    n = ::pread(STDIN_FILENO, bytes.data(), bytes.size(), ::lseek(STDIN_FILENO, 0, SEEK_CUR));
  } else if (int copy[2]; S_ISFIFO(is.st_mode) && ::pipe2(copy, O_CLOEXEC) == 0) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {}
    n = ::tee(STDIN_FILENO, copy[1], bytes.size(), 0);
    if (n > 0) n = ::read(copy[0], bytes.data(), static_cast<std::size_t>(n));
    ::close(copy[0]);
    ::close(copy[1]);
  }
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return bytes;
}

std::string beginning_of_file(const std::string& path, std::size_t bytes_max = 4096) {
  if (detail::is_remote(path)) {  // if it cannot be read, the plan reports the reason when it runs
    auto begin = detail::read_for_plan(path, bytes_max);
    return begin.ok() ? *std::move(begin) : std::string();
  }
  std::string bytes(bytes_max, '\0');
  std::ifstream in(detail::without_file_scheme(path), std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

/// Returns true for a file; false for standard input and FIFOs, because reading their first bytes would consume them.
bool names_file(const std::string& path) { return detail::is_remote(path) || is_file(path); }

bool begins_as_zip(std::string_view bytes) {
  return bytes.starts_with(std::string_view("PK\x03\x04", 4)) || bytes.starts_with(std::string_view("PK\x05\x06", 4));
}

/// Enough compressed bytes for a whole block of every format: bzip2 and xz decompress nothing before that.
constexpr std::size_t kBlockBytes = std::size_t{2} << 20;

/// Returns the first bytes of a file, decompressed if necessary.
std::string beginning_of(const std::string& path) {
  std::string plain(4096, '\0');
  std::string bytes = path == "-" ? beginning_of_standard_input() : names_file(path) ? beginning_of_file(path) : "";
  compression c = detect_compression(bytes, path);
  if (c == compression::none) return bytes;
  auto step = inflater(c).step(bytes, false, plain.data(), plain.size());
  if (step.produced == 0 && step.why.ok() && path != "-")
    step = inflater(c).step(beginning_of_file(path, kBlockBytes), false, plain.data(), plain.size());
  plain.resize(step.produced);
  return plain;
}

/// Returns true if the text is meant as a path: it has no call, no bar and no quotes, and no stage has its name or a
/// similar one.
bool looks_like_path(const std::string& text, const plan_error& why) {
  if (text.empty() || text.find_first_of("(|\"\n") != text.npos) return false;
  if (text.find_first_of("./*?~-") != text.npos) return true;
  return !find_op(text) && why.why().message().find("did you mean") == std::string_view::npos;
}

/// Returns a stage that opens files like this one. Stages with columns need a list of them, since no file shows the
/// columns.
std::string opens_like(const std::string& file) {
  const std::string plan = plan_reading(file);
  const std::string name = plan.substr(0, plan.find('('));
  if (name != "csv" && name != "jsonl" && name != "from_arrow") return absl::StrCat("interleave(", name, ")");
  std::string columns = "…";
  try {
    const element_type& row = *plan_of(plan)->type;
    columns = row.has_members() ? absl::StrJoin(row.members, ", ",
                                                [](std::string* out, const member& m) {
                                                  absl::StrAppend(out, std::string(m.name), ": ", m.type->name);
                                                })
                                : row.name;
  } catch (const misuse&) {}  // reading it reports the mistake
  const std::string schema = in_quotes(columns);
  return absl::StrCat("interleave(", name, "(schema=", schema, name == "csv" ? ", header=true" : "", "))",
                      name == "from_arrow" ? " | unbatch" : "");
}

/// Returns a plan that reads the files that match a pattern; the first nonempty file decides. Errors: throws the errors
/// of listing; not_found: nothing matches.
std::string plan_reading_all(const std::string& pattern) {
  runtime rt({.workers = 1});
  add_remote_files(rt);
  std::vector<std::string> files = matched_files(rt, {pattern});
  std::erase_if(files, is_empty_file);
  const std::string stage = files.empty() ? "interleave(lines)" : opens_like(files[0]);
  return absl::StrCat("'list_files(", in_quotes(pattern), ") | ", stage, "'");
}

/// Suggests the text to write instead of a path.
std::string suggestion_for_path(const std::string& path) {
  std::error_code ignored;
  if (is_file_pattern(path))
    return absl::StrCat(path, " is a pattern; a plan that reads its matches is ", plan_reading_all(path));
  if (detail::is_remote(path))
    return absl::StrCat(path, " is a URL; the plan that reads it is '", plan_reading(path), "'");
  if (is_file(path)) return absl::StrCat(path, " is a file; the plan that reads it is '", plan_reading(path), "'");
  if (std::filesystem::is_directory(path, ignored)) {
    const std::string files = (std::filesystem::path(path) / "*").string();
    return absl::StrCat(path, " is a directory; a plan that reads its files is ", plan_reading_all(files));
  }
  return absl::StrCat(path, " is neither a file nor a plan, such as 'tfrecord(\"a.tfrecord\") | batch(32)'");
}

}  // namespace

std::string in_quotes(const std::string& path) {
  std::string out = "\"";
  for (char c : path) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

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

bool begins_as_text(const std::string& file) {
  const std::string begin = beginning_of(file);
  for (const char c : begin) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' && (byte < '\b' || byte > '\r') && byte != 0x1b) return false;
  }
  std::size_t end = begin.size();  // ignores a character that is cut off at the end
  for (int n = 0; n != 4 && end != 0 && !is_utf8(std::string_view(begin).substr(0, end)); ++n) --end;
  return begin.empty() || end != 0;
}

bool is_compressed(const std::string& file) {
  const std::string begin = names_file(file) ? beginning_of_file(file) : std::string();
  return detect_compression(begin, file) != compression::none;
}

bool is_tar(const std::string& file) {
  for (const char* suffix : {".tar", ".tar.gz", ".tgz"})
    if (file.ends_with(suffix)) return true;
  return find_tar_entry({.bytes = beginning_of(file)}, 0, 1) == 0;
}

bool is_zip(const std::string& file) {
  if (file == "-") return false;  // it has no end to read a directory from
  if (file.ends_with(".zip")) return true;
  return names_file(file) && begins_as_zip(beginning_of_file(file, 4));
}

std::string plan_reading(const std::string& file) {
  if (is_zip(file)) return absl::StrCat("zip_members(", in_quotes(file), ")");
  if (names_file(file)) {  // the columns of other files are unknown before the run reads them
    const output_format by_name = format_of_path(std::string(name_of_data(file))).format;
    if (by_name == output_format::csv) return absl::StrCat("csv(", in_quotes(file), ", header=true)");
    if (by_name == output_format::jsonl) return absl::StrCat("jsonl(", in_quotes(file), ")");
  }
  std::string begin = beginning_of(file);
  constexpr std::string_view kNpyFile = "\x93NUMPY";
  if (begin.starts_with(kNpyFile)) return absl::StrCat("npy(", in_quotes(file), ")");
  constexpr std::string_view kArrowFile = "ARROW1", kArrowStream = "\xff\xff\xff\xff";
  if (begin.starts_with(kArrowFile) || begin.starts_with(kArrowStream))
    return absl::StrCat("from_arrow(", in_quotes(file), ") | unbatch");
  if (is_tar(file)) return absl::StrCat("tar(", in_quotes(file), ")");
  if (begins_as_zip(begin))
    throw misuse(absl::StrCat(file == "-" ? "standard input" : file,
                              " is a zip archive, whose list of members is at its end: unpack it, or copy it to a "
                              "file, and name that"));
  bool is_tfrecord = file.find(".tfrecord") != file.npos ||
                     (begin.size() >= kTfrecordHeaderBytes && find_tfrecord({.bytes = begin}, 0) == 0);
  return absl::StrCat(is_tfrecord ? "tfrecord(" : "lines(", in_quotes(file), ")");
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
    throw misuse(absl::StrCat(name, name.empty() ? "" : ": ", std::string(e.why().message())));
  }
}

}  // namespace

node_ptr plan_of(const std::string& text) {
  if (text.size() > 1 && text.front() == '@') return plan_in_file(text.substr(1));
  if (is_json(text)) return plan_in_json(text, "");
  try {
    return parse_plan(text);
  } catch (const plan_error& e) {
    if (is_file(text) || looks_like_path(text, e)) throw misuse(suggestion_for_path(text));
    throw misuse(absl::StrCat(std::string(e.why().message()), "\n", pointed_at(text, byte_of(text, e.column()))));
  }
}

bool names_data(const std::string& plan_or_file) {
  std::error_code ignored;
  return plan_or_file == "-" || names_file(plan_or_file) || std::filesystem::is_fifo(plan_or_file, ignored);
}

node_ptr plan_or_reader(const std::string& plan_or_file) {
  return plan_of(names_data(plan_or_file) ? plan_reading(plan_or_file) : plan_or_file);
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

}  // namespace

node_ptr plan_in_file(const std::string& path) {
  std::string text = text_of(path);
  if (is_json(text)) return plan_in_json(text, path == "-" ? "standard input" : path);
  try {
    return parse_plan(text);
  } catch (const plan_error& e) {
    std::size_t at = byte_of(text, e.column());
    auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    auto begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    std::size_t column = 1;
    for (auto i = begin; i < at; i = next_character(text, i)) ++column;
    throw misuse(absl::StrCat(path == "-" ? "standard input" : path, ":", line, ":", column, ": ",
                              std::string(without_column(e.why().message())), "\n", pointed_at(text, at)));
  }
}

}  // namespace sluice::lib::cli
