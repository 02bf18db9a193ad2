// SPDX-License-Identifier: Apache-2.0
// Checks the values of columns that are not built: the errors are those of building them (import.cpp).
#include "arrow/import_values.hpp"
#include "sluice/element/batched.hpp"

namespace sluice::lib::arrow {

namespace {

/// Appends the values to a column that is dropped: for layouts whose values are not stored one after the other.
status check_by_appending(const element_type& t, const values& from, bool nulls_settled, const place& where) {
  batch_storage dropped;
  return append_values(dropped.make_rows(t), from, nulls_settled, where);
}

bool is_plain_text(const ArrowSchema& s) {
  const std::string_view format = ipc_format_of(s);
  return format == "u" || format == "z" || format == "U" || format == "Z";
}

/// Checks the offsets of texts. Returns false if they are not those of plain texts of a usual length.
bool has_usual_offsets(const values& from) {
  const void* offsets = from.buffer(1);
  if (!offsets) return false;
  const std::string_view format = ipc_format_of(from.s);
  const offset_reader reader{offsets, format == "U" || format == "Z", -1};
  const std::int64_t begin = reader[from.begin()];
  std::int64_t last = begin;
  bool rises = begin >= 0;
  for (std::size_t i = 1; i <= from.n; ++i) {
    const std::int64_t here = reader[from.begin() + i];
    rises &= here >= last;
    last = here;
  }
  return rises && (from.buffer(2) || last == begin) && last - begin <= static_cast<std::int64_t>(column::kOffsetMax);
}

status check_present(const element_type& t, const values& from, const place& where) {
  if (t.kind == kind::scalar && from.buffer(1)) return {};
  if (t.kind == kind::text && is_plain_text(from.s) && has_usual_offsets(from)) return {};
  return check_by_appending(t, from, true, where);
}

status check_maybes(const element_type& t, const values& from, const place& where) {
  const void* bits = from.buffer(0);
  const element_type& inner = *t.element;
  if (!bits || inner.kind == kind::scalar) return check_values(inner, from, true, where);
  const std::size_t begin = from.begin(), end = begin + from.n;
  for (std::size_t i = begin; i != end;) {
    const std::size_t valid = find_bit(bits, i, end, true), absent = find_bit(bits, valid, end, false);
    const values run{from.s, from.a, from.first + valid - begin, absent - valid};
    if (status why = check_values(inner, run, true, where); !why.ok()) return why;
    i = absent;
  }
  return {};
}

}  // namespace

status check_values(const element_type& t, const values& from, bool nulls_settled, const place& where) {
  const bool is_maybe = t.kind == kind::maybe;
  const element_type& inner = is_maybe ? *t.element : t;
  const bool is_plain = (inner.kind == kind::scalar || inner.kind == kind::text) && !is_encoded(from.s) &&
                        !is_flat(from.s) && ipc_format_of(from.s) != "n";
  if (!is_plain) return check_by_appending(t, from, nulls_settled, where);
  if (status why = check_node(from.s, from.a, from.first + from.n, where); !why.ok()) return why;
  if (from.n == 0) return {};
  if (from.a.n_buffers != 0 && !from.buffer(0) && from.a.null_count > 0)
    return broken(where, "it has nulls, but no validity");
  if (is_maybe) return check_maybes(t, from, where);
  const bool has_null = !nulls_settled && from.buffer(0) &&
                        find_bit(from.buffer(0), from.begin(), from.begin() + from.n, false) != from.begin() + from.n;
  return has_null ? check_by_appending(t, from, false, where) : check_present(t, from, where);
}

status append_some_members(column& to, const element_type& whole, const values& from, const place& where) {
  if (status why = check_node(from.s, from.a, from.first + from.n, where); !why.ok()) return why;
  if (from.n == 0) return {};
  const bool has_nulls =
      from.a.n_buffers != 0 &&
      (from.buffer(0) ? find_bit(from.buffer(0), from.begin(), from.begin() + from.n, false) != from.begin() + from.n
                      : from.a.null_count > 0);
  if (has_nulls || is_encoded(from.s)) return check_by_appending(whole, from, false, where);
  children_of children(whole, from.s);
  std::size_t built = 0;
  for (std::size_t k = 0; k != whole.members.size(); ++k) {
    const member& m = whole.members[k];
    const bool is_built = built != to.type().members.size() && to.type().members[built].name == m.name;
    const std::int64_t child = children.checked_child_for(k);
    const place here{&where, m.name};
    status why;
    if (child < 0) {
      batch_storage dropped;
      why = append_absent(is_built ? to.child(built) : dropped.make_rows(*m.type), from.n, here);
    } else {
      const values inner{*from.s.children[child], *from.a.children[child], from.begin(), from.n};
      why = is_built ? append_values(to.child(built), inner, false, here) : check_values(*m.type, inner, false, here);
    }
    if (!why.ok()) return why;
    built += is_built;
  }
  for (std::size_t i = 0; i != from.n; ++i) to.append_row();
  return {};
}

}  // namespace sluice::lib::arrow
