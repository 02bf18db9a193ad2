// SPDX-License-Identifier: Apache-2.0
#include "op/jsonl/formats.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/byte_order_mark.hpp"
#include "engine/files/parser_pool.hpp"
#include "op/jsonl/infer.hpp"

namespace sluice::lib {
namespace {

status in_line(const status& why, std::uint64_t line) {
  return line ? why.with_message(absl::StrCat("line ", line, ": ", std::string(why.message()))) : why;
}

/// Finds the lines that are elements.
class jsonl_lines : public element_format {
 public:
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
  std::string index_kind() const override { return "jsonl"; }
  std::size_t bytes_before() const override { return 1; }
  bool may_begin(const byte_window&, std::string_view before) const override { return before == "\n"; }

 protected:
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
          f.why = in_line(why, line_);
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

  // A stage has a format of its own: one thread at a time.
  mutable std::uint64_t line_ = 1, line_offset_ = 0;  // 0: unknown after a resume
};

class jsonl_format final : public jsonl_lines {
 public:
  jsonl_format(const element_type& row, json_row_reader reader) : row_bytes_(row.size), reader_(std::move(reader)) {}

  found scan(const byte_window& w, buffer&, void* to, std::size_t elements_max) const override {
    return walk(w, elements_max, [&](std::string_view line, std::size_t behind, std::size_t i) {
      return reader_.read(line, behind, static_cast<char*>(to) + i * row_bytes_);
    });
  }

 private:
  std::size_t row_bytes_;
  mutable json_row_reader reader_;
};

class jsonl_cutter final : public jsonl_lines {
 public:
  found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const override {
    auto* texts = static_cast<cut_text*>(to);
    const char* const begin = w.view().data();
    found f = walk(w, elements_max, [&](std::string_view line, std::size_t, std::size_t i) {
      const std::uint64_t offset = w.offset + static_cast<std::uint64_t>(line.data() - begin);
      ::new (static_cast<void*>(texts + i)) cut_text{slice(&owner, line.data(), line.size()), offset, line_};
      return status();
    });
    if (f.elements) owner.add_references(static_cast<std::uint32_t>(f.elements));
    return f;
  }
};

class jsonl_parser final : public text_parser {
 public:
  jsonl_parser(const element_type& row, std::function<std::unique_ptr<json_row_reader>()> make)
      : row_bytes_(row.size), readers_(std::move(make)) {}

  std::uint32_t parse(const cut_text* from, std::uint32_t n, char* to, status& why) const override {
    const parser_pool<json_row_reader>::lease reader(readers_);
    const slice& last = from[n - 1].text;
    for (std::uint32_t i = 0; i != n; ++i) {
      const slice& line = from[i].text;
      // Lines of one buffer ascend in it, and all bytes up to the last one are there.
      const bool is_same = line.owner() == last.owner() && line.data() <= last.data();
      const std::size_t behind =
          is_same ? static_cast<std::size_t>(last.data() + last.size() - line.data()) - line.size() : 0;
      status wrong = reader->read(line.view(), behind, to + i * row_bytes_);
      if (wrong.ok()) continue;
      why = in_line(wrong, from[i].line);
      return i;
    }
    return n;
  }

 private:
  std::size_t row_bytes_;
  mutable parser_pool<json_row_reader> readers_;
};

}  // namespace

std::shared_ptr<const element_format> jsonl_format_of(const element_type& row, json_row_reader reader) {
  return std::make_shared<jsonl_format>(row, std::move(reader));
}

std::shared_ptr<const element_format> jsonl_line_cutter() { return std::make_shared<jsonl_cutter>(); }

std::shared_ptr<const text_parser> jsonl_line_parser(const element_type& row,
                                                     std::function<std::unique_ptr<json_row_reader>()> make) {
  return std::make_shared<jsonl_parser>(row, std::move(make));
}

}  // namespace sluice::lib
