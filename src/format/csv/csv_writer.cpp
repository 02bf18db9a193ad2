// SPDX-License-Identifier: Apache-2.0
#include "format/csv/csv_writer.hpp"

#include <charconv>

#include "base/text/real_text.hpp"
#include "element/scalars.hpp"

namespace sluice::lib {
namespace {

void append_number(std::string& out, bool v) { out += v ? "true" : "false"; }
template <class T> void append_number(std::string& out, T v) {
  if constexpr (std::is_floating_point_v<T>) {
    append_real_or_word(v, out);
  } else {
    char text[32];
    auto end = std::to_chars(text, text + sizeof text, v).ptr;
    out.append(text, end);
  }
}

/// Appends nothing for an optional without a value.
void append_value(const element_type& type, const void* p, std::string& out) {
  if (type.kind == kind::text) {
    append_csv_field(out, type.text(p));
  } else if (type.kind == kind::maybe) {
    std::size_t n = 0;
    const void* value = type.items(type, p, n);
    if (n != 0) append_value(*type.element, value, out);
  } else {
    detail::with_number(type, [&]<class T>(std::type_identity<T>) { append_number(out, *static_cast<const T*>(p)); });
  }
}

bool is_field(const element_type& type) {
  if (type.kind == kind::maybe) return type.element->kind == kind::text || type.element->kind == kind::scalar;
  return type.kind == kind::text || type.kind == kind::scalar;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t quote; (quote = text.find('"')) != text.npos; text.remove_prefix(quote + 1)) {
    out += text.substr(0, quote + 1);
    out += '"';
  }
  out += text;
  out += '"';
}

}  // namespace

void append_csv_field(std::string& out, std::string_view text) {
  const bool has_blank_at_end =
      !text.empty() && (text.front() == ' ' || text.back() == ' ' || text.front() == '\t' || text.back() == '\t');
  if (!text.empty() && !has_blank_at_end && text.find_first_of(",\"\r\n") == text.npos) out += text;
  else append_quoted(out, text);
}

result<csv_writer> csv_writer::of(const element_type& type) {
  if (type.kind == kind::batch)
    return invalid_argument_error("CSV takes rows, not batches (" + type.name + "): end the plan with | unbatch");
  auto columns = flat_members(type);
  if (!columns.ok()) return columns.why();
  if (columns->empty()) return invalid_argument_error("CSV needs a column, and " + type.name + " has no members");
  for (const flat_member& c : *columns)
    if (!is_field(*c.type))
      return invalid_argument_error("a field of CSV is a number, a bool, a text or an optional of these, and " +
                                    c.path + " is " + c.type->name +
                                    ": leave it out by a map, or write jsonl, which has lists");
  return csv_writer(*std::move(columns));
}

void csv_writer::append_header(std::string& out) const {
  // A reader that looks for the delimiter in a header without a comma must not find one within the only name.
  if (columns_.size() == 1 && columns_[0].path.find_first_of("\t;|") != std::string::npos)
    return append_quoted(out, columns_[0].path), out.push_back('\n');
  for (const flat_member& c : columns_) {
    if (&c != &columns_.front()) out += ',';
    append_csv_field(out, c.path);
  }
  out += '\n';
}

void csv_writer::append(const void* element, std::string& out) const {
  const std::size_t begin = out.size();
  for (const flat_member& c : columns_) {
    if (&c != &columns_.front()) out += ',';
    if (const void* value = c.in(element)) append_value(*c.type, value, out);
  }
  if (out.size() == begin) out += "\"\"";  // a single column without a value: an empty line would be no row
  out += '\n';
}

}  // namespace sluice::lib
