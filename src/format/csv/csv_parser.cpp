// SPDX-License-Identifier: Apache-2.0
#include "format/csv/csv_parser.hpp"

#include <algorithm>
#include <cstring>

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include "base/text/byte_order_mark.hpp"
#include "format/csv/csv_fields.hpp"
#include "format/csv/csv_window.hpp"

namespace sluice::lib {

namespace {

constexpr std::size_t kFieldShownBytes = 40;
/// The limit for all columns together: at most half a megabyte of numbers or of places of texts.
constexpr std::size_t kValuesHeld = std::size_t{32} << 10;
/// The limit for a row whose number of fields is unknown.
constexpr std::size_t kFieldsHeld = std::size_t{64} << 10;

std::string shown_field(std::string_view text) {
  std::string out;
  print_json_text(text.substr(0, kFieldShownBytes), out);
  return text.size() > kFieldShownBytes ? out + "…" : out;
}

}  // namespace

csv_parser::csv_parser(csv_schema schema, csv_dialect dialect)
    : schema_(std::move(schema)), dialect_(std::move(dialect)), tape_(dialect_.delimiter, dialect_.quotes) {
  for (const csv_column& c : schema_.columns) {
    parsed_column& p = columns_.emplace_back();
    p.is = c;
    // A text that may be missing has no errors.
    if (c.use == column_use::checked && c.values == dtype::string && (c.is_optional || c.otherwise))
      p.is.use = column_use::skipped;
    if (c.values == dtype::string) continue;
    detail::with_csv_number(c.values, [&]<class T>(std::type_identity<T>) {
      p.value_bytes = sizeof(T);
      p.otherwise.resize(sizeof(T));
      T v{};
      if (c.otherwise) detail::read_csv_number(*c.otherwise, v);
      std::memcpy(p.otherwise.data(), &v, sizeof v);
    });
  }
  any_count_ = !dialect_.select.empty();
  for (std::size_t k = 0; k != columns_.size(); ++k) {
    const std::size_t field = any_count_ ? static_cast<std::size_t>(dialect_.select[k]) : k;
    if (column_of_field_.size() <= field) column_of_field_.resize(field + 1, -1);
    if (columns_[k].is.use != column_use::skipped) column_of_field_[field] = static_cast<std::int32_t>(k);
  }
  fields_needed_ = column_of_field_.size();
  na_is_number_ = detail::is_csv_number(dtype::float64, dialect_.na);
  rows_most_ = std::clamp<std::size_t>(kValuesHeld / (columns_.size() + 1), 1, kRowsMax);
  choose_checks();
}

std::string csv_parser::in_line() const { return line_ ? absl::StrCat("line ", line_, ": ") : std::string(); }

// --- The ends of rows and fields ---

/// Moves after the next line end, whatever precedes it. Returns false if there is none yet.
bool csv_parser::pass_line(const window_view& w, place& p) const {
  while (p.entry != w.entry_count && !is_csv_line_end(w.sign(p.entry))) ++p.entry;
  if (p.entry != w.entry_count) return end_line(w, p) == found_row::whole;
  p.at = w.indexed;
  return w.is_all;
}

/// Moves after the line end at p.
csv_parser::found_row csv_parser::end_line(const window_view& w, place& p) const {
  const bool is_return = w.sign(p.entry) == '\r';
  const std::size_t next = w.at(p.entry) + 1;
  if (is_return && next == w.indexed && !w.is_all) return found_row::incomplete;  // a \n may follow
  ++p.entry;
  p.at = next;
  if (is_return && next < w.indexed && w.bytes[next] == '\n') {
    ++p.entry;
    ++p.at;
  }
  return found_row::whole;
}

/// Returns true if the sign at `at` is escaped: an odd number of escape characters precedes it in the field.
bool csv_parser::is_escaped(const window_view& w, std::size_t begin, std::size_t at) const {
  if (dialect_.escape == 0) return false;
  std::size_t escapes = 0;
  while (at - escapes != begin && w.bytes[at - escapes - 1] == dialect_.escape) ++escapes;
  return escapes % 2 == 1;
}

/// Returns the end of a field without quotes. p.entry is the sign there then.
std::size_t csv_parser::end_of_plain_field(const window_view& w, place& p, csv_field& f) const {
  while (p.entry != w.entry_count && is_escaped(w, p.at, w.at(p.entry))) ++p.entry;
  const std::size_t end = p.entry != w.entry_count ? w.at(p.entry) : w.indexed;
  f.is_escaped =
      dialect_.escape != 0 && w.bytes.substr(p.at, end - p.at).find(dialect_.escape) != std::string_view::npos;
  return end;
}

/// Parses a field that begins with a quote. p is after the closing quote then.
bool csv_parser::quoted_field(const window_view& w, place& p, csv_field& f, found_row& otherwise, status& why) const {
  const std::size_t begin = p.at + 1;
  ++p.entry;
  for (;;) {
    while (p.entry != w.entry_count && w.sign(p.entry) != '"') ++p.entry;
    if (p.entry == w.entry_count) {
      otherwise = w.is_all ? found_row::broken : found_row::incomplete;
      why = data_loss_error(in_line() + "a field begins with a quote that is not closed");
      return false;
    }
    const std::size_t quote = w.at(p.entry);
    ++p.entry;
    if (is_escaped(w, begin, quote)) continue;
    if (quote + 1 == w.indexed && !w.is_all) {
      otherwise = found_row::incomplete;
      return false;
    }
    if (quote + 1 < w.indexed && w.bytes[quote + 1] == '"') {
      f.is_doubled = true;
      ++p.entry;
      continue;
    }
    f.text = w.bytes.substr(begin, quote - begin);
    f.is_escaped = dialect_.escape != 0 && f.text.find(dialect_.escape) != f.text.npos;
    p.at = quote + 1;
    const bool is_end = p.at == w.indexed || (p.entry != w.entry_count && w.at(p.entry) == p.at);
    if (is_end) return true;
    otherwise = found_row::broken;
    why = invalid_argument_error(absl::StrCat(in_line(), "field ", field_count_ + 1,
                                              ": text follows the closing quote; write a quote within a field twice"));
    return false;
  }
}

/// Finds the fields of the row at p, which is not a line to be skipped.
csv_parser::found_row csv_parser::next_fields(const window_view& w, place& p, status& why) {
  const place begin = p;
  found_row otherwise = found_row::whole;
  const std::size_t kept = std::max(kFieldsHeld, fields_needed_);
  fields_.clear();
  field_count_ = 0;
  for (;;) {
    csv_field f;
    f.is_quoted = dialect_.quotes && p.at < w.indexed && w.bytes[p.at] == '"';
    if (f.is_quoted) {
      if (!quoted_field(w, p, f, otherwise, why)) break;
    } else {
      const std::size_t end = end_of_plain_field(w, p, f);
      if (p.entry != w.entry_count && dialect_.quotes && w.bytes[end] == '"') {
        otherwise = found_row::broken;
        why = invalid_argument_error(absl::StrCat(in_line(), "field ", field_count_ + 1,
                                                  ": a quote is in a field that does not begin with one"));
        break;
      }
      f.text = w.bytes.substr(p.at, end - p.at);
      p.at = end;
    }
    if (++field_count_ <= kept) fields_.push_back(f);
    if (p.entry == w.entry_count) return w.is_all ? found_row::whole : found_row::incomplete;
    if (is_csv_line_end(w.sign(p.entry))) return end_line(w, p);
    ++p.entry;
    ++p.at;
  }
  if (otherwise != found_row::broken) return otherwise;
  // A quote that is not closed has swallowed the following lines: the row ends with its first line.
  if (why.code() == status_code::data_loss) p = begin;
  return pass_line(w, p) ? found_row::broken : found_row::incomplete;
}

/// Finds the row at p, or a line that is skipped (`empty`); p is then after it.
csv_parser::found_row csv_parser::next_row(const window_view& w, place& p, status& why) {
  if (p.at == w.indexed) return w.is_all ? found_row::ended : found_row::incomplete;
  const char first = w.bytes[p.at];
  if (is_csv_line_end(first)) return end_line(w, p) == found_row::whole ? found_row::empty : found_row::incomplete;
  if (dialect_.comment && first == dialect_.comment) return pass_line(w, p) ? found_row::empty : found_row::incomplete;
  return next_fields(w, p, why);
}

template <bool Keep>
csv_scan csv_parser::scan(std::string_view window, std::uint64_t offset, bool last, std::uint64_t rows_max) {
  if (offset != line_offset_) line_ = 0;
  tape_.go_to(offset);
  if (tape_.size() == 0 || tape_.indexed_bytes() == 0) tape_.extend(window);
  csv_scan s;
  if (offset == 0) s.used_bytes = detail::byte_order_mark_bytes(window);
  for (bool may_extend = true;;) {
    const window_view w{window,        tape_.entries(),       tape_.size(),
                        tape_.shift(), tape_.indexed_bytes(), last && tape_.indexed_bytes() == window.size()};
    place p{s.used_bytes, 0};
    while (p.entry != w.entry_count && w.at(p.entry) < p.at) ++p.entry;
    found_row end = found_row::whole;
    while (s.rows != rows_max) {
      if constexpr (Keep) {
        const std::size_t n = usual_rows(w, p, s.rows, rows_max - s.rows);
        s.rows += n;
        s.used_bytes = p.at;
        line_ += line_ ? n : 0;
        if (s.rows == rows_max) break;
      }
      place next = p;
      status why;
      end = is_incomplete(w, p) ? found_row::incomplete : next_row(w, next, why);
      if (end == found_row::incomplete || end == found_row::ended) break;
      if (Keep && end == found_row::whole) why = read_row(s.rows);
      if constexpr (Keep) {
        if (!why.ok() && s.used_bytes) break;  // rows before it are delivered first
        if (!why.ok()) s.damaged_bytes = next.at - p.at;
        s.why = std::move(why);
      } else {
        s.broken = std::move(why);
        if (end != found_row::empty) {
          row_line_ = line_;
          s.row_begin = p.at;
        }
      }
      if (line_)
        line_ += std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(std::ranges::count(window.substr(p.at, next.at - p.at), '\n')));
      if (!s.why.ok()) break;
      s.rows += end != found_row::empty;
      p = next;
      s.used_bytes = p.at;
    }
    line_offset_ = offset + s.used_bytes + s.damaged_bytes;
    if (s.used_bytes || !s.why.ok() || rows_max == 0) break;
    s.ended = end == found_row::ended;
    if (s.ended || !may_extend || !tape_.extend(window)) break;
    may_extend = false;
  }
  rows_ = s.rows;
  if (s.used_bytes || !s.why.ok() || s.ended) return s;
  s.searched_bytes = tape_.indexed_bytes();
  const bool has_many_signs = tape_.size() > csv_tape::kRowEntriesMax;
  if (s.searched_bytes - s.used_bytes > kRowBytesMax || has_many_signs) {
    s.why = element_limit_error(
        absl::StrCat(in_line(), "a row ",
                     has_many_signs ? "has more than 4 Mi delimiters, quotes and line ends" : "is longer than 16 MiB",
                     "; perhaps a quote is not closed"));
    place p{s.used_bytes, 0};
    const window_view w{window, tape_.entries(), tape_.size(), tape_.shift(), tape_.indexed_bytes(), true};
    while (p.entry != w.entry_count && w.at(p.entry) < p.at) ++p.entry;
    pass_line(w, p);
    s.damaged_bytes = p.at - s.used_bytes;
    line_offset_ += s.damaged_bytes;
    line_ += line_ != 0;
  }
  return s;
}

// --- Values ---

void csv_parser::begin_rows(std::size_t rows) {
  unquoted_used_ = 0;
  for (parsed_column& c : columns_) {
    if (c.value_bytes && c.numbers.size() < rows * c.value_bytes) c.numbers.resize(rows * c.value_bytes);
    if (!c.value_bytes && c.texts.size() < rows) c.texts.resize(rows);
    if (c.is.is_optional) c.valid.assign((rows + 7) / 8, 0);
    if (c.is_absent && c.value_bytes) std::fill(c.numbers.begin(), c.numbers.end(), '\0');
    if (c.is_absent) std::fill(c.texts.begin(), c.texts.end(), std::string_view());
  }
}

void csv_parser::set_valid(parsed_column& c, std::size_t row) {
  c.valid[row / 8] |= static_cast<std::uint8_t>(1 << (row % 8));
}

/// Stores a field as a value of its column. Returns false if it is not a valid one.
bool csv_parser::read_field(parsed_column& c, std::string_view text, std::size_t row, bool is_text) const {
  const bool is_missing = !is_text && (text.empty() || (!dialect_.na.empty() && text == dialect_.na));
  if (is_missing) [[unlikely]] {
    if (!c.is.otherwise && !c.is.is_optional) return false;
    if (c.value_bytes) std::memcpy(c.numbers.data() + row * c.value_bytes, c.otherwise.data(), c.value_bytes);
    else c.texts[row] = c.is.otherwise ? std::string_view(*c.is.otherwise) : std::string_view();
    return true;
  }
  if (c.is.is_optional) set_valid(c, row);
  auto number = [&]<class T>(std::type_identity<T>) {
    return detail::read_csv_number(text, reinterpret_cast<T*>(c.numbers.data())[row]);
  };
  switch (c.is.values) {
    case dtype::string: c.texts[row] = text; return true;
    case dtype::float32: return number(std::type_identity<float>());
    case dtype::float64: return number(std::type_identity<double>());
    case dtype::int64: return number(std::type_identity<std::int64_t>());
    default: return detail::with_csv_number(c.is.values, number);
  }
}

status csv_parser::wrong_field(const parsed_column& c, std::string_view text) const {
  std::string hint;
  if (!dialect_.inferred_from.empty())
    hint = absl::StrCat("; the schema was inferred from ", dialect_.inferred_from, ": give a schema, such as \"",
                        detail::csv_schema_with(schema_, static_cast<std::size_t>(&c - columns_.data()),
                                                text == dialect_.na ? std::string_view() : text),
                        "\"");
  if (text.empty() || text == dialect_.na)
    return invalid_argument_error(
        absl::StrCat(in_line(), "column ", c.is.member, " is required, and its field is ",
                     text.empty() ? "empty" : shown_field(text),
                     hint.empty() ? ": give it a default in the schema, or `?` for an optional value" : hint));
  csv_schema one;
  one.columns.push_back({.member = c.is.member, .name = c.is.member, .values = c.is.values});
  const std::string type = csv_schema_text(one).substr(csv_schema_text(one).rfind(' ') + 1);
  if (hint.empty()) hint = detail::csv_number_rule(type, text);
  return invalid_argument_error(
      absl::StrCat(in_line(), "column ", c.is.member, ": ", shown_field(text), " is no ", type, hint));
}

/// Stores the fields_ as a row.
status csv_parser::read_row(std::size_t row) {
  const std::size_t wanted = fields_needed_;
  const bool fits = any_count_ ? field_count_ >= wanted : field_count_ == wanted;
  if (!fits)
    return invalid_argument_error(absl::StrCat(in_line(), "the row has ", field_count_,
                                               field_count_ == 1 ? " field" : " fields", ", expected ",
                                               any_count_ ? "at least " : "", wanted));
  for (parsed_column& c : columns_)
    if (c.is.is_optional) c.valid[row / 8] &= static_cast<std::uint8_t>(~(1 << (row % 8)));
  for (std::size_t f = 0; f != wanted; ++f) {
    const std::int32_t k = column_of_field_[f];
    if (k < 0) continue;
    parsed_column& c = columns_[static_cast<std::size_t>(k)];
    const std::string_view text = text_of(fields_[f]);
    const bool is_text = text.empty() && fields_[f].is_quoted && c.is.values == dtype::string && !c.is.otherwise;
    if (!read_field(c, text, row, is_text)) return wrong_field(c, text);
  }
  if (any_count_) column_of_field_.resize(fields_.size(), -1);  // the usual row has this number of fields
  return {};
}

csv_scan csv_parser::parse(std::string_view window, std::uint64_t offset, bool last, std::size_t rows_max) {
  rows_max = std::min(rows_max, rows_most_);
  begin_rows(rows_max);
  return scan<true>(window, offset, last, rows_max);
}

csv_scan csv_parser::pass_over(std::string_view window, std::uint64_t offset, bool last, std::uint64_t rows_max) {
  return scan<false>(window, offset, last, rows_max);
}

csv_scan csv_parser::read_fields(std::string_view window, std::uint64_t offset, bool last,
                                 std::vector<std::string>& fields) {
  csv_scan s = scan<false>(window, offset, last, 1);
  fields.clear();
  unquoted_used_ = 0;
  if (s.rows)
    for (const csv_field& f : fields_) fields.emplace_back(text_of(f));
  return s;
}

csv_scan csv_parser::read_header(std::string_view window, bool last) {
  std::vector<std::string> names;
  line_ = 1;
  line_offset_ = 0;
  std::size_t passed = 0;  // comments and empty lines
  csv_scan s;
  for (;;) {
    s = read_fields(window.substr(passed), passed, last, names);
    if (s.rows || s.used_bytes == 0) break;
    passed += s.used_bytes;
  }
  if (!s.rows) {
    s.searched_bytes += passed;
    return s;
  }
  s.used_bytes += passed;
  s.rows = 0;
  if (any_count_ || !dialect_.names) return s;
  column_of_field_.assign(names.size(), -1);
  fields_needed_ = names.size();
  absl::flat_hash_map<std::string_view, std::size_t> fields;
  for (std::size_t f = 0; f != names.size(); ++f) fields.try_emplace(names[f], f);
  for (std::size_t k = 0; k != columns_.size(); ++k) {
    const std::string& name = columns_[k].is.name;
    const auto at = fields.find(name);
    columns_[k].is_absent = at == fields.end() && columns_[k].is.is_optional;
    if (columns_[k].is_absent) continue;
    if (at == fields.end()) {
      std::string all;
      for (const std::string& n : names) absl::StrAppend(&all, all.empty() ? "" : ", ", n);
      s.why = invalid_argument_error(
          absl::StrCat("the header has no column ", shown_field(name), "; it has ", all.substr(0, 300)));
      s.used_bytes = 0;  // with damaged_bytes 0: no row of this file can be read
      return s;
    }
    if (columns_[k].is.use != column_use::skipped) column_of_field_[at->second] = static_cast<std::int32_t>(k);
  }
  choose_checks();
  return s;
}

}  // namespace sluice::lib
