// SPDX-License-Identifier: Apache-2.0
// Which Arrow types fit which element types.
#include <string>
#include <string_view>

#include "arrow/import_values.hpp"
#include "sluice/arrow/columns.hpp"

namespace sluice::lib {

namespace arrow {

const element_type& innermost_of(const element_type& t, std::size_t& n) {
  const element_type* inner = &t;
  for (n = 1; inner->kind == kind::array; inner = inner->element) n *= inner->extent;
  return *inner;
}

/// Returns the column of a record batch that contains rows which are not structures; -1 if it has none or several.
std::int64_t value_column(const ArrowSchema& s) {
  std::int64_t found = -1;
  for (std::int64_t k = 0; k < s.n_children; ++k)
    if (has_child(s, k) && field_name(s.children[k]) == kValueName) found = found == -1 ? k : -2;
  if (found == -1 && s.n_children == 1) return 0;
  return std::max<std::int64_t>(found, -1);
}

namespace {

/// Indices of a dictionary may lead to runs, and runs to indices.
constexpr int kEncodingsMax = 8;

bool is_text_format(std::string_view format) {
  const ipc_layout layout = ipc_form_of(format).layout;
  return layout == ipc_layout::texts || layout == ipc_layout::views || format.starts_with("w:");
}

status unlike(const element_type& t, const ArrowSchema& s, const place& where) {
  std::string text = "the stream has " + format_words(ipc_format_of(s)) + ", the program has " + t.name;
  if (t.kind == kind::scalar) text += ": cast it first";
  return invalid_argument_error(at(where, text));
}

status check_members(const element_type& t, const ArrowSchema& s, const place& where) {
  if (ipc_format_of(s) != "+s") return unlike(t, s, where);
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

/// Checks the indices or the ends of runs, and the values behind them.
status check_encoded(const element_type& t, const ArrowSchema& s, const place& where) {
  constexpr std::string_view kIndices = "cCsSiIlL", kEnds = "sil";
  const ArrowSchema* at_level = &s;
  for (int depth = 0; is_encoded(*at_level); ++depth) {
    const bool has_runs = !at_level->dictionary;
    if (depth == kEncodingsMax) return invalid_argument_error(at(where, "the schema has dictionaries in dictionaries"));
    if (has_runs && (!has_child(*at_level, 0) || !has_child(*at_level, 1)))
      return invalid_argument_error(at(where, "the schema of runs has no children"));
    const std::string_view numbers = has_runs ? ipc_format_of(*at_level->children[0]) : ipc_format_of(*at_level);
    if (numbers.size() != 1 || (has_runs ? kEnds : kIndices).find(numbers[0]) == kEnds.npos)
      return invalid_argument_error(
          at(where, (has_runs ? "the ends of runs are " : "the indices are ") + format_words(numbers)));
    at_level = has_runs ? at_level->children[1] : at_level->dictionary;
  }
  return check_schema(t, *at_level, where);
}

/// Checks a column whose rows become tensors of one shape.
status check_tensor_column(const element_type& t, const ArrowSchema& s, const place& where) {
  const bool has_shape = has_child(s, 0) && is_flat(s) && ipc_tensor_shape(s);
  if (has_shape && dtype_of_format(ipc_format_of(*s.children[0]))) return {};
  return unlike(t, s, where);
}

}  // namespace

std::optional<dtype> dtype_of_format(std::string_view format) {
  constexpr std::pair<char, dtype> kNumbers[] = {{'b', dtype::boolean}, {'c', dtype::int8},    {'s', dtype::int16},
                                                 {'i', dtype::int32},   {'l', dtype::int64},   {'C', dtype::uint8},
                                                 {'S', dtype::uint16},  {'I', dtype::uint32},  {'L', dtype::uint64},
                                                 {'e', dtype::float16}, {'f', dtype::float32}, {'g', dtype::float64}};
  for (const auto& [letter, d] : kNumbers)
    if (format.size() == 1 && format[0] == letter) return d;
  return {};
}

const ArrowSchema& plain_schema(const ArrowSchema& s) {
  const ArrowSchema* plain = &s;
  for (int depth = 0; depth != kEncodingsMax && is_encoded(*plain); ++depth) {
    if (!plain->dictionary && !has_child(*plain, 1)) return *plain;
    plain = plain->dictionary ? plain->dictionary : plain->children[1];
  }
  return *plain;
}

status check_schema(const element_type& t, const ArrowSchema& s, const place& where) {
  if (is_encoded(s)) return check_encoded(t, s, where);
  std::string_view format = ipc_format_of(s);
  column_form form = form_of(t);
  if (form == column_form::maybe) {
    column_form inner = form_of(*t.element);
    if (inner == column_form::maybe || inner == column_form::objects)
      return invalid_argument_error(at(where, "Arrow has no form for " + t.name));
    return format == "n" ? status() : check_schema(*t.element, s, where);
  }
  if (form == column_form::tensors) return check_tensor_column(t, s, where);
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
    case column_form::values: return fits_number(t, format) ? status() : unlike(t, s, where);
    case column_form::texts: return is_text_format(format) ? status() : unlike(t, s, where);
    case column_form::lists: {
      const ipc_layout layout = ipc_form_of(format).layout;
      const bool is_list = layout == ipc_layout::lists || layout == ipc_layout::list_views || width_of(s) >= 0;
      return is_list ? check_items() : unlike(t, s, where);
    }
    case column_form::fixed:
      return width_of(s) == static_cast<std::int64_t>(t.extent) ? check_items() : unlike(t, s, where);
    case column_form::members: return check_members(t, s, where);
    default: return invalid_argument_error(at(where, "Arrow has no form for " + t.name));
  }
}

}  // namespace arrow

status check_arrow_type(const element_type& type, const ArrowSchema& s) {
  return arrow::check_schema(type, s, {nullptr, arrow::field_name(&s)});
}

status check_arrow_rows(const element_type& row, const ArrowSchema& s) {
  if (row.stacks_by_member()) return arrow::check_schema(row, s, {});
  if (arrow::ipc_format_of(s) != "+s")
    return invalid_argument_error("the stream has " + arrow::format_words(arrow::ipc_format_of(s)) +
                                  " instead of structs");
  std::int64_t k = arrow::value_column(s);
  if (k < 0)
    return invalid_argument_error("the stream has " + std::to_string(s.n_children) +
                                  " columns, and none is called \"value\": the program has rows of " + row.name);
  if (!arrow::has_child(s, k)) return invalid_argument_error("the schema's child is null");
  return arrow::check_schema(row, *s.children[k], {nullptr, arrow::field_name(s.children[k])});
}

}  // namespace sluice::lib
