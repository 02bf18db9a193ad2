// SPDX-License-Identifier: Apache-2.0
#include "arrow/import.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "arrow/import_values.hpp"
#include "sluice/element/dtype.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

namespace arrow {

status broken(const place& where, std::string_view what) {
  return data_loss_error(at(where, "the Arrow array is malformed: " + std::string(what)));
}

namespace {

/// Returns the number of buffers; of views, which may have more, the least.
std::int64_t buffers_of(std::string_view format) {
  switch (ipc_form_of(format).layout) {
    case ipc_layout::none:
    case ipc_layout::runs: return 0;
    case ipc_layout::members:
    case ipc_layout::fixed_lists: return 1;
    case ipc_layout::texts:
    case ipc_layout::list_views:
    case ipc_layout::views: return 3;
    default: return 2;
  }
}

}  // namespace

status check_node(const ArrowSchema& s, const ArrowArray& a, std::size_t rows, const place& where) {
  if (a.length < 0 || a.offset < 0 || a.length > kLengthMax || a.offset > kLengthMax)
    return broken(where, "its length is " + std::to_string(a.length) + ", its offset " + std::to_string(a.offset));
  if (rows > static_cast<std::size_t>(a.length))
    return broken(where, "it has " + std::to_string(a.length) + " values, " + std::to_string(rows) + " are needed");
  const bool may_have_more = ipc_form_of(ipc_format_of(s)).layout == ipc_layout::views;
  if (std::int64_t n = buffers_of(ipc_format_of(s)); a.n_buffers != n && !(may_have_more && a.n_buffers > n))
    return broken(where, "it has " + std::to_string(a.n_buffers) + " buffers instead of " + std::to_string(n));
  if (a.n_buffers != 0 && !a.buffers) return broken(where, "its table of buffers is null");
  if (a.n_children != s.n_children)
    return broken(
        where, "it has " + std::to_string(a.n_children) + " children, its schema has " + std::to_string(s.n_children));
  for (std::int64_t k = 0; k < a.n_children; ++k)
    if (!a.children || !a.children[k]) return broken(where, "a child is null");
  return {};
}

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

namespace {

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

/// Appends numbers of another width.
template <class To, class From> void append_wider(column& to, const values& from, const void* data) {
  std::array<To, kRowsAtATime> wide;
  for (std::size_t done = 0; done < from.n;) {
    const std::size_t rows = std::min(kRowsAtATime, from.n - done);
    for (std::size_t i = 0; i != rows; ++i) wide[i] = static_cast<To>(loaded<From>(data, from.begin() + done + i));
    to.append_values(wide.data(), rows);
    done += rows;
  }
}

status append_numbers(column& to, const values& from, const place& where) {
  const void* data = from.buffer(1);
  if (!data) return broken(where, "its values are null");
  if (!is_bool(to.type())) {
    const std::size_t size = to.type().size;
    if (ipc_format_of(from.s) == "e") append_wider<float, float16>(to, from, data);
    else if (size == 8 && ipc_form_of(ipc_format_of(from.s)).width == 4)
      append_wider<std::int64_t, std::int32_t>(to, from, data);  // dates and times
    else to.append_values(static_cast<const char*>(data) + from.begin() * size, from.n);
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

/// Appends fixed-size binary values.
status append_fixed_texts(column& to, const values& from, const place& where) {
  const std::int64_t width = ipc_form_of(ipc_format_of(from.s)).width;
  const auto* bytes = static_cast<const char*>(from.buffer(1));
  if (!bytes && width != 0) return broken(where, "its values are null");
  if (width > 0 && from.begin() + from.n > static_cast<std::size_t>(kLengthMax / width))
    return broken(where, "it is too long");
  const std::size_t step = std::clamp<std::size_t>(
      column::kOffsetMax / std::max<std::size_t>(static_cast<std::size_t>(width), 1), 1, kRowsAtATime);
  std::array<std::int32_t, kRowsAtATime + 1> relative;
  for (std::size_t done = 0; done < from.n;) {
    const std::size_t rows = std::min(step, from.n - done);
    for (std::size_t i = 0; i <= rows; ++i)
      relative[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * width);
    to.append_texts(bytes ? bytes + (from.begin() + done) * static_cast<std::size_t>(width) : nullptr, relative.data(),
                    rows);
    done += rows;
  }
  return {};
}

status append_texts(column& to, const values& from, const place& where) {
  if (ipc_form_of(ipc_format_of(from.s)).layout == ipc_layout::views) return append_views(to, from, where);
  if (ipc_format_of(from.s).starts_with("w:")) return append_fixed_texts(to, from, where);
  const void* offsets = from.buffer(1);
  const auto* bytes = static_cast<const char*>(from.buffer(2));
  if (!offsets) return broken(where, "its offsets are null");
  std::string_view format = ipc_format_of(from.s);
  offset_reader reader{offsets, format == "U" || format == "Z", -1};
  if (!bytes && reader[from.begin() + from.n] != reader[from.begin()]) return broken(where, "its bytes are null");
  return for_offsets(reader, from.begin(), from.n, where,
                     [&](std::size_t begin, const std::int32_t* relative, std::size_t n) {
                       to.append_texts(bytes ? bytes + begin : nullptr, relative, n);
                     });
}

status append_lists(column& to, const values& from, const place& where) {
  if (ipc_form_of(ipc_format_of(from.s)).layout == ipc_layout::list_views) return append_list_views(to, from, where);
  std::int64_t width = width_of(from.s);
  if (width < 0 && !from.buffer(1)) return broken(where, "its offsets are null");
  offset_reader reader{width < 0 ? from.buffer(1) : nullptr, ipc_format_of(from.s) == "+L", width};
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

/// Appends the rows of a column of the type arrow.fixed_shape_tensor.
status append_tensors(column& to, const values& from, const place& where) {
  const tensor_spec spec{*dtype_of_format(ipc_format_of(*from.s.children[0])), *ipc_tensor_shape(from.s)};
  const std::size_t each = spec.elements();
  const ArrowArray& items = *from.a.children[0];
  if (items.length < 0 || (each != 0 && from.begin() + from.n > static_cast<std::size_t>(items.length) / each))
    return broken(where, "its child has " + std::to_string(items.length) + " values");
  const values numbers{*from.s.children[0], items, from.begin() * each, from.n * each};
  if (status s = check_node(numbers.s, numbers.a, numbers.first + numbers.n, where); !s.ok()) return s;
  const std::size_t begin = numbers.begin(), end = begin + numbers.n, size = size_bytes(spec.dtype);
  if (numbers.buffer(0) && find_bit(numbers.buffer(0), begin, end, false) != end)
    return invalid_argument_error(at(where, "a tensor has a null among its numbers"));
  const char* data = static_cast<const char*>(numbers.buffer(1));
  if (!data && numbers.n != 0) return broken(where, "its values are null");
  for (std::size_t i = 0; i != from.n; ++i) {
    tensor row = tensor::make(spec.dtype, spec.shape);
    char* bytes = each == 0 ? nullptr : row.writable_data();
    const std::size_t first = begin + i * each;
    if (spec.dtype != dtype::boolean && each != 0) std::memcpy(bytes, data + first * size, each * size);
    for (std::size_t k = 0; spec.dtype == dtype::boolean && k != each; ++k) bytes[k] = bit(data, first + k) ? 1 : 0;
    to.append_tensor(row);
  }
  return {};
}

}  // namespace

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

namespace {

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
  if (ipc_format_of(from.s) == "n") return append_absent(to, from.n, where);
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

}  // namespace

status append_values(column& to, const values& from, bool nulls_settled, const place& where) {
  if (status s = check_node(from.s, from.a, from.first + from.n, where); !s.ok()) return s;
  if (from.n == 0) return {};
  if (from.a.n_buffers != 0 && !from.buffer(0) && from.a.null_count > 0)
    return broken(where, "it has nulls, but no validity");
  if (is_encoded(from.s)) return append_encoded(to, from, where);
  if (to.form() == column_form::maybe) return append_maybes(to, from, where);
  if (!nulls_settled && from.buffer(0)) {
    std::size_t end = from.begin() + from.n, null = find_bit(from.buffer(0), from.begin(), end, false);
    if (null != end)
      return invalid_argument_error(at(where, "value " + std::to_string(null - from.begin()) +
                                                  " is null, and the program has no optional there (" + to.type().name +
                                                  ")"));
  }
  if (to.form() == column_form::tensors) return append_tensors(to, from, where);
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

namespace {

/// Appends all values or none. REQUIRES: the schema was checked. `whole`: as for append_rows_within.
status append_checked(column& to, const values& from, const place& where, const element_type* whole = nullptr) {
  std::size_t before = to.rows();
  status why;
  try {
    why = whole ? append_some_members(to, *whole, from, where) : append_values(to, from, false, where);
  } catch (...) { why = current_exception_status(); }
  if (!why.ok()) to.truncate(before);
  return why;
}

}  // namespace

status append_within(column& to, const ArrowSchema& s, const ArrowArray& a, std::size_t n, std::size_t& room) {
  const place where{nullptr, field_name(&s), &room};
  if (status typed = check_schema(to.type(), s, where); !typed.ok()) return typed;
  return append_checked(to, {s, a, 0, n}, where);
}

status append_rows_within(batch_storage& to, const element_type& row, const ArrowSchema& s, const ArrowArray& a,
                          std::size_t* room, const element_type* whole) {
  auto n = static_cast<std::size_t>(std::clamp<std::int64_t>(a.length, 0, kLengthMax));
  try {
    if (status typed = check_arrow_rows(row, s); !typed.ok()) return typed;
    column& rows = to.make_rows(row);
    const place root{nullptr, {}, room};
    if (row.stacks_by_member()) return append_checked(rows, {s, a, 0, n}, root, whole);
    // The struct that contains the column has a length and an offset of its own, and might have nulls.
    if (status good = check_node(s, a, n, root); !good.ok()) return good;
    values all{s, a, 0, n};
    if (n != 0 && all.buffer(0) && find_bit(all.buffer(0), all.begin(), all.begin() + n, false) != all.begin() + n)
      return invalid_argument_error("the stream has rows that are null");
    std::int64_t k = value_column(s);
    const place where{nullptr, field_name(s.children[k]), room};
    return append_checked(rows, {*s.children[k], *a.children[k], all.begin(), n}, where);
  } catch (...) { return current_exception_status(); }
}

}  // namespace arrow

status append_arrow(column& to, const ArrowSchema& s, const ArrowArray& a, std::size_t first, std::size_t n) {
  arrow::place where{nullptr, arrow::field_name(&s)};
  if (status typed = arrow::check_schema(to.type(), s, where); !typed.ok()) return typed;
  if (first > static_cast<std::size_t>(arrow::kLengthMax) || n > static_cast<std::size_t>(arrow::kLengthMax))
    return invalid_argument_error(arrow::at(where, "there are no such rows"));
  return arrow::append_checked(to, {s, a, first, n}, where);
}

status append_arrow_rows(batch_storage& to, const element_type& row, const ArrowSchema& s, const ArrowArray& a) {
  return arrow::append_rows_within(to, row, s, a, nullptr);
}

}  // namespace sluice::lib
