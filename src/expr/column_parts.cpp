// SPDX-License-Identifier: Apache-2.0
#include "expr/column_parts.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "element/optional_numbers.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib::expressions {
namespace {

/// Texts that cannot be made from bytes are stored as objects.
bool is_number_or_text(const element_type& t) {
  return t.kind == kind::scalar || (t.kind == kind::text && t.make_texts != nullptr);
}

/// Returns the member that has the byte at `offset`; the number of members if none has.
std::size_t member_at(const element_type& t, std::size_t offset) {
  std::size_t k = 0;
  while (k != t.members.size() && offset - t.members[k].offset >= t.members[k].type->size) ++k;  // below 0 is large
  return k;
}

/// Copies the values of selected rows, `bytes` each, to places with a distance of `stride`.
template <class T> void copy_values(const char* from, selection s, char* to, std::size_t stride) {
  for (std::uint32_t i = 0; i != s.n; ++i) std::memcpy(to + i * stride, from + s.element(i) * sizeof(T), sizeof(T));
}
void copy_values(std::size_t bytes, const char* from, selection s, char* to, std::size_t stride) {
  if (!s.at && stride == bytes) {
    if (s.n != 0) std::memcpy(to, from, s.n * bytes);
    return;
  }
  switch (bytes) {
    case 1: return copy_values<std::uint8_t>(from, s, to, stride);
    case 2: return copy_values<std::uint16_t>(from, s, to, stride);
    case 4: return copy_values<std::uint32_t>(from, s, to, stride);
    default: return copy_values<std::uint64_t>(from, s, to, stride);
  }
}

void load_texts(const column& part, std::size_t first, selection s, std::string_view* to) {
  for (std::uint32_t i = 0; i != s.n; ++i) to[i] = part.text(first + s.element(i));
}

/// Makes copies row by row, or at once where rows follow each other.
void make_rows_of(const column& part, std::size_t first, selection s, char* to, std::size_t stride) {
  if (!s.at) return part.make(first, s.n, to, stride);
  std::uint32_t made = 0;
  try {
    while (made != s.n) {
      std::uint32_t run = 1;
      while (made + run != s.n && s.at[made + run] == s.at[made] + run) ++run;
      part.make(first + s.at[made], run, to + made * stride, stride);
      made += run;
    }
  } catch (...) {
    destroy_each(part.type(), to, stride, made);
    throw;
  }
}

}  // namespace

bool is_column_part(const element_type& t) {
  return is_number_or_text(t) || (t.kind == kind::maybe && is_number_or_text(*t.element));
}

bool is_cheap_to_build(const element_type& t) {
  if (t.kind == kind::scalar || &t == &type_of<std::string>()) return true;
  if (t.kind == kind::maybe) return is_cheap_to_build(*t.element);
  return t.has_members() && std::ranges::all_of(t.members, [](const member& m) { return is_cheap_to_build(*m.type); });
}

bool has_column_part(const element_type& element, const element_type& t, std::size_t offset) {
  const element_type* at = &element;
  while (at != &t || offset != 0) {
    const std::size_t k = at->stacks_by_member() ? member_at(*at, offset) : at->members.size();
    if (k == at->members.size()) return false;
    offset -= at->members[k].offset;
    at = at->members[k].type;
  }
  return is_column_part(t);
}

const column& part_of_rows(const column& rows, const element_type& t, std::size_t offset) {
  const column* at = &rows;
  while (&at->type() != &t || offset != 0) {
    SLUICE_REQUIRES(at->form() == column_form::members, "the part has a column");
    const std::size_t k = member_at(at->type(), offset);
    offset -= at->type().members[k].offset;
    at = &at->child(k);
  }
  return *at;
}

void load_rows(const column& part, std::size_t first, selection s, void* out) {
  const element_type& t = part.type();
  if (t.kind == kind::text) return load_texts(part, first, s, static_cast<std::string_view*>(out));
  copy_values(t.size, part.values() + first * t.size, s, static_cast<char*>(out), t.size);
}

void load_optional_rows(const column& part, std::size_t first, selection s, void* values, bool* exist) {
  const column& items = part.child(0);
  load_rows(items, first, s, values);
  if (part.absent() == 0) return void(std::fill(exist, exist + s.n, true));
  const std::size_t bytes = register_bytes(items.type());
  for (std::uint32_t i = 0; i != s.n; ++i) {
    exist[i] = part.valid(first + s.element(i));
    if (!exist[i]) std::memset(static_cast<char*>(values) + i * bytes, 0, bytes);
  }
}

void copy_rows(const column& part, std::size_t first, selection s, char* to, std::size_t stride) {
  const element_type& t = part.type();
  if (t.kind == kind::scalar) return copy_values(t.size, part.values() + first * t.size, s, to, stride);
  if (part.form() == column_form::members && t.trivially_destroyed) {
    for (std::size_t k = 0; k != t.members.size(); ++k)
      copy_rows(part.child(k), first, s, to + t.members[k].offset, stride);
    return;
  }
  const bool is_made = with_optional_number(t, [&]<class T>(std::type_identity<T>) {
    const char* values = part.child(0).values();
    const bool all = part.absent() == 0;
    for (std::uint32_t i = 0; i != s.n; ++i) {
      const std::size_t row = first + s.element(i);
      T value;
      std::memcpy(&value, values + row * sizeof value, sizeof value);
      auto* place = ::new (static_cast<void*>(to + i * stride)) std::optional<T>(value);
      if (!all && !part.valid(row)) place->reset();
    }
  });
  if (!is_made) make_rows_of(part, first, s, to, stride);
}

const char* numbers_in_place(const column& part, std::size_t first) {
  if (part.type().kind == kind::scalar) return part.values() + first * part.type().size;
  if (part.form() == column_form::maybe && part.absent() == 0 && part.child(0).type().kind == kind::scalar)
    return part.child(0).values() + first * part.child(0).type().size;
  return nullptr;
}

}  // namespace sluice::lib::expressions
