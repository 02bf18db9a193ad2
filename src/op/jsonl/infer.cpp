// SPDX-License-Identifier: Apache-2.0
#include "op/jsonl/infer.hpp"

#include <absl/strings/str_cat.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/text/byte_order_mark.hpp"
#include "format/json/json_rows.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {
namespace {

/// By default no further piece is read after this number of bytes, unless they contain no line.
constexpr std::uint64_t kJsonBytesLookedAt = std::uint64_t{1} << 20;
constexpr const char* kSchemaOfLines = ": give a schema of the lines, such as \"label: int64, text: string\"";

/// Returns true for a line such as {, which begins a JSON text of several lines.
bool is_opened_only(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  while (line.starts_with(' ')) line.remove_prefix(1);
  return line == "{" || line == "[" || line == "[{";
}
/// The first lines of a file that are not blank, one after another.
class first_lines {
 public:
  explicit first_lines(file_pieces& from, bool is_limited) : from_(from), is_limited_(is_limited) {}

  /// The line is valid until the next call.
  bool next(std::string_view& line) {
    for (std::size_t searched = 0;;) {
      if (is_at_start_ && window_.size() >= 3) at_ = detail::byte_order_mark_bytes(window_);
      const std::size_t end = window_.find('\n', at_ + searched);
      const bool is_last = end == window_.npos && from_.is_all();
      if (end == window_.npos && !is_last) {
        searched = window_.size() - at_;
        if (!read_on()) return false;
        continue;
      }
      if (is_last && at_ == window_.size()) return false;
      line = std::string_view(window_).substr(at_, is_last ? window_.npos : end - at_);
      at_ += line.size() + (is_last ? 0 : 1);
      is_at_start_ = false;
      searched = 0;
      ++number_;
      if (is_blank_jsonl(line)) continue;
      has_line_ = true;
      return true;
    }
  }
  std::uint64_t number() const { return number_; }
  bool is_too_long() const { return window_.size() - at_ > kJsonlLineBytesMax; }

 private:
  bool read_on() {
    if (from_.is_all() || is_too_long()) return false;
    if (is_limited_ && has_line_ && from_.read_bytes() >= kJsonBytesLookedAt) return false;
    if (!is_at_start_) {
      window_.erase(0, at_);
      at_ = 0;
    }
    return from_.more(window_) || from_.is_all();  // the end may be found without another byte
  }

  file_pieces& from_;
  const bool is_limited_;
  std::string window_{};
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
  bool is_at_start_ = true, has_line_ = false;
};

/// Returns true for a line that no schema reads.
bool is_about_form(const status& why) {
  return why.code() == status_code::resource_exhausted || why.message().starts_with("not JSON");
}

/// Infers the common type of the first lines of several files.
class common_type {
 public:
  common_type(std::int64_t lines, bool has_several) : lines_(lines), has_several_(has_several) {}

  /// Lines that are broken, or unlike those before them in the file, are left out: the run reports or drops them.
  status add(file_pieces& file) {
    first_lines lines(file, lines_ == kJsonlLinesLookedAt);
    auto alone = std::make_unique<json_type_guess>();
    std::string_view line;
    status first_broken;
    std::int64_t taken = 0;
    for (std::int64_t n = 0; n != lines_ && lines.next(line); ++n) {
      status why = line.size() > kJsonlLineBytesMax ? jsonl_line_too_long() : all_.look_at(line);
      const bool fits_alone = has_several_ && alone->look_at(line).ok();
      if (!why.ok() && fits_alone && !files_.empty()) return unlike(why, file.path(), lines.number(), line);
      if (why.ok()) ++taken;
      if (why.code() == status_code::out_of_range && rounded_.size() != kRoundedLinesMost)
        rounded_.push_back({std::string(line), rounding(why, file.path(), lines.number())});
      if (!why.ok() && n == 0)
        if (status several = jsonl_text_of_several_lines(line, file.path()); !several.ok()) return several;
      if (!why.ok() && first_broken.ok())
        first_broken = status(why.code(), absl::StrCat("line ", lines.number(), ": ", std::string(why.message()),
                                                       is_about_form(why) ? "" : kSchemaOfLines))
                           .in_file(file.path());
    }
    has_lines_ = has_lines_ || taken != 0;
    if (taken == 0 && !first_broken.ok()) return first_broken;
    if (taken == 0 && !file.why().ok()) return file.why();
    if (taken == 0 && lines.is_too_long()) return jsonl_line_too_long().in_file(file.path());
    files_.push_back({file.path(), std::move(alone)});
    return {};
  }
  result<const element_type*> type() const {
    if (!has_lines_) return &type_of<std::string>();  // the type of nulls; no element has it
    auto type = all_.type();
    // Other lines that were left out are errors of the run; these would be read as other numbers.
    for (const rounded_line& r : rounded_)
      if (type.ok() && is_read_as(**type, r.text)) return r.why;
    if (type.ok()) return type;
    return status(type.why().code(), absl::StrCat(std::string(type.why().message()), kSchemaOfLines))
        .in_file(files_[0].path);
  }

 private:
  struct known_file {
    std::string path;
    std::unique_ptr<json_type_guess> guess;
  };

  struct rounded_line {
    std::string text;
    status why;
  };
  static constexpr std::size_t kRoundedLinesMost = 100;

  static status rounding(const status& why, const std::string& path, std::uint64_t number) {
    return invalid_argument_error(absl::StrCat("line ", number, ": ", std::string(why.message()), kSchemaOfLines))
        .in_file(path);
  }
  static bool is_read_as(const element_type& type, const std::string& line) {
    if (!check_json_type(type).ok()) return false;
    const std::unique_ptr<std::byte[]> room(new std::byte[type.size]);
    if (!json_row_reader(type, "the first lines").read(line, 0, room.get()).ok()) return false;
    type.destroy(type, room.get(), 1);
    return true;
  }

  /// Names the first file whose lines are unlike this one.
  status unlike(const status& why, const std::string& path, std::uint64_t number, std::string_view line) {
    std::size_t other = 0;
    while (other + 1 != files_.size() && files_[other].guess->look_at(line).ok()) ++other;
    return invalid_argument_error(absl::StrCat("line ", number, ": ", std::string(why.message()), ", unlike in ",
                                               files_[other].path, kSchemaOfLines))
        .in_file(path);
  }

  const std::int64_t lines_;
  const bool has_several_;
  json_type_guess all_{};
  std::vector<known_file> files_{};
  std::vector<rounded_line> rounded_{};
  bool has_lines_ = false;
};

}  // namespace

result<const element_type*> infer_jsonl_type(std::deque<file_pieces> files, std::int64_t lines) {
  common_type type(lines, files.size() > 1);
  for (file_pieces& file : files) {
    if (!file.is_given() && (file.path().empty() || file.path() == "-"))
      return invalid_argument_error(
          file.path().empty()
              ? "the files are known only when the plan runs: name their members, as in "
                "jsonl(schema=\"id: int64, text: string\"); jsonl(\"*.jsonl\") without list_files infers "
                "them"
              : "standard input is read once: name its members, as in "
                "jsonl(\"-\", \"id: int64, text: string\")");
    if (status why = type.add(file); !why.ok()) return why;
  }
  return type.type();
}

std::string jsonl_schema_text(const element_type& t) {
  if (t.kind != kind::structure) return type_text(t);
  std::string text = type_text(t);
  text.erase(0, text.find('{') + 1);
  text.pop_back();
  return text;
}

std::string jsonl_lines_looked_at(std::int64_t lines) {
  return lines < 0 ? std::string("all lines of the file")
                   : absl::StrCat("the file's first lines (at most ", lines, ")");
}

status jsonl_line_too_long() {
  return element_limit_error("a line is longer than 16 MiB; the file must have one JSON text per line");
}

status jsonl_text_of_several_lines(std::string_view first_line, const std::string& path) {
  if (!is_opened_only(first_line)) return {};
  const std::string items = first_line.find('[') == first_line.npos ? "." : "'.[]'";
  return invalid_argument_error(absl::StrCat("the file is one JSON text over several lines, and each line must be one: "
                                             "`jq -c ",
                                             items, " ", path, " > out.jsonl` converts it"))
      .in_file(path);
}

bool is_blank_jsonl(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

}  // namespace sluice::lib
