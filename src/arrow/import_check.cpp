// SPDX-License-Identifier: Apache-2.0
// Checks the values of columns that are not built: the errors are those of building them (import.cpp).
#include "arrow/import.hpp"
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

bool is_plain_list(const ArrowSchema& s) {
  const std::string_view format = ipc_format_of(s);
  return (format == "+l" || format == "+L") && has_child(s, 0);
}

/// The offsets of the values of a range: of the first, and after the last.
struct offsets_found {
  std::int64_t begin = 0, end = 0;
};

/// Checks the offsets of texts or lists. Returns false if they fall, or are too far apart for a column.
bool find_usual_offsets(const values& from, bool is_wide, offsets_found& found) {
  const void* offsets = from.buffer(1);
  if (!offsets) return false;
  const offset_reader reader{offsets, is_wide, -1};
  const std::int64_t begin = reader[from.begin()];
  std::int64_t last = begin;
  bool rises = begin >= 0;
  for (std::size_t i = 1; i <= from.n; ++i) {
    const std::int64_t here = reader[from.begin() + i];
    rises &= here >= last;
    last = here;
  }
  found = {begin, last};
  return rises && last - begin <= static_cast<std::int64_t>(column::kOffsetMax);
}

bool has_usual_texts(const values& from) {
  const std::string_view format = ipc_format_of(from.s);
  offsets_found found;
  return find_usual_offsets(from, format == "U" || format == "Z", found) &&
         (from.buffer(2) || found.begin == found.end);
}

bool has_usual_lists(const element_type& t, const values& from, const place& where) {
  offsets_found found;
  if (from.a.n_children < 1 || !find_usual_offsets(from, ipc_format_of(from.s) == "+L", found)) return false;
  const ArrowArray& items = *from.a.children[0];
  if (found.end > items.length) return false;
  const values inner{*from.s.children[0], items, static_cast<std::size_t>(found.begin),
                     static_cast<std::size_t>(found.end - found.begin)};
  return check_values(*t.element, inner, false, {&where, "[]"}).ok();
}

/// Returns true if check_values() may be able to check the values in place.
bool is_in_plain_layout(const element_type& t, const ArrowSchema& s) {
  if (is_encoded(s) || is_flat(s) || ipc_format_of(s) == "n") return false;
  return t.kind == kind::scalar || t.kind == kind::text || (t.kind == kind::list && is_plain_list(s));
}

status check_present(const element_type& t, const values& from, const place& where) {
  if (t.kind == kind::scalar && from.buffer(1)) return {};
  if (t.kind == kind::text && is_plain_text(from.s) && has_usual_texts(from)) return {};
  if (t.kind == kind::list && has_usual_lists(t, from, where)) return {};
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
  if (!is_in_plain_layout(inner, from.s)) return check_by_appending(t, from, nulls_settled, where);
  if (status why = check_node(from.s, from.a, from.first + from.n, where); !why.ok()) return why;
  if (from.n == 0) return {};
  if (from.a.n_buffers != 0 && !from.buffer(0) && from.a.null_count > 0)
    return broken(where, "it has nulls, but no validity");
  if (is_maybe) return check_maybes(t, from, where);
  const bool has_null = !nulls_settled && from.buffer(0) &&
                        find_bit(from.buffer(0), from.begin(), from.begin() + from.n, false) != from.begin() + from.n;
  return has_null ? check_by_appending(t, from, false, where) : check_present(t, from, where);
}

bool needs_no_values(const element_type& t, const ArrowSchema& s) {
  const element_type& inner = t.kind == kind::maybe ? *t.element : t;
  if (!is_in_plain_layout(inner, s)) return false;
  if (inner.kind == kind::text) return is_plain_text(s);
  return inner.kind == kind::scalar || needs_no_values(*inner.element, *s.children[0]);
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
