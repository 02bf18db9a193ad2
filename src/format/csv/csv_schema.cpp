// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/csv_schema.hpp"

#include <algorithm>

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include "element/member_finder.hpp"
#include "element/text/scan_text.hpp"
#include "format/csv/csv_fields.hpp"

namespace sluice::lib {
namespace {

bool is_of_time(const std::string& type) {
  return type.starts_with("date") || type.starts_with("time") || type == "duration" || type == "interval";
}

constexpr std::string_view kCsvTypes = "a type: string, bool, int8 … int64, uint8 … uint64, float or double";

std::string_view csv_type_name(dtype d) {
  switch (d) {
    case dtype::string: return "bytes";
    case dtype::float32: return "float";
    case dtype::float64: return "double";
    default: return name_of(d);
  }
}

std::optional<dtype> csv_type_named(std::string_view written) {
  const std::string_view name = detail::usual_type_name(written);
  if (name == "string") return dtype::string;
  if (name == "float") return dtype::float32;
  if (name == "double") return dtype::float64;
  auto d = dtype_named(name);
  return d == dtype::float16 || d == dtype::bfloat16 ? std::nullopt : d;
}

template <class T> const element_type* member_type(bool is_optional) {
  return is_optional ? &type_of<std::optional<T>>() : &type_of<T>();
}

const element_type* member_type(dtype d, bool is_optional) {
  if (d == dtype::string) return member_type<std::string>(is_optional);
  return detail::with_csv_number(d, [&]<class T>(std::type_identity<T>) { return member_type<T>(is_optional); });
}

/// Reads the text of a schema.
class csv_schema_reader {
 public:
  explicit csv_schema_reader(std::string_view text) : text_(text), in_(text, "the schema") {}

  std::vector<csv_column> columns() {
    std::vector<csv_column> all;
    absl::flat_hash_set<std::string> members;
    do {
      in_.skip_spaces();
      const std::size_t at = in_.place();
      csv_column c = one();
      if (!members.insert(c.member).second) in_.fail_at(at, absl::StrCat("column ", c.member, " appears twice"));
      all.push_back(std::move(c));
    } while (in_.take(','));
    if (!in_.done()) in_.fail_expecting("',' or the end");
    return all;
  }

 private:
  csv_column one() {
    csv_column c;
    c.member = in_.name("a column's name");
    c.name = in_.take('=') ? quoted() : c.member;
    need_colon(c.member);
    in_.skip_spaces();
    const std::size_t at = in_.place();
    const std::string type = in_.name(kCsvTypes);
    auto d = csv_type_named(type);
    if (!d)
      in_.fail_at(at, absl::StrCat("expected ", std::string(kCsvTypes), ", got ", type,
                                   is_of_time(type) ? "; dates and times are read as string" : ""));
    c.values = *d;
    c.is_optional = in_.take('?');
    if (in_.take('=')) c.otherwise = default_of(c);
    return c;
  }
  void need_colon(const std::string& member) {
    if (in_.take(':')) return;
    in_.skip_spaces();
    const std::size_t at = in_.place();
    std::size_t end = at;
    while (end != text_.size() && detail::is_name_char(text_[end])) ++end;
    const std::string_view next = text_.substr(at, end - at);
    std::size_t colon = at;
    while (colon != text_.size() && (text_[colon] == ' ' || detail::is_name_char(text_[colon]))) ++colon;
    if (!next.empty() && colon != text_.size() && text_[colon] == ':')
      in_.fail_at(at, absl::StrCat("a name with blanks is written in backticks: `", member, " ",
                                   std::string(text_.substr(at, colon - at)), "`"));
    in_.fail_at(at, absl::StrCat("a colon is missing after ", member, ": write ", member, ": ",
                                 csv_type_named(next) ? std::string(next) : "int64"));
  }
  std::string default_of(const csv_column& c) {
    in_.skip_spaces();
    const std::size_t at = in_.place();
    if (c.is_optional) in_.fail_at(at, absl::StrCat("column ", c.member, " may have no value, and a default is one"));
    if (c.values == dtype::string) return quoted();
    const std::size_t end = std::min(text_.find(',', at), text_.size());
    std::string spelled(text_.substr(at, end - at));
    while (!spelled.empty() && spelled.back() == ' ') spelled.pop_back();
    if (!detail::is_csv_number(c.values, spelled))
      in_.fail_at(at, absl::StrCat("the default of ", c.member, ": ", spelled, " is no ",
                                   std::string(csv_type_name(c.values))));
    in_.go_to(end);
    return spelled;
  }
  std::string quoted() {
    in_.skip_spaces();
    const std::size_t from = in_.place();
    std::size_t at = from;
    if (at == text_.size() || (text_[at] != '\'' && text_[at] != '"')) in_.fail_expecting("a text in quotes");
    const char quote = text_[at++];
    std::string out;
    for (; at < text_.size() && text_[at] != quote; ++at) {
      if (text_[at] != '\\') {
        out += text_[at];
        continue;
      }
      const char c = ++at < text_.size() ? text_[at] : '\0';
      const int high = at + 2 < text_.size() ? detail::hex_digit(text_[at + 1]) : -1;
      const int low = at + 2 < text_.size() ? detail::hex_digit(text_[at + 2]) : -1;
      if (c == 'n' || c == 't') out += c == 'n' ? '\n' : '\t';
      else if (c == '\\' || c == '\'' || c == '"') out += c;
      else if (c == 'x' && high >= 0 && low >= 0) out += static_cast<char>(high * 16 + low), at += 2;
      else in_.fail_at(at - 1, "no such escape; there are \\\\ \\' \\\" \\n \\t and \\xHH");
    }
    if (at >= text_.size()) in_.fail_at(from, "the text has no end");
    in_.go_to(at + 1);
    return out;
  }

  std::string_view text_;
  detail::text_scanner in_;
};

std::string csv_type_text(const csv_column& c) {
  return absl::StrCat(std::string(csv_type_name(c.values)), c.is_optional ? "?" : "");
}

}  // namespace

csv_schema csv_schema_of(std::vector<csv_column> columns) {
  std::vector<member> members;
  for (const csv_column& c : columns) members.push_back({c.member, 0, member_type(c.values, c.is_optional)});
  csv_schema s;
  s.row = struct_of("", std::move(members));
  s.columns = std::move(columns);
  for (std::size_t i = 0; i != s.columns.size(); ++i) s.columns[i].offset = s.row->members[i].offset;
  return s;
}

result<csv_schema> csv_schema_of(std::string_view text) {
  try {
    return csv_schema_of(csv_schema_reader(text).columns());
  } catch (const error& e) { return e.why(); }
}

result<csv_schema> csv_schema_of(const element_type& row) {
  csv_schema s;
  s.row = &row;
  for (const member& m : row.members) {
    csv_column c;
    c.member = c.name = m.name;
    c.offset = m.offset;
    c.is_optional = m.type->kind == kind::maybe;
    const element_type& t = c.is_optional ? *m.type->element : *m.type;
    auto d = dtype_of(t);
    const bool is_known = d && csv_type_named(name_of(*d)) && (*d != dtype::string || &t == &type_of<std::string>());
    if (!is_known)
      return invalid_argument_error(
          absl::StrCat("member ", m.name, " is ", m.type->name,
                       ", and a field is a number, a bool, a std::string, or std::optional of these"));
    c.values = *d;
    s.columns.push_back(std::move(c));
  }
  if (s.columns.empty()) return invalid_argument_error(row.name + " has no members for columns");
  return s;
}

result<csv_schema> csv_schema_of(const element_type& row, std::string_view text) {
  auto own = csv_schema_of(row);
  if (!own.ok()) return own;
  try {
    member_finder members(row);
    for (csv_column& said : csv_schema_reader(text).columns()) {
      const std::size_t k = members.find(said.member);
      if (k == own->columns.size())
        return invalid_argument_error(absl::StrCat("the schema: ", row.name, " has no member ", said.member));
      csv_column* const at = &own->columns[k];
      if (at->values != said.values || at->is_optional != said.is_optional)
        return invalid_argument_error(absl::StrCat("the schema: member ", said.member, " is ", csv_type_text(*at),
                                                   ", and the text says ", csv_type_text(said)));
      at->name = std::move(said.name);
      at->otherwise = std::move(said.otherwise);
    }
  } catch (const error& e) { return e.why(); }
  return own;
}

std::string csv_schema_text(const csv_schema& schema) {
  std::string out;
  for (const csv_column& c : schema.columns) {
    if (!out.empty()) out += ", ";
    detail::append_name(c.member, out);
    if (c.name != c.member) {
      out += " = ";
      detail::append_single_quoted(c.name, out);
    }
    absl::StrAppend(&out, ": ", csv_type_text(c));
    if (!c.otherwise) continue;
    out += " = ";
    if (c.values == dtype::string) detail::append_single_quoted(*c.otherwise, out);
    else out += *c.otherwise;
  }
  return out;
}

std::string detail::csv_schema_with(const csv_schema& schema, std::size_t column, std::string_view field) {
  constexpr std::size_t kShownBytes = 400;
  std::vector<csv_column> columns = schema.columns;
  const bool is_whole = field.find_first_not_of("+-0123456789 \t") == field.npos;  // a double could round it
  if (field.empty()) columns[column].is_optional = true;
  else columns[column].values = !is_whole && is_csv_number(dtype::float64, field) ? dtype::float64 : dtype::string;
  std::string text = csv_schema_text({.columns = std::move(columns)});
  return text.size() > kShownBytes ? text.substr(0, kShownBytes) + "…" : text;
}

}  // namespace sluice::lib
