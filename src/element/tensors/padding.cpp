// SPDX-License-Identifier: Apache-2.0
#include "element/tensors/padding.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/text/read_number.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {
namespace {

template <class T> bool number_bytes(const std::string& spelled, std::string& bytes) {
  T v{};
  if constexpr (std::is_same_v<T, bool>) {
    if (spelled != "0" && spelled != "1") return false;
    v = spelled == "1";
  } else if constexpr (std::is_integral_v<T>) {
    if (read_digits(spelled, v) != number_text::read) return false;
  } else {
    std::conditional_t<std::is_same_v<T, double>, double, float> nearest{};
    if (read_real(spelled, nearest) != number_text::read) return false;
    v = static_cast<T>(nearest);
  }
  bytes.assign(reinterpret_cast<const char*>(&v), sizeof v);
  return true;
}

bool number_bytes_of(dtype d, const std::string& spelled, std::string& bytes) {
  switch (d) {
    case dtype::boolean: return number_bytes<bool>(spelled, bytes);
    case dtype::int8: return number_bytes<std::int8_t>(spelled, bytes);
    case dtype::int16: return number_bytes<std::int16_t>(spelled, bytes);
    case dtype::int32: return number_bytes<std::int32_t>(spelled, bytes);
    case dtype::int64: return number_bytes<std::int64_t>(spelled, bytes);
    case dtype::uint8: return number_bytes<std::uint8_t>(spelled, bytes);
    case dtype::uint16: return number_bytes<std::uint16_t>(spelled, bytes);
    case dtype::uint32: return number_bytes<std::uint32_t>(spelled, bytes);
    case dtype::uint64: return number_bytes<std::uint64_t>(spelled, bytes);
    case dtype::float16: return number_bytes<float16>(spelled, bytes);
    case dtype::bfloat16: return number_bytes<bfloat16>(spelled, bytes);
    case dtype::float32: return number_bytes<float>(spelled, bytes);
    case dtype::float64: return number_bytes<double>(spelled, bytes);
    case dtype::string: break;
  }
  return false;
}

const element_type* leaf_of(const element_type& list) {
  const element_type* t = &list;
  while (t->kind == kind::list) t = t->element;
  return t;
}

void find_members(const element_type& t, const std::string& path, std::size_t offset, std::vector<padded_member>& all) {
  const bool is_list = t.kind == kind::list && dtype_of(*leaf_of(t)).has_value();
  if (is_list || t.kind == kind::tensor) {
    padded_member m;
    m.path = path.empty() ? "it" : path;
    m.type = &t;
    m.offset = offset;
    if (is_list && leaf_of(t)->kind == kind::text) m.is_text = true, m.spelled.clear();
    if (is_list) m.value.set(*dtype_of(*leaf_of(t)), m.spelled, m.is_text);
    all.push_back(std::move(m));
  } else if (t.stacks_by_member()) {
    for (auto& m : t.members)
      find_members(*m.type, path.empty() ? m.name : path + "." + m.name, offset + m.offset, all);
  }
}

std::string shape_of(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (std::int64_t d : dims) text += (text.size() == 1 ? "" : ",") + (d < 0 ? std::string("?") : std::to_string(d));
  return text + "]";
}

// --- Tensors ---

/// Copies the row-major box of `from` into the corner of `to`, which has at least its length in each dimension.
void copy_box(const char* from, std::span<const std::int64_t> from_dims, char* to,
              std::span<const std::int64_t> to_dims, std::size_t item) {
  if (from_dims.empty()) return void(std::memcpy(to, from, item));
  std::size_t from_step = item, to_step = item;
  for (std::size_t k = 1; k < from_dims.size(); ++k) {
    from_step *= static_cast<std::size_t>(from_dims[k]);
    to_step *= static_cast<std::size_t>(to_dims[k]);
  }
  const auto n = static_cast<std::size_t>(from_dims[0]);
  if (from_step == to_step) {
    if (n != 0 && from_step != 0) std::memcpy(to, from, n * from_step);
    return;
  }
  for (std::size_t i = 0; i != n; ++i)
    copy_box(from + i * from_step, from_dims.subspan(1), to + i * to_step, to_dims.subspan(1), item);
}
void copy_box(const tensor& from, std::size_t& next, std::span<const std::int64_t> from_dims,
              std::vector<std::string_view>& to, std::size_t at, std::span<const std::int64_t> to_dims) {
  if (from_dims.empty()) {
    to[at] = from.text(next++);
    return;
  }
  std::size_t to_step = 1;
  for (std::size_t k = 1; k < to_dims.size(); ++k) to_step *= static_cast<std::size_t>(to_dims[k]);
  for (std::int64_t i = 0; i != from_dims[0]; ++i)
    copy_box(from, next, from_dims.subspan(1), to, at + static_cast<std::size_t>(i) * to_step, to_dims.subspan(1));
}

tensor padded(const tensor& t, const tensor_shape& shape, const padding_value& fill) {
  if (t.dtype() == dtype::string) {
    std::vector<std::string_view> texts(tensor_spec{dtype::string, shape}.elements(), std::string_view(fill.bytes));
    std::size_t next = 0;
    if (!t.empty()) copy_box(t, next, t.shape(), texts, 0, shape.dims());
    return tensor::of(std::span<const std::string_view>(texts), shape);
  }
  tensor made = tensor::make(t.dtype(), shape);
  const std::size_t bytes = made.size_bytes(), item = fill.bytes.size();
  if (bytes == 0) return made;
  char* to = made.writable_data();
  if (std::all_of(fill.bytes.begin(), fill.bytes.end(), [&](char c) { return c == fill.bytes[0]; }))
    std::memset(to, fill.bytes[0], bytes);
  else
    for (std::size_t i = 0; i != bytes; i += item) std::memcpy(to + i, fill.bytes.data(), item);
  if (!t.empty()) copy_box(t.data(), t.shape(), to, made.shape(), item);
  return made;
}

/// Computes the common shape of a member in a batch. Errors: as of pad_tensors.
status common_shape(const padded_member& m, char* rows, std::size_t row_bytes, std::size_t n, tensor_shape& shape,
                    std::size_t& which) {
  std::vector<std::int64_t> dims;
  const tensor* first = nullptr;
  for (std::size_t i = 0; i != n; ++i) {
    auto& t = *std::launder(reinterpret_cast<const tensor*>(rows + i * row_bytes + m.offset));
    which = i;
    if (!first) {
      first = &t;
      dims.assign(t.shape().begin(), t.shape().end());
      if (!m.dims.empty() && m.dims.size() != dims.size())
        return invalid_argument_error(m.path + " is " + t.spec_text() + ", and shapes says " + shape_of(m.dims));
      for (std::size_t k = 0; k != m.dims.size(); ++k)
        if (m.dims[k] >= 0) dims[k] = m.dims[k];
    }
    if (t.dtype() != first->dtype() || t.rank() != first->rank())
      return invalid_argument_error(m.path + " is " + t.spec_text() + ", and that of the batch's first element " +
                                    first->spec_text());
    for (std::size_t k = 0; k != dims.size(); ++k) {
      if (t.shape()[k] <= dims[k]) continue;
      if (!m.dims.empty() && m.dims[k] >= 0)
        return invalid_argument_error(m.path + " is " + t.spec_text() +
                                      ", longer than shapes says: " + shape_of(m.dims));
      dims[k] = t.shape()[k];
    }
  }
  shape = tensor_shape(std::span<const std::int64_t>(dims));
  return {};
}

status pad_member(const padded_member& m, char* rows, std::size_t row_bytes, std::size_t n, std::size_t& which) {
  tensor_shape shape;
  status why = common_shape(m, rows, row_bytes, n, shape, which);
  if (!why.ok()) return why;
  padding_value fill;
  for (std::size_t i = 0; i != n; ++i) {
    auto& t = *std::launder(reinterpret_cast<tensor*>(rows + i * row_bytes + m.offset));
    if (std::ranges::equal(t.shape(), shape.dims())) continue;
    which = i;
    if (fill.bytes.empty()) {
      const bool is_text = t.dtype() == dtype::string;
      const std::string spelled = m.is_given ? m.spelled : is_text ? std::string() : std::string("0");
      if (!fill.set(t.dtype(), spelled, m.is_given ? m.is_text : is_text))
        return invalid_argument_error(m.path + " is " + t.spec_text() + ", and its padding " + spelled +
                                      " is not a value of that type");
    }
    tensor_spec{t.dtype(), shape}.check();
    t = padded(t, shape, fill);
  }
  return {};
}

// --- Lists ---

/// Returns the row of `c` that contains item `at` of the last of `lists`. Each list is a child of the one before, and
/// the first is `c`.
std::size_t row_of(const std::vector<const column*>& lists, std::size_t at) {
  for (auto l = lists.rbegin(); l != lists.rend(); ++l) {
    const std::int32_t* o = (*l)->offsets();
    at = static_cast<std::size_t>(std::upper_bound(o, o + (*l)->rows() + 1, static_cast<std::int32_t>(at)) - o) - 1;
  }
  return at - lists.front()->gone_in_front();
}

status longer_than_said(const padded_member& m, std::size_t longest) {
  return invalid_argument_error(m.path + " has " + std::to_string(longest) +
                                " items, more than shapes says: " + shape_of(m.dims));
}

/// Computes the lengths of a member's padded lists by their depth. Errors: as of pad_lists.
status measure(const padded_member& m, const column& c, std::vector<std::int64_t>& dims, std::size_t& which) {
  std::size_t first = c.gone_in_front(), n = c.rows() - first;
  std::vector<const column*> above;
  for (const column* lists = &c; lists->form() == column_form::lists; lists = &lists->child(0)) {
    const std::int32_t* offsets = lists->offsets() + first;
    std::size_t at = 0;
    for (std::size_t i = 0; i != n; ++i)
      if (offsets[i + 1] - offsets[i] > offsets[at + 1] - offsets[at]) at = i;
    const std::int64_t longest = n == 0 ? 0 : offsets[at + 1] - offsets[at];
    const std::int64_t said = m.dims.empty() ? -1 : m.dims[above.size()];
    if (said >= 0 && longest > said) {
      which = above.empty() ? at : row_of(above, first + at);
      return longer_than_said(m, static_cast<std::size_t>(longest));
    }
    dims.push_back(said >= 0 ? said : longest);
    const auto begin = static_cast<std::size_t>(offsets[0]);
    n = static_cast<std::size_t>(offsets[n]) - begin;
    first = begin;
    above.push_back(lists);
  }
  return {};
}

/// Fills memory with a number.
class number_filler {
 public:
  explicit number_filler(const padding_value& fill) {
    if (fill.dtype == dtype::string) return;
    is_zero_ = fill.bytes.find_first_not_of('\0') == std::string::npos;
    for (std::size_t i = 0; i != kNumbers; ++i) numbers_ += fill.bytes;
  }
  void operator()(char* to, std::size_t bytes) const {
    if (is_zero_) {
      if (bytes) std::memset(to, 0, bytes);
      return;
    }
    for (std::size_t some = 0; bytes; bytes -= some, to += some) {
      some = std::min(bytes, numbers_.size());
      std::memcpy(to, numbers_.data(), some);
    }
  }
  /// The capacity in numbers.
  static constexpr std::size_t kNumbers = 64;
  const char* numbers() const { return numbers_.data(); }

 private:
  std::string numbers_;
  bool is_zero_ = false;
};

/// Appends the padded lists of one member.
class list_padder {
 public:
  list_padder(const padding_value& fill, std::vector<std::int64_t> dims)
      : fill_(fill), dims_(std::move(dims)), fill_numbers_(fill) {}
  void put(const column& from, std::size_t first, std::size_t n, column& to, std::size_t depth = 0) {
    if (depth == dims_.size()) {
      if (n == 0) return;
      if (fill_.dtype != dtype::string) to.append_values(from.values() + first * from.type().size, n);
      else to.append_texts(from.bytes(), from.offsets() + first, n);
      return;
    }
    const std::int32_t* offsets = from.offsets() + first;
    if (depth + 1 == dims_.size() && fill_.dtype != dtype::string) return put_numbers(from, offsets, n, to);
    for (std::size_t i = 0; i != n; ++i) {
      const auto begin = static_cast<std::size_t>(offsets[i]), size = static_cast<std::size_t>(offsets[i + 1]) - begin;
      put(from.child(0), begin, size, to.child(0), depth + 1);
      fill(to.child(0), static_cast<std::size_t>(dims_[depth]) - size, depth + 1);
      to.append_list();
    }
  }

 private:
  /// Appends lists of numbers, whose memory is allocated at once.
  void put_numbers(const column& from, const std::int32_t* offsets, std::size_t n, column& to) {
    const auto dim = static_cast<std::size_t>(dims_.back());
    const std::size_t item = from.child(0).type().size, list_bytes = dim * item;
    const char* values = from.child(0).values();
    char* at = to.child(0).append_values(n * dim);
    for (std::size_t i = 0; i != n; ++i, at += list_bytes) {
      const std::size_t bytes = static_cast<std::size_t>(offsets[i + 1] - offsets[i]) * item;
      if (bytes) std::memcpy(at, values + static_cast<std::size_t>(offsets[i]) * item, bytes);
      fill_numbers_(at + bytes, list_bytes - bytes);
    }
    to.append_lists_of(n, dim);
  }

  void fill(column& to, std::size_t n, std::size_t depth) {
    if (depth != dims_.size()) {
      for (; n; --n) {
        fill(to.child(0), static_cast<std::size_t>(dims_[depth]), depth + 1);
        to.append_list();
      }
    } else if (fill_.dtype == dtype::string) {
      for (; n; --n) to.append_text(fill_.bytes);
    } else {
      for (std::size_t some = 0; n; n -= some) {
        some = std::min(n, number_filler::kNumbers);
        to.append_values(fill_numbers_.numbers(), some);
      }
    }
  }

  const padding_value& fill_;
  std::vector<std::int64_t> dims_;
  number_filler fill_numbers_;
};

/// Copies the rows of `from` to `to`. `members` are in the order of find_members.
status copy_padded(column& from, column& to, const std::vector<padded_member>& members, std::size_t& next,
                   std::size_t& which) {
  const std::size_t first = from.gone_in_front(), n = from.rows() - first;
  if (next != members.size() && members[next].type == &from.type()) {
    const padded_member& m = members[next++];
    if (m.is_tensor()) {
      to.append_from(from, first, n);
      return {};
    }
    std::vector<std::int64_t> dims;
    status why = measure(m, from, dims, which);
    if (!why.ok()) return why;
    to.reserve(n);
    list_padder(m.value, std::move(dims)).put(from, first, n, to);
    return {};
  }
  if (!from.type().stacks_by_member()) {
    to.append_from(from, first, n);
    return {};
  }
  for (std::size_t k = 0; k != from.children(); ++k) {
    status why = copy_padded(from.child(k), to.child(k), members, next, which);
    if (!why.ok()) return why;
  }
  to.reserve(n);
  for (std::size_t i = 0; i != n; ++i) to.append_row();
  return {};
}

std::size_t padded_bytes_of(const column& c, const std::vector<padded_member>& members, std::size_t& next) {
  if (next != members.size() && members[next].type == &c.type()) {
    const padded_member& m = members[next++];
    std::size_t ignored = 0;
    std::vector<std::int64_t> dims;
    if (m.is_tensor() || !measure(m, c, dims, ignored).ok()) return c.memory_bytes();
    double items = static_cast<double>(c.rows());
    for (std::int64_t d : dims) items *= static_cast<double>(d);
    const double bytes = items * static_cast<double>(std::max<std::size_t>(m.value.bytes.size(), 4));
    const double most = static_cast<double>(std::numeric_limits<std::size_t>::max() / 16);
    return c.memory_bytes() + static_cast<std::size_t>(std::min(bytes, most));
  }
  if (!c.type().stacks_by_member()) return c.memory_bytes();
  std::size_t all = 0;
  for (std::size_t k = 0; k != c.children(); ++k) all += padded_bytes_of(c.child(k), members, next);
  return all;
}

}  // namespace

bool padding_value::set(lib::dtype d, const std::string& spelled, bool is_text) {
  dtype = d;
  if (is_text != (d == dtype::string)) return false;
  if (!is_text) return number_bytes_of(d, spelled, bytes);
  bytes = spelled;
  return true;
}

std::size_t padded_member::rank() const {
  std::size_t depth = 0;
  for (const element_type* t = type; t->kind == kind::list; t = t->element) ++depth;
  return depth;
}

std::vector<padded_member> padded_members(const element_type& row) {
  std::vector<padded_member> all;
  find_members(row, "", 0, all);
  return all;
}

status pad_tensors(const std::vector<padded_member>& members, char* rows, std::size_t row_bytes, std::size_t n,
                   std::size_t& which) try {
  for (auto& m : members) {
    if (!m.is_tensor()) continue;
    status why = pad_member(m, rows, row_bytes, n, which);
    if (!why.ok()) return why;
  }
  return {};
} catch (const error& e) { return e.why(); }

std::size_t padded_tensor_bytes(const std::vector<padded_member>& members, char* rows, std::size_t row_bytes,
                                std::size_t n) try {
  std::size_t all = 0, which = 0;
  for (auto& m : members) {
    tensor_spec spec;
    if (!m.is_tensor() || !common_shape(m, rows, row_bytes, n, spec.shape, which).ok()) continue;
    std::size_t changed = 0;
    for (std::size_t i = 0; i != n; ++i) {
      auto& t = *std::launder(reinterpret_cast<const tensor*>(rows + i * row_bytes + m.offset));
      spec.dtype = t.dtype();
      changed += !std::ranges::equal(t.shape(), spec.shape.dims());
    }
    spec.check();
    std::size_t each = spec.bytes(), those = 0;
    if (spec.dtype == dtype::string) each += spec.elements() * sizeof(std::string_view);
    if (__builtin_mul_overflow(each, changed, &those) || __builtin_add_overflow(all, those, &all))
      return ~std::size_t{0};
  }
  return all;
} catch (const error&) { return 0; }

status pad_lists(const std::vector<padded_member>& members, const element_type& row, batch_storage& b,
                 std::size_t& which) try {
  const bool has_lists = std::any_of(members.begin(), members.end(), [](auto& m) { return !m.is_tensor(); });
  if (!has_lists || b.empty()) return {};
  batch_storage made;
  std::size_t next = 0;
  status why = copy_padded(b.rows_column(), made.make_rows(row), members, next, which);
  // Objects were moved out of `b` even if a later member cannot be padded.
  b = why.ok() ? std::move(made) : batch_storage();
  return why;
} catch (const error& e) {
  b = batch_storage();
  return e.why();
}

bool are_number_lists(const std::vector<padded_member>& members, const element_type& row) {
  return members.size() == 1 && members[0].type == &row && form_of(row) == column_form::lists &&
         form_of(*row.element) == column_form::values;
}

status padded_length(const padded_member& m, const void* lists, std::size_t n, std::size_t& length,
                     std::size_t& which) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i != n; ++i) {
    std::size_t size = 0;
    m.type->items(*m.type, static_cast<const char*>(lists) + i * m.type->size, size);
    if (size <= longest) continue;
    longest = size;
    which = i;
  }
  const std::int64_t said = m.dims.empty() ? -1 : m.dims[0];
  length = said >= 0 ? static_cast<std::size_t>(said) : longest;
  return longest <= length ? status() : longer_than_said(m, longest);
}

status append_padded(const padded_member& m, const void* lists, std::size_t n, std::size_t length,
                     batch_storage& to) try {
  column& rows = to.make_rows(*m.type);
  rows.reserve(n);
  const number_filler fill(m.value);
  const std::size_t item = m.type->element->size, list_bytes = length * item;
  char* at = rows.child(0).append_values(n * length);
  for (std::size_t i = 0; i != n; ++i, at += list_bytes) {
    std::size_t size = 0;
    const void* items = m.type->items(*m.type, static_cast<const char*>(lists) + i * m.type->size, size);
    if (size) std::memcpy(at, items, size * item);
    fill(at + size * item, list_bytes - size * item);
  }
  rows.append_lists_of(n, length);
  return {};
} catch (const error& e) { return e.why(); }

std::size_t padded_bytes(const std::vector<padded_member>& members, const batch_storage& b) {
  std::size_t next = 0;
  return b.has_column() ? padded_bytes_of(b.rows_column(), members, next) : 0;
}

}  // namespace sluice::lib
