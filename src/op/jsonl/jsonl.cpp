// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/jsonl.hpp"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/text/byte_order_mark.hpp"
#include "engine/files/file_pieces.hpp"
#include "engine/files/file_stage.hpp"
#include "format/json/json_rows.hpp"
#include "op/jsonl/infer.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {

namespace {

class jsonl_format final : public element_format {
 public:
  jsonl_format(const element_type& row, json_row_reader reader) : row_bytes_(row.size), reader_(std::move(reader)) {}

  found scan(const byte_window& w, buffer&, void* to, std::size_t elements_max) const override {
    return walk(w, elements_max, [&](std::string_view line, std::size_t behind, std::size_t i) {
      return reader_.read(line, behind, static_cast<char*>(to) + i * row_bytes_);
    });
  }
  found pass_over(const byte_window& w, std::uint64_t elements_max) const override {
    return walk(w, elements_max, [](std::string_view, std::size_t, std::size_t) { return status(); });
  }
  /// Finds the line after one that is too long.
  std::size_t find_next(const byte_window& w, std::size_t from, std::size_t to) const override {
    const std::size_t before = w.view().substr(0, to).find('\n', from == 0 ? 0 : from - 1);
    return before == std::string_view::npos || before + 1 >= to ? std::string_view::npos : before + 1;
  }
  std::size_t overlap_bytes() const override { return 1; }
  bool skips_unchecked() const override { return true; }
  std::size_t bytes_before() const override { return 1; }
  bool may_begin(const byte_window&, std::string_view before) const override { return before == "\n"; }

 private:
  /// Calls `each` for the lines that are elements.
  template <class F> found walk(const byte_window& w, std::uint64_t elements_max, F each) const {
    if (w.offset != line_offset_) line_ = 0;
    found f;
    const std::string_view bytes = w.view();
    if (w.offset == 0 && elements_max != 0) f.used_bytes = detail::byte_order_mark_bytes(bytes);
    for (std::size_t searched = w.searched; f.elements != elements_max; searched = 0) {
      const std::size_t begin = f.used_bytes, from = std::max(begin, searched);
      const void* at = begin == bytes.size() ? nullptr : std::memchr(bytes.data() + from, '\n', bytes.size() - from);
      const bool is_end = at == nullptr && w.last;
      if (!at && (!is_end || begin == bytes.size())) break;
      const std::size_t end = at ? static_cast<std::size_t>(static_cast<const char*>(at) - bytes.data()) : bytes.size();
      const std::string_view line = bytes.substr(begin, end - begin);
      if (!is_blank_jsonl(line)) {
        status why =
            line.size() > kJsonlLineBytesMax ? jsonl_line_too_long() : each(line, bytes.size() - end, f.elements);
        if (!why.ok()) {
          if (f.used_bytes) break;  // elements before it are delivered first
          f.why = line_ ? why.with_message(absl::StrCat("line ", line_, ": ", std::string(why.message()))) : why;
          f.damaged_bytes = end + (at ? 1 : 0);
        } else {
          ++f.elements;
        }
      }
      line_ += line_ != 0;
      if (!f.why.ok()) break;
      f.used_bytes = end + (at ? 1 : 0);
    }
    line_offset_ = w.offset + f.used_bytes + f.damaged_bytes;
    if (f.used_bytes || !f.why.ok()) return f;
    f.ended = w.last && bytes.empty();
    f.searched_bytes = bytes.size();
    f.needed_bytes = bytes.size() * 2 + 1;  // a line longer than the window: doubling keeps the copying linear
    if (bytes.size() > kJsonlLineBytesMax && elements_max != 0) f.why = jsonl_line_too_long();
    return f;
  }

  std::size_t row_bytes_;
  mutable json_row_reader reader_;                    // a stage has a format of its own: one thread at a time
  mutable std::uint64_t line_ = 1, line_offset_ = 0;  // 0: unknown after a resume
};

/// Parses "label: int64, text: string", or a type.
result<const element_type*> type_said(const std::string& text) {
  auto members = type_from_text(absl::StrCat("{", text, "}"));
  if (members.ok()) return members;
  auto type = type_from_text(text);
  return type.ok() ? type : members;
}

std::deque<file_pieces> pieces_of(const jsonl_arguments& a, const std::vector<std::string>& files) {
  std::deque<file_pieces> all;
  const inflate_limits limits = limits_of(a.options.inflated_bytes_max, a.options.inflate_ratio_max);
  for (const std::string& file : files) all.emplace_back(file, a.options.compression, limits);
  return all;
}

const element_type* json_type(const node& n, std::string& why) {
  const auto& a = n.as<jsonl_arguments>();
  if (a.schema.row) return a.schema.row;
  const bool is_said = !a.schema.value.empty();
  if (a.options.infer == 0 || a.options.infer < -1) {
    why = "infer must be a number of lines from 1 on, or -1 for all";
    return nullptr;
  }
  auto type = is_said ? type_said(a.schema.value) : infer_jsonl_type(pieces_of(a, {a.path.value}), a.options.infer);
  status fits = type.ok() ? check_json_type(**type) : type.why();
  if (fits.ok()) return *type;
  if (!fits.where().file.empty()) throw_status(fits);
  why = is_said ? std::string(fits.message()) : fits.to_string();
  return nullptr;
}

erased_stream open_jsonl(const node& n, open_context& context) {
  const json_type_arg& said = n.as<jsonl_arguments>().schema;
  const bool is_inferred = !said.row && said.value.empty();
  const jsonl_options& o = n.as<jsonl_arguments>().options;
  std::string from;
  if (is_inferred) from = jsonl_lines_looked_at(o.infer);
  json_row_reader reader(*n.type, std::move(from), o.strict && !is_inferred);
  return open_file_stage(n, context, reading_with<jsonl_arguments>(n, context),
                         std::make_shared<jsonl_format>(*n.type, std::move(reader)));
}

/// Returns the arguments with the common type of several files.
arguments jsonl_of_files(const node& n, const std::vector<std::string>& files) {
  jsonl_arguments a = n.as<jsonl_arguments>();
  if (a.schema.row || !a.schema.value.empty()) return n.arguments;
  auto type = infer_jsonl_type(pieces_of(a, files), a.options.infer);
  if (!type.ok()) throw_status(type.why());
  a.schema.value = jsonl_schema_text(**type);
  a.options.strict = true;
  return arguments::of(std::move(a));
}

/// Prints and reads the type as text. Structure types of the program distinguish those with the same text.
class json_type_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { to.text(get(p).value); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_text_argument(a)) r.expected(a, "a text in quotes, such as \"label: int64, text: string\"");
    *static_cast<json_type_arg*>(p) = json_type_arg(text_of(a));
  }
  bool equal(const void* a, const void* b) const override {
    return get(a).value == get(b).value && get(a).row == get(b).row;
  }
  bool takes_text() const override { return true; }
  std::string type_name() const override { return "schema"; }

 private:
  static const json_type_arg& get(const void* p) { return *static_cast<const json_type_arg*>(p); }
};

}  // namespace

json_type_arg::json_type_arg(const element_type& t) : value(jsonl_schema_text(t)), row(&t) {
  status why = check_json_type(t);
  if (!why.ok()) throw_status(status(why.code(), absl::StrCat("jsonl: ", std::string(why.message()))));
}

template <> const codec& codec_of<json_type_arg>() {
  static const json_type_codec c;
  return c;
}

const op_info jsonl_op{
    .name = "jsonl",
    .doc = "the lines of a file, each a JSON text, as structures",
    .shape = op_info::source,
    .arguments = arguments_of<jsonl_arguments>,
    .takes_pattern = true,
    .for_files = jsonl_of_files,
    .type = json_type,
    .lowering = {.open = open_jsonl},
};

}  // namespace sluice::lib
