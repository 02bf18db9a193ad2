// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arrow/formats.hpp"
#include "arrow/ipc_formats.hpp"

namespace sluice::lib {

namespace arrow {
namespace {

/// Larger lengths and offsets cannot be true, and the sum of two smaller ones does not overflow.
constexpr std::int64_t kLengthMax = std::int64_t{1} << 61;
/// The number of rows whose offsets are checked and appended together.
constexpr std::size_t kRowsAtATime = 1024;

// --- Schemas ---

std::string_view format_of(const ArrowSchema& s) { return s.format ? s.format : ""; }
std::string_view name_of(const ArrowSchema* s) { return s && s->name ? s->name : ""; }

/// Returns "int64 (l)", for errors.
std::string described(std::string_view format) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 26> names = {{
      {"n", "null"},        {"b", "bool"},       {"c", "int8"},         {"C", "uint8"},       {"s", "int16"},
      {"S", "uint16"},      {"i", "int32"},      {"I", "uint32"},       {"l", "int64"},       {"L", "uint64"},
      {"e", "float16"},     {"f", "float32"},    {"g", "float64"},      {"z", "binary"},      {"Z", "large_binary"},
      {"u", "utf8"},        {"U", "large_utf8"}, {"vz", "binary_view"}, {"vu", "utf8_view"},  {"+l", "list"},
      {"+L", "large_list"}, {"+s", "struct"},    {"+m", "map"},         {"+vl", "list_view"}, {"tdD", "date32"},
      {"tdm", "date64"},
  }};
  for (auto& [known, name] : names)
    if (known == format) return std::string(name);
  return "the format \"" + std::string(format) + "\"";
}

status unlike(const element_type& t, const ArrowSchema& s, const place& where) {
  std::string text = "the stream has " + described(format_of(s)) + ", the program has " + t.name;
  if (format_of(s) == "vu" || format_of(s) == "vz" || t.kind == kind::scalar) text += ": cast it first";
  return invalid_argument_error(at(where, text));
}

/// Returns N for the format "+w:N"; -1 for another format.
std::int64_t width_of(const ArrowSchema& s) {
  const ipc_form form = ipc_form_of(ipc_format_of(s));
  return form.layout == ipc_layout::fixed_lists ? form.width : -1;
}

/// Returns true for a fixed-size list with the values of tensors, which may have any number of dimensions.
bool is_flat(const ArrowSchema& s) { return width_of(s) >= 0 && s.n_children == 1 && width_of(*s.children[0]) < 0; }

/// Returns the elements of arrays of arrays. `n`: their number in one value.
const element_type& innermost_of(const element_type& t, std::size_t& n) {
  const element_type* inner = &t;
  for (n = 1; inner->kind == kind::array; inner = inner->element) n *= inner->extent;
  return *inner;
}

bool has_child(const ArrowSchema& s, std::int64_t k) { return k < s.n_children && s.children && s.children[k]; }

/// Maps the members of a type to the children of a struct. The children for a structure are found by name.
class children_of {
 public:
  children_of(const element_type& t, const ArrowSchema& s) : t_(t), s_(s) {}

  /// Returns -1 if no child matches; -2 if two children have the member's name.
  std::int64_t child_for(std::size_t k) {
    if (t_.kind != kind::structure) return static_cast<std::int64_t>(k);
    if (children_.empty())
      for (std::int64_t i = 0; i < s_.n_children; ++i) {
        if (!has_child(s_, i)) continue;
        const auto [at, is_new] = children_.try_emplace(name_of(s_.children[i]), i);
        if (!is_new) at->second = -2;
      }
    const auto found = children_.find(t_.members[k].name);
    return found == children_.end() ? -1 : found->second;
  }
  /// The same for a schema that check_schema has accepted. Most children have the position of their member.
  std::int64_t checked_child_for(std::size_t k) {
    const auto i = static_cast<std::int64_t>(k);
    const bool is_in_place = i < s_.n_children && has_child(s_, i) && name_of(s_.children[i]) == t_.members[k].name;
    return is_in_place ? i : child_for(k);
  }

 private:
  const element_type& t_;
  const ArrowSchema& s_;
  std::unordered_map<std::string_view, std::int64_t> children_{};
};

status check_schema(const element_type& t, const ArrowSchema& s, const place& where);

status check_members(const element_type& t, const ArrowSchema& s, const place& where) {
  if (format_of(s) != "+s") return unlike(t, s, where);
  if (t.kind != kind::structure && s.n_children != static_cast<std::int64_t>(t.members.size()))
    return invalid_argument_error(at(
        where, "the stream has a struct of " + std::to_string(s.n_children) + " columns, the program has " + t.name));
  children_of children(t, s);
  for (std::size_t k = 0; k != t.members.size(); ++k) {
    const member& m = t.members[k];
    place here{&where, m.name};
    std::int64_t child = children.child_for(k);
    if (child == -2) return invalid_argument_error(at(here, "the stream has two of this name"));
    if (child == -1 && m.type->kind == kind::maybe) continue;
    if (child == -1)
      return invalid_argument_error(
          at(here, "the stream has no such column, and the member (" + m.type->name + ") is not optional"));
    if (!has_child(s, child)) return invalid_argument_error(at(here, "the schema's child is null"));
    if (status made = check_schema(*m.type, *s.children[child], here); !made.ok()) return made;
  }
  return {};
}

status check_schema(const element_type& t, const ArrowSchema& s, const place& where) {
  if (s.dictionary)
    return invalid_argument_error(at(where, "the stream has dictionary-encoded values: decode them first"));
  std::string_view format = format_of(s);
  column_form form = form_of(t);
  if (form == column_form::maybe) {
    column_form inner = form_of(*t.element);
    if (inner == column_form::maybe || inner == column_form::objects)
      return invalid_argument_error(at(where, "Arrow has no form for " + t.name));
    return format == "n" ? status() : check_schema(*t.element, s, where);
  }
  // A tensor without dimensions is a list of one value, an empty one a list of none.
  if (t.kind != kind::array && is_flat(s) && width_of(s) == 1 && ipc_tensor_shape(s))
    return check_schema(t, *s.children[0], where);
  if (form == column_form::fixed && has_child(s, 0) && is_flat(s) && ipc_tensor_shape(s)) {
    std::size_t n = 0;
    const element_type& inner = innermost_of(t, n);
    const bool is_empty = inner.kind == kind::list || inner.kind == kind::batch;
    if (width_of(s) != static_cast<std::int64_t>(is_empty ? 0 : n)) return unlike(t, s, where);
    return check_schema(is_empty ? *inner.element : inner, *s.children[0], {&where, "[]"});
  }
  auto check_items = [&] {
    if (!has_child(s, 0)) return invalid_argument_error(at(where, "the schema of a list has no child"));
    return check_schema(*t.element, *s.children[0], {&where, "[]"});
  };
  switch (form) {
    case column_form::values: {
      const char* ours = number_format(t);
      return ours && format == ours ? status() : unlike(t, s, where);
    }
    case column_form::texts:
      return format == "u" || format == "z" || format == "U" || format == "Z" ? status() : unlike(t, s, where);
    case column_form::lists:
      return format == "+l" || format == "+L" || width_of(s) >= 0 ? check_items() : unlike(t, s, where);
    case column_form::fixed:
      return width_of(s) == static_cast<std::int64_t>(t.extent) ? check_items() : unlike(t, s, where);
    case column_form::members: return check_members(t, s, where);
    default: return invalid_argument_error(at(where, "Arrow has no form for " + t.name));
  }
}

// --- Arrays ---

status broken(const place& where, std::string_view what) {
  return data_loss_error(at(where, "the Arrow array is malformed: " + std::string(what)));
}

std::int64_t buffers_of(std::string_view format) {
  if (format == "n") return 0;
  if (format == "+s" || format.starts_with("+w:")) return 1;
  return format == "u" || format == "z" || format == "U" || format == "Z" ? 3 : 2;
}

/// Checks that all data needed to read the first `rows` values exists. `rows` does not count the offset.
status check_node(const ArrowSchema& s, const ArrowArray& a, std::size_t rows, const place& where) {
  if (a.length < 0 || a.offset < 0 || a.length > kLengthMax || a.offset > kLengthMax)
    return broken(where, "its length is " + std::to_string(a.length) + ", its offset " + std::to_string(a.offset));
  if (rows > static_cast<std::size_t>(a.length))
    return broken(where, "it has " + std::to_string(a.length) + " values, " + std::to_string(rows) + " are needed");
  if (std::int64_t n = buffers_of(format_of(s)); a.n_buffers != n)
    return broken(where, "it has " + std::to_string(a.n_buffers) + " buffers instead of " + std::to_string(n));
  if (a.n_buffers != 0 && !a.buffers) return broken(where, "its table of buffers is null");
  if (a.n_children != s.n_children)
    return broken(
        where, "it has " + std::to_string(a.n_children) + " children, its schema has " + std::to_string(s.n_children));
  for (std::int64_t k = 0; k < a.n_children; ++k)
    if (!a.children || !a.children[k]) return broken(where, "a child is null");
  return {};
}

bool bit(const void* bits, std::size_t i) {
  return (static_cast<const std::uint8_t*>(bits)[i / 8] >> (i % 8) & 1) != 0;
}

/// Returns the first value from `first` on whose bit is `set`; `end` if no value has it.
std::size_t find_bit(const void* bits, std::size_t first, std::size_t end, bool set) {
  const auto* bytes = static_cast<const std::uint8_t*>(bits);
  const std::uint8_t passed = set ? 0 : 0xFF;
  while (first != end) {
    if (first % 8 == 0 && end - first >= 8 && bytes[first / 8] == passed) {
      first += 8;
      continue;
    }
    if (bit(bits, first) == set) return first;
    ++first;
  }
  return end;
}

template <class T> T loaded(const void* p, std::size_t i) {
  T v;
  std::memcpy(&v, static_cast<const char*>(p) + i * sizeof(T), sizeof(T));  // foreign memory need not be aligned
  return v;
}

/// Reads the offsets of a column of texts or lists: 32 or 64 bits, or multiples of a width.
struct offset_reader {
  const void* at;
  bool is_wide;
  std::int64_t width;  ///< -1: `at` points to offsets

  std::int64_t operator[](std::size_t i) const {
    if (width >= 0) return width * static_cast<std::int64_t>(i);
    return is_wide ? loaded<std::int64_t>(at, i) : loaded<std::int32_t>(at, i);
  }
};

/// Calls append(begin, relative, n) for the values [first, first + n): offset i is begin + relative[i].
template <class F>
status for_offsets(const offset_reader& offsets, std::size_t first, std::size_t n, const place& where, F append) {
  std::array<std::int32_t, kRowsAtATime + 1> relative;
  for (std::size_t done = 0; done < n;) {
    std::size_t rows = std::min(kRowsAtATime, n - done);
    std::int64_t begin = offsets[first + done], last = begin;
    if (begin < 0) return broken(where, "an offset is negative");
    for (std::size_t i = 0; i <= rows; ++i) {
      std::int64_t here = offsets[first + done + i];
      if (here < last) return broken(where, "offset " + std::to_string(done + i) + " is less than the one before");
      if (here - begin > static_cast<std::int64_t>(column::kOffsetMax))
        return element_limit_error(at(where, "a column has more than 2^31 - 1 bytes or elements"));
      relative[i] = static_cast<std::int32_t>(here - begin);
      last = here;
    }
    append(static_cast<std::size_t>(begin), relative.data(), rows);
    done += rows;
  }
  return {};
}

/// A range of values of an array; `first` does not count the array's offset.
struct values {
  const ArrowSchema& s;
  const ArrowArray& a;
  std::size_t first;
  std::size_t n;

  std::size_t begin() const { return static_cast<std::size_t>(a.offset) + first; }
  const void* buffer(std::size_t k) const { return a.buffers[k]; }
};

/// `nulls_settled`: the caller has checked the validity.
status append_values(column& to, const values& from, bool nulls_settled, const place& where);

status append_numbers(column& to, const values& from, const place& where) {
  const void* data = from.buffer(1);
  if (!data) return broken(where, "its values are null");
  if (!is_bool(to.type())) {
    to.append_values(static_cast<const char*>(data) + from.begin() * to.type().size, from.n);
    return {};
  }
  std::array<char, kRowsAtATime> bytes;
  for (std::size_t done = 0; done < from.n;) {
    std::size_t rows = std::min(kRowsAtATime, from.n - done);
    for (std::size_t i = 0; i != rows; ++i) bytes[i] = bit(data, from.begin() + done + i) ? 1 : 0;
    to.append_values(bytes.data(), rows);
    done += rows;
  }
  return {};
}

status append_texts(column& to, const values& from, const place& where) {
  const void* offsets = from.buffer(1);
  const auto* bytes = static_cast<const char*>(from.buffer(2));
  if (!offsets) return broken(where, "its offsets are null");
  std::string_view format = format_of(from.s);
  offset_reader reader{offsets, format == "U" || format == "Z", -1};
  if (!bytes && reader[from.begin() + from.n] != reader[from.begin()]) return broken(where, "its bytes are null");
  return for_offsets(reader, from.begin(), from.n, where,
                     [&](std::size_t begin, const std::int32_t* relative, std::size_t n) {
                       to.append_texts(bytes ? bytes + begin : nullptr, relative, n);
                     });
}

status append_lists(column& to, const values& from, const place& where) {
  std::int64_t width = width_of(from.s);
  if (width < 0 && !from.buffer(1)) return broken(where, "its offsets are null");
  offset_reader reader{width < 0 ? from.buffer(1) : nullptr, format_of(from.s) == "+L", width};
  const ArrowArray& items = *from.a.children[0];
  if (width > 0 && from.begin() + from.n > static_cast<std::size_t>(kLengthMax / width))
    return broken(where, "it is too long");
  std::int64_t begin = reader[from.begin()], end = reader[from.begin() + from.n];
  if (begin < 0 || end < begin || end > items.length)
    return broken(where, "offsets from " + std::to_string(begin) + " to " + std::to_string(end) + " leave its " +
                             std::to_string(items.length) + " elements");
  if (to.child(0).rows() + static_cast<std::size_t>(end - begin) > column::kOffsetMax)
    return element_limit_error(at(where, "a column has more than 2^31 - 1 bytes or elements"));
  values inner{*from.s.children[0], items, static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)};
  if (status s = append_values(to.child(0), inner, false, {&where, "[]"}); !s.ok()) return s;
  return for_offsets(reader, from.begin(), from.n, where,
                     [&](std::size_t, const std::int32_t* relative, std::size_t n) { to.append_lists(relative, n); });
}

/// Appends the values of tensors to arrays of arrays.
status append_flat(column& to, const values& from, const place& where) {
  std::size_t each = 0;
  innermost_of(to.type(), each);
  const bool is_empty = width_of(from.s) == 0;
  const ArrowArray& items = *from.a.children[0];
  column* inner = &to;
  while (inner->form() == column_form::fixed) inner = &inner->child(0);
  if (is_empty) {
    const std::array<std::int32_t, 2> none{};
    for (std::size_t i = 0; i != from.n * each; ++i) inner->append_lists(none.data(), 1);
  } else {
    if (items.length < 0 || from.begin() + from.n > static_cast<std::size_t>(items.length) / each)
      return broken(where, "its child has " + std::to_string(items.length) + " values");
    values numbers{*from.s.children[0], items, from.begin() * each, from.n * each};
    if (status s = append_values(*inner, numbers, false, {&where, "[]"}); !s.ok()) return s;
  }
  // The rows of the inner arrays come before those of the arrays around them.
  std::vector<column*> levels;
  for (column* c = &to; c->form() == column_form::fixed; c = &c->child(0)) levels.push_back(c);
  std::size_t rows = from.n * each;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    rows /= (*level)->type().extent;
    for (std::size_t i = 0; i != rows; ++i) (*level)->append_row();
  }
  return {};
}

status append_fixed(column& to, const values& from, const place& where) {
  if (is_flat(from.s) && ipc_tensor_shape(from.s)) return append_flat(to, from, where);
  std::size_t each = to.type().extent;
  const ArrowArray& items = *from.a.children[0];
  if (items.length < 0 || (each != 0 && from.begin() + from.n > static_cast<std::size_t>(items.length) / each))
    return broken(where, "its child has " + std::to_string(items.length) + " values");
  values inner{*from.s.children[0], items, from.begin() * each, from.n * each};
  if (status s = append_values(to.child(0), inner, false, {&where, "[]"}); !s.ok()) return s;
  for (std::size_t i = 0; i != from.n; ++i) to.append_row();
  return {};
}

/// Appends rows for which the stream has no bytes, or at least none of this column.
status append_absent(column& to, std::size_t n, const place& where) {
  constexpr std::size_t kAbsentBytesMax = std::size_t{1} << 30;
  if (n > kAbsentBytesMax / std::max<std::size_t>(to.type().size, 1))
    return element_limit_error(at(where, std::to_string(n) + " rows without a value would take more than 1 GiB"));
  to.child(0).append_empty(n);
  static constexpr std::array<std::uint8_t, 128> none = {};
  for (std::size_t done = 0; done < n;) {
    std::size_t rows = std::min(none.size() * 8, n - done);
    to.append_valid_bits(none.data(), 0, rows);
    done += rows;
  }
  return {};
}

status append_members(column& to, const values& from, const place& where) {
  const element_type& t = to.type();
  children_of children(t, from.s);
  for (std::size_t k = 0; k != t.members.size(); ++k) {
    std::int64_t child = children.checked_child_for(k);
    if (child < 0) {
      if (status s = append_absent(to.child(k), from.n, {&where, t.members[k].name}); !s.ok()) return s;
      continue;
    }
    values inner{*from.s.children[child], *from.a.children[child], from.begin(), from.n};
    if (status s = append_values(to.child(k), inner, false, {&where, t.members[k].name}); !s.ok()) return s;
  }
  for (std::size_t i = 0; i != from.n; ++i) to.append_row();
  return {};
}

/// Values within an absent value may be anything, also null if the program's type is not optional: they are not
/// checked.
status append_maybes(column& to, const values& from, const place& where) {
  if (format_of(from.s) == "n") return append_absent(to, from.n, where);
  const void* bits = from.buffer(0);
  column& inner = to.child(0);
  std::size_t begin = from.begin(), end = begin + from.n;
  if (!bits || inner.form() == column_form::values) {
    std::size_t before = inner.rows(), size = inner.type().size;
    if (status s = append_values(inner, from, true, where); !s.ok()) return s;
    for (std::size_t i = begin; bits && (i = find_bit(bits, i, end, false)) != end; ++i)
      std::memset(inner.values() + (before + i - begin) * size, 0, size);
  } else {
    for (std::size_t i = begin; i != end;) {
      std::size_t absent_until = find_bit(bits, i, end, true);
      inner.append_empty(absent_until - i);
      std::size_t valid_until = find_bit(bits, absent_until, end, false);
      values run{from.s, from.a, from.first + absent_until - begin, valid_until - absent_until};
      if (status s = append_values(inner, run, true, where); !s.ok()) return s;
      i = valid_until;
    }
  }
  to.append_valid_bits(static_cast<const std::uint8_t*>(bits), begin, from.n);
  return {};
}

status append_values(column& to, const values& from, bool nulls_settled, const place& where) {
  if (status s = check_node(from.s, from.a, from.first + from.n, where); !s.ok()) return s;
  if (from.n == 0) return {};
  if (from.a.n_buffers != 0 && !from.buffer(0) && from.a.null_count > 0)
    return broken(where, "it has nulls, but no validity");
  if (to.form() == column_form::maybe) return append_maybes(to, from, where);
  if (!nulls_settled && from.buffer(0)) {
    std::size_t end = from.begin() + from.n, null = find_bit(from.buffer(0), from.begin(), end, false);
    if (null != end)
      return invalid_argument_error(at(where, "value " + std::to_string(null - from.begin()) +
                                                  " is null, and the program has no optional there (" + to.type().name +
                                                  ")"));
  }
  if (to.type().kind != kind::array && is_flat(from.s) && width_of(from.s) == 1 && ipc_tensor_shape(from.s))
    return append_values(to, {*from.s.children[0], *from.a.children[0], from.begin(), from.n}, false, where);
  switch (to.form()) {
    case column_form::values: return append_numbers(to, from, where);
    case column_form::texts: return append_texts(to, from, where);
    case column_form::lists: return append_lists(to, from, where);
    case column_form::fixed: return append_fixed(to, from, where);
    default: return append_members(to, from, where);
  }
}

/// Appends all values or none. REQUIRES: the schema was checked.
status append_checked(column& to, const values& from, const place& where) {
  std::size_t before = to.rows();
  status why;
  try {
    why = append_values(to, from, false, where);
  } catch (...) { why = current_exception_status(); }
  if (!why.ok()) to.truncate(before);
  return why;
}

/// Returns the column of a record batch that contains rows which are not structures; -1 if it has none or several.
std::int64_t value_column(const ArrowSchema& s) {
  std::int64_t found = -1;
  for (std::int64_t k = 0; k < s.n_children; ++k)
    if (has_child(s, k) && name_of(s.children[k]) == kValueName) found = found == -1 ? k : -2;
  if (found == -1 && s.n_children == 1) return 0;
  return std::max<std::int64_t>(found, -1);
}

}  // namespace
}  // namespace arrow

status check_arrow_type(const element_type& type, const ArrowSchema& s) {
  return arrow::check_schema(type, s, {nullptr, arrow::name_of(&s)});
}

status append_arrow(column& to, const ArrowSchema& s, const ArrowArray& a, std::size_t first, std::size_t n) {
  arrow::place where{nullptr, arrow::name_of(&s)};
  if (status typed = arrow::check_schema(to.type(), s, where); !typed.ok()) return typed;
  if (first > static_cast<std::size_t>(arrow::kLengthMax) || n > static_cast<std::size_t>(arrow::kLengthMax))
    return invalid_argument_error(arrow::at(where, "there are no such rows"));
  return arrow::append_checked(to, {s, a, first, n}, where);
}

status check_arrow_rows(const element_type& row, const ArrowSchema& s) {
  if (row.stacks_by_member()) return arrow::check_schema(row, s, {});
  if (arrow::format_of(s) != "+s")
    return invalid_argument_error("the stream has " + arrow::described(arrow::format_of(s)) + " instead of structs");
  std::int64_t k = arrow::value_column(s);
  if (k < 0)
    return invalid_argument_error("the stream has " + std::to_string(s.n_children) +
                                  " columns, and none is called \"value\": the program has rows of " + row.name);
  if (!arrow::has_child(s, k)) return invalid_argument_error("the schema's child is null");
  return arrow::check_schema(row, *s.children[k], {nullptr, arrow::name_of(s.children[k])});
}

status append_arrow_rows(batch_storage& to, const element_type& row, const ArrowSchema& s, const ArrowArray& a) {
  auto n = static_cast<std::size_t>(std::clamp<std::int64_t>(a.length, 0, arrow::kLengthMax));
  try {
    if (status typed = check_arrow_rows(row, s); !typed.ok()) return typed;
    column& rows = to.make_rows(row);
    if (row.stacks_by_member()) return arrow::append_checked(rows, {s, a, 0, n}, {});
    // The struct that contains the column has a length and an offset of its own, and might have nulls.
    if (status good = arrow::check_node(s, a, n, {}); !good.ok()) return good;
    arrow::values all{s, a, 0, n};
    if (n != 0 && all.buffer(0) &&
        arrow::find_bit(all.buffer(0), all.begin(), all.begin() + n, false) != all.begin() + n)
      return invalid_argument_error("the stream has rows that are null");
    std::int64_t k = arrow::value_column(s);
    arrow::place where{nullptr, arrow::name_of(s.children[k])};
    return arrow::append_checked(rows, {*s.children[k], *a.children[k], all.begin(), n}, where);
  } catch (...) { return current_exception_status(); }
}

}  // namespace sluice::lib
