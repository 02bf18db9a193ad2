// SPDX-License-Identifier: Apache-2.0
#include "op/csv/formats.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/utf8_beginning.hpp"
#include "engine/files/parser_pool.hpp"
#include "format/csv/csv_cutter.hpp"
#include "format/csv/csv_parser.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib {
namespace {

class csv_format : public element_format {
 public:
  explicit csv_format(const csv_form& form)
      : parser_(form.schema, form.dialect),
        row_bytes_(static_cast<std::uint32_t>(form.schema.row->size)),
        has_header_(form.dialect.header),
        kind_(kind_of(form.dialect)),
        on_other_encoding_(form.on_other_encoding) {}

  found scan(const byte_window& w, buffer&, void* to, std::size_t elements_max) const override {
    look_at_start(w);
    if (is_header(w)) return read_head(w);
    csv_scan s = parser_.parse(w.view(), w.offset, w.last, elements_max);
    if (s.rows) parser_.make_rows(to);
    return found_in(w, std::move(s));
  }
  found scan_rows(const byte_window& w, column& rows, landed_row* receipts, std::size_t rows_max) const override {
    look_at_start(w);
    if (is_header(w)) return read_head(w);
    csv_scan s = parser_.parse(w.view(), w.offset, w.last, rows_max);
    if (s.rows) {
      parser_.append_to(rows);
      std::fill_n(receipts, s.rows, landed_row{row_bytes_ + static_cast<std::uint32_t>(parser_.text_bytes() / s.rows)});
    }
    return found_in(w, std::move(s));
  }
  found pass_over(const byte_window& w, std::uint64_t elements_max) const override {
    if (elements_max == 0) {
      found f;
      f.ended = w.last && w.bytes.empty();
      f.needed_bytes = w.bytes.size() * 2 + 1;
      return f;
    }
    if (is_header(w)) return read_head(w);
    return found_in(w, parser_.pass_over(w.view(), w.offset, w.last, elements_max));
  }
  bool skips_unchecked() const override { return true; }
  std::string index_kind() const override { return kind_; }
  bool has_head() const override { return has_header_; }
  found read_head(const byte_window& w) const override { return found_in(w, parser_.read_header(w.view(), w.last)); }
  std::size_t bytes_before() const override { return 1; }
  bool may_begin(const byte_window&, std::string_view before) const override {
    return before == "\n" || before == "\r";
  }

 protected:
  bool is_header(const byte_window& w) const { return has_header_ && w.offset == 0; }
  void look_at_start(const byte_window& w) const {
    if (w.offset != 0 || has_looked_ || w.bytes.empty()) return;
    has_looked_ = true;
    const std::string_view start = w.view().substr(0, kStartBytes);
    const bool is_all = w.last && start.size() == w.bytes.size();
    if (!on_other_encoding_ || (is_all ? is_utf8(start) : detail::is_utf8_beginning(start))) return;
    std::size_t at = 0;
    for (std::size_t n = 1; n != 0; at += n) n = utf8_length(start.substr(at));
    on_other_encoding_(at);
  }
  static found found_in(const byte_window& w, csv_scan s) {
    found f;
    f.elements = s.rows;
    f.used_bytes = s.used_bytes;
    if (s.used_bytes) return f;  // after empty lines, or before an error
    f.ended = s.ended;
    f.why = std::move(s.why);
    f.damaged_bytes = s.damaged_bytes;
    f.searched_bytes = s.searched_bytes;
    f.needed_bytes = w.bytes.size() * 2 + 1;  // a row longer than the window: doubling keeps the copying linear
    return f;
  }

  mutable csv_parser parser_;  // a stage has a format of its own: one thread at a time

 private:
  /// The parts of the dialect that decide where rows begin.
  static std::string kind_of(const csv_dialect& d) {
    std::string kind = d.header ? "csv with a header" : "csv";
    kind.append(", delimiter ").append(1, d.delimiter);
    if (!d.quotes) kind += ", no quotes";
    if (d.comment) kind.append(", comment ").append(1, d.comment);
    if (d.escape) kind.append(", escape ").append(1, d.escape);
    return kind;
  }

  static constexpr std::size_t kStartBytes = std::size_t{64} << 10;

  std::uint32_t row_bytes_;
  bool has_header_;
  std::string kind_;
  std::function<void(std::size_t)> on_other_encoding_;
  mutable bool has_looked_ = false;
};

/// Yields rows as texts, which several tasks parse.
class csv_text_format final : public csv_format {
 public:
  csv_text_format(const csv_form& form, std::shared_ptr<std::string> header)
      : csv_format(form), header_(std::move(header)), cutter_(form.dialect) {}

  found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const override {
    look_at_start(w);
    if (is_header(w)) return read_head(w);
    if (rows_.size() < elements_max) rows_.resize(elements_max);
    csv_scan s = cutter_.cut(parser_, w.view(), w.offset, w.last, {rows_.data(), elements_max});
    auto* texts = static_cast<cut_text*>(to);
    const char* const begin = w.view().data();
    for (std::size_t i = 0; i != s.rows; ++i) {
      const csv_cutter::row& r = rows_[i];
      ::new (static_cast<void*>(texts + i))
          cut_text{slice(&owner, begin + r.begin, r.end - r.begin), w.offset + r.begin, r.line};
    }
    if (s.rows) owner.add_references(static_cast<std::uint32_t>(s.rows));
    return found_in(w, std::move(s));
  }
  found read_head(const byte_window& w) const override {
    found f = csv_format::read_head(w);
    if (f.why.ok() && f.used_bytes) *header_ = w.view().substr(0, f.used_bytes);
    return f;
  }

 private:
  const std::shared_ptr<std::string> header_;  ///< written before the first row is yielded
  mutable csv_cutter cutter_;
  mutable std::vector<csv_cutter::row> rows_{};
};

class csv_text_parser final : public text_parser {
 public:
  csv_text_parser(csv_form form, std::shared_ptr<const std::string> header)
      : row_bytes_(form.schema.row->size), parsers_([form = std::move(form), header = std::move(header)] {
          auto parser = std::make_unique<csv_parser>(form.schema, form.dialect);
          if (form.dialect.header) read_names(*parser, *header);
          return parser;
        }) {}

  std::uint32_t parse(const cut_text* from, std::uint32_t n, char* to, status& why) const override {
    return each(from, n, why,
                [&](const csv_parser& parser, std::uint32_t done) { parser.make_rows(to + done * row_bytes_); });
  }
  std::uint32_t append(const cut_text* from, std::uint32_t n, column& rows, status& why) const override {
    return each(from, n, why, [&](const csv_parser& parser, std::uint32_t) { parser.append_to(rows); });
  }

 private:
  /// Parses n texts, and calls build(parser, number of the first row) for rows that were parsed together.
  template <class F> std::uint32_t each(const cut_text* from, std::uint32_t n, status& why, F build) const {
    const parser_pool<csv_parser>::lease parser(parsers_);
    for (std::uint32_t done = 0; done != n;) {
      const std::uint32_t end = end_of_run(from, done, n);
      const char* const begin = from[done].text.data();
      const slice& last = from[end - 1].text;
      std::string_view rest(begin, static_cast<std::size_t>(last.data() + last.size() - begin));
      std::uint64_t offset = from[done].offset;
      parser->begin_at(offset, from[done].line);
      std::size_t searched = 0;
      while (done != end) {
        csv_scan s = parser->parse(rest, offset, true, end - done);
        const bool is_longer = s.rows == 0 && s.why.ok() && s.searched_bytes < rest.size();
        if (is_longer && s.searched_bytes > searched) {  // the row is longer than what is indexed at once
          searched = s.searched_bytes;
          continue;
        }
        if (s.rows == 0) {
          why = s.why.ok() ? internal_error("a row of CSV was cut in another place than it ends") : std::move(s.why);
          return done;
        }
        build(*parser.operator->(), done);
        done += static_cast<std::uint32_t>(s.rows);
        rest.remove_prefix(s.used_bytes);
        offset += s.used_bytes;
        searched = 0;
      }
    }
    return n;
  }

  /// Returns the end of the texts from `begin` on that follow each other in the file and in memory.
  static std::uint32_t end_of_run(const cut_text* from, std::uint32_t begin, std::uint32_t n) {
    std::uint32_t i = begin + 1;
    for (; i != n; ++i) {
      const slice &before = from[i - 1].text, &text = from[i].text;
      if (text.owner() != before.owner() || text.data() != before.data() + before.size()) break;
    }
    return i;
  }

  static void read_names(csv_parser& parser, std::string_view header) {
    for (std::size_t searched = 0;;) {
      const csv_scan s = parser.read_header(header, true);
      if (s.used_bytes || !s.why.ok() || s.searched_bytes <= searched) return;
      searched = s.searched_bytes;  // the header is longer than what is indexed at once
    }
  }

  std::size_t row_bytes_;
  mutable parser_pool<csv_parser> parsers_;
};

}  // namespace

std::shared_ptr<const element_format> csv_format_of(const csv_form& form) { return std::make_shared<csv_format>(form); }

csv_parts csv_parts_of(const csv_form& form) {
  auto header = std::make_shared<std::string>();
  return {std::make_shared<csv_text_format>(form, header), std::make_shared<csv_text_parser>(form, header)};
}

}  // namespace sluice::lib
