// SPDX-License-Identifier: Apache-2.0
// Builds rows from the fields that csv_parser has found.
#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <type_traits>

#include "format/csv/csv_fields.hpp"
#include "format/csv/csv_parser.hpp"

namespace sluice::lib {

std::string_view csv_parser::text_of(const csv_field& f) {
  if (!f.is_doubled && !f.is_escaped) return f.text;
  if (f.is_escaped && !dialect_.na.empty() && f.text == dialect_.na) return f.text;
  if (unquoted_used_ == unquoted_.size()) unquoted_.emplace_back();
  std::string& text = unquoted_[unquoted_used_++];
  text.clear();
  const char both[] = {'"', dialect_.escape};
  const std::string_view signs(f.is_quoted ? both : both + 1, f.is_quoted ? (dialect_.escape ? 2 : 1) : 1);
  for (std::string_view rest = f.text; !rest.empty();) {
    // The character after an escape character, or after the first of two quotes, stands for itself.
    const std::size_t sign = rest.find_first_of(signs);
    text.append(rest.substr(0, sign));
    rest.remove_prefix(std::min(sign, rest.size()));
    if (rest.empty()) break;
    text += rest[rest.size() > 1 ? 1 : 0];  // an escape character at the end stands for itself
    rest.remove_prefix(std::min<std::size_t>(2, rest.size()));
  }
  return text;
}

void csv_parser::make_rows(void* to) const {
  const std::size_t stride = schema_.row->size;
  for (const parsed_column& c : columns_) {
    if (c.is.use != column_use::built) continue;
    char* at = static_cast<char*>(to) + c.is.offset;
    auto exists = [&c](std::size_t row) { return (c.valid[row / 8] >> (row % 8) & 1) != 0; };
    auto put = [&]<class T, class V>(std::type_identity<T>, const V* values) {
      for (std::size_t row = 0; row != rows_; ++row, at += stride) {
        if (!c.is.is_optional) ::new (static_cast<void*>(at)) T(values[row]);
        else if (exists(row)) ::new (static_cast<void*>(at)) std::optional<T>(T(values[row]));
        else ::new (static_cast<void*>(at)) std::optional<T>();
      }
    };
    if (!c.value_bytes) put(std::type_identity<std::string>(), c.texts.data());
    else
      detail::with_csv_number(
          c.is.values, [&]<class T>(std::type_identity<T> t) { put(t, reinterpret_cast<const T*>(c.numbers.data())); });
  }
}

void csv_parser::append_to(column& rows) const {
  std::size_t k = 0;
  for (const parsed_column& c : columns_) {
    if (c.is.use != column_use::built) continue;
    column& to = rows.child(k++);
    column& values = c.is.is_optional ? to.child(0) : to;
    if (c.value_bytes) values.append_values(c.numbers.data(), rows_);
    else
      for (std::size_t row = 0; row != rows_; ++row) values.append_text(c.texts[row]);
    if (c.is.is_optional) to.append_valid_bits(c.valid.data(), 0, rows_);
  }
  for (std::size_t row = 0; row != rows_; ++row) rows.append_row();
}

std::size_t csv_parser::text_bytes() const {
  std::size_t bytes = 0;
  for (const parsed_column& c : columns_)
    for (std::size_t row = 0; !c.value_bytes && c.is.use == column_use::built && row != rows_; ++row)
      bytes += c.texts[row].size();
  return bytes;
}

}  // namespace sluice::lib
