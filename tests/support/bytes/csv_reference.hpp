// SPDX-License-Identifier: Apache-2.0
// Rows of CSV by a loop that looks at one character after the other: what csv_parser is held against.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "format/csv/csv_parser.hpp"

namespace sluice::lib::test {

struct csv_reference_row {
  bool is_broken = false;
  std::vector<std::string> fields{};
  friend bool operator==(const csv_reference_row&, const csv_reference_row&) = default;
};

class csv_reference {
 public:
  csv_reference(std::string_view text, const csv_dialect& dialect) : text_(text), dialect_(dialect) {
    if (text.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  std::vector<csv_reference_row> rows() {
    std::vector<csv_reference_row> all;
    while (at_ != text_.size()) {
      if (is_end(at_)) {
        pass_end();
      } else if (dialect_.comment && text_[at_] == dialect_.comment) {
        pass_line();
      } else {
        csv_reference_row row;
        row.is_broken = !read(row.fields);
        if (row.is_broken) row.fields.clear();
        all.push_back(std::move(row));
      }
    }
    return all;
  }

 private:
  bool is_end(std::size_t i) const { return i < text_.size() && (text_[i] == '\n' || text_[i] == '\r'); }
  void pass_end() {
    const bool is_pair = text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n';
    at_ += is_pair ? 2 : 1;
  }
  void pass_line() {
    while (at_ != text_.size() && !is_end(at_)) ++at_;
    if (at_ != text_.size()) pass_end();
  }
  bool read(std::vector<std::string>& fields) {
    const std::size_t begin = at_;
    for (;;) {
      std::string& field = fields.emplace_back();
      if (dialect_.quotes && at_ < text_.size() && text_[at_] == '"') {
        if (!read_quoted(field)) {
          at_ = begin;
          pass_line();
          return false;
        }
        const bool is_closed = at_ == text_.size() || is_end(at_) || text_[at_] == dialect_.delimiter;
        if (!is_closed) {
          pass_line();
          return false;
        }
      }
      for (; at_ != text_.size() && !is_end(at_) && text_[at_] != dialect_.delimiter; ++at_) {
        if (dialect_.quotes && text_[at_] == '"') {
          pass_line();
          return false;
        }
        field += text_[at_];
      }
      if (at_ == text_.size()) return true;
      if (is_end(at_)) {
        pass_end();
        return true;
      }
      ++at_;
    }
  }
  /// False: it is not closed.
  bool read_quoted(std::string& field) {
    for (++at_; at_ != text_.size(); ++at_) {
      if (text_[at_] == '"') {
        const bool is_doubled = at_ + 1 < text_.size() && text_[at_ + 1] == '"';
        ++at_;
        if (!is_doubled) return true;
      }
      field += text_[at_];
    }
    return false;
  }

  std::string_view text_;
  const csv_dialect& dialect_;
  std::size_t at_ = 0;
};

/// What csv_parser gives, from windows of so many bytes: rows of `columns` texts, and where those that are none are. Each window
/// is an allocation of its own, so that ASan sees a read beyond it.
inline std::vector<csv_reference_row> parsed_csv(std::string_view text, const csv_dialect& dialect, std::size_t columns,
                                                 std::size_t window_bytes, std::size_t rows_max) {
  std::vector<csv_column> all;
  for (std::size_t k = 0; k != columns; ++k) {
    const std::string name = "c" + std::to_string(k);
    all.push_back({.member = name, .name = name, .otherwise = ""});
  }
  csv_parser parser(csv_schema_of(std::move(all)), dialect), passing(csv_schema{}, dialect);
  std::vector<csv_reference_row> rows;
  std::vector<std::string> made(rows_max * columns);
  std::size_t at = 0, have = std::min(window_bytes, text.size());
  for (;;) {
    const bool last = at + have == text.size();
    const std::string window(text.substr(at, have));
    csv_scan s = parser.parse(window, at, last, rows_max);
    std::size_t used = s.used_bytes;
    if (s.rows) {
      for (std::size_t i = 0; i != s.rows * columns; ++i) made[i].~basic_string();
      parser.make_rows(made.data());
      for (std::size_t r = 0; r != s.rows; ++r)
        rows.push_back({false,
                        {made.begin() + static_cast<std::ptrdiff_t>(r * columns),
                         made.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns)}});
    } else if (!s.why.ok()) {
      rows.push_back({true, {}});
      used += s.damaged_bytes;
    }
    // What is passed over ends where rows do.
    std::size_t passed = 0;
    while (passed < used) {
      csv_scan p = passing.pass_over(std::string_view(window).substr(passed), at + passed, last, 1);
      if (p.used_bytes == 0) break;
      passed += p.used_bytes;
    }
    if (passed < used) rows.push_back({true, {"passing over ends elsewhere"}});
    at += used;
    if (s.ended || (last && at == text.size())) return rows;
    if (used == 0 && last && s.searched_bytes >= have) rows.push_back({true, {"a last window keeps bytes back"}});
    if (used == 0 && last && s.searched_bytes >= have) return rows;
    const bool wants_more = used == 0 && s.searched_bytes >= have;
    have = std::min(wants_more ? have + window_bytes : std::max(window_bytes, have - used), text.size() - at);
  }
}

}  // namespace sluice::lib::test
