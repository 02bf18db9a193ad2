// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/spec.hpp"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "element/element_ref.hpp"
#include "element/path.hpp"
#include "element/scalars.hpp"
#include "element/spec_parts.hpp"

namespace sluice::lib {

namespace {

using detail::element_ref;
using detail::path;
using form = spec::form_type;

/// A length in the spec of an element without items: of a list without items, or an optional without a value. It is
/// compatible with any length.
constexpr std::int64_t kNoItems = -2;

// --- Specs of types and elements ---

spec leaf(std::string dtype) {
  spec s;
  s.dtype = std::move(dtype);
  return s;
}

std::string dtype_of_number(const element_type& t) {
  const element_type& number = detail::number_of(t);
  if (&number == &type_of<float>()) return "float32";
  if (&number == &type_of<double>()) return "float64";
  return number.name;
}

/// Returns the spec of a type without parts that are elements: its dtype and shape. `p`: null for the spec of all
/// elements of the type.
spec spec_of_leaf(const element_type& t, const tensor* p) {
  switch (t.kind) {
    case kind::tensor: {
      spec s = leaf("any");
      s.any_shape = true;
      if (!p) return s;
      s = leaf(std::string(name_of(p->dtype())));
      s.shape.assign(p->shape().begin(), p->shape().end());
      return s;
    }
    case kind::scalar: return leaf(dtype_of_number(t));
    case kind::text: return leaf("string");
    default: return leaf(t.name);
  }
}

bool has_columns(const spec& s) {
  return (s.form == form::structure || s.form == form::tuple) && s.shape.empty() && !s.any_shape && !s.parts.empty();
}
/// Adds an outermost dimension to a spec. A batch is the structure of its columns.
void add_dimension(spec& s, std::int64_t length, bool by_column) {
  if (by_column && has_columns(s))
    for (auto& part : s.parts) add_dimension(part, length, false);
  else if (!s.any_shape) s.shape.insert(s.shape.begin(), length);
}

template <class F> spec spec_of_members(const element_type& t, F part) {
  spec s;
  s.form = t.kind == kind::structure ? form::structure : form::tuple;
  for (std::size_t k = 0; k != t.members.size(); ++k) {
    if (s.form == form::structure) s.names.push_back(t.members[k].name);
    s.parts.push_back(part(k));
  }
  return s;
}

/// `unknown`: kUnknown or kNoItems.
spec spec_of_type(const element_type& t, std::int64_t unknown) {
  switch (t.kind) {
    case kind::array:
    case kind::list:
    case kind::batch: {
      spec s = spec_of_type(*t.element, unknown);
      add_dimension(s, t.kind == kind::array ? static_cast<std::int64_t>(t.extent) : unknown, t.kind == kind::batch);
      return s;
    }
    case kind::maybe: {
      spec s;
      s.form = form::optional;
      s.parts.push_back(spec_of_type(*t.element, unknown));
      return s;
    }
    case kind::structure:
    case kind::pair:
    case kind::tuple:
      return spec_of_members(t, [&](std::size_t k) { return spec_of_type(*t.members[k].type, unknown); });
    default: return spec_of_leaf(t, nullptr);
  }
}

/// Returns true if all elements of a type have the type's spec.
bool is_fixed(const element_type& t) {
  switch (t.kind) {
    case kind::scalar:
    case kind::text: return true;
    case kind::array: return is_fixed(*t.element);
    case kind::structure:
    case kind::pair:
    case kind::tuple:
      return std::all_of(t.members.begin(), t.members.end(), [](const member& m) { return is_fixed(*m.type); });
    default: return false;
  }
}

/// The treatment of leaves with different dtypes, as tensors of one element type may have.
enum class unlike : std::uint8_t { refused, any };
void merge_into(spec& a, const spec& b, const path& at, unlike dtypes);

spec spec_of_items(const detail::item_refs& items);

spec spec_of_ref(element_ref e) {
  const element_type& t = e.type();
  switch (t.kind) {
    case kind::array:
    case kind::list:
    case kind::batch: {
      auto items = e.items();
      spec s = spec_of_items(items);
      add_dimension(s, static_cast<std::int64_t>(items.size()), t.kind == kind::batch);
      return s;
    }
    case kind::maybe: {
      spec s;
      s.form = form::optional;
      s.parts.push_back(spec_of_items(e.items()));
      return s;
    }
    case kind::structure:
    case kind::pair:
    case kind::tuple: return spec_of_members(t, [&](std::size_t k) { return spec_of_ref(e.member(k)); });
    case kind::tensor: {
      tensor x = e.tensor();
      return spec_of_leaf(t, &x);
    }
    default: return spec_of_leaf(t, nullptr);
  }
}

spec spec_of_items(const detail::item_refs& items) {
  if (items.size() == 0 || is_fixed(items.type())) return spec_of_type(items.type(), kNoItems);
  spec s = spec_of_ref(items[0]);
  for (std::size_t i = 1; i != items.size(); ++i) merge_into(s, spec_of_ref(items[i]), {}, unlike::any);
  return s;
}

/// Replaces lengths without items by unknown ones, for users.
void show(spec& s) {
  for (auto& n : s.shape)
    if (n == kNoItems) n = spec::kUnknown;
  for (auto& part : s.parts) show(part);
}

// --- Text ---

void append_text(const spec& s, std::string& out) {
  auto join = [&](std::string_view open, auto name, std::string_view close) {
    out += open;
    for (std::size_t k = 0; k != s.parts.size(); ++k) {
      if (k != 0) out += ", ";
      name(k);
      append_text(s.parts[k], out);
    }
    out += close;
  };
  switch (s.form) {
    case form::leaf: detail::append_name(s.dtype, out); break;
    case form::structure:
      join("{", [&](std::size_t k) { detail::append_name(s.names[k], out), out += ": "; }, "}");
      break;
    case form::tuple: join(s.parts.size() > 1 ? "(" : "tuple(", [](std::size_t) {}, ")"); break;
    case form::optional:
      append_text(s.parts[0], out);
      out += '?';
      break;
  }
  if (s.any_shape) out += "[...]";
  if (s.shape.empty()) return;
  for (std::size_t k = 0; k != s.shape.size(); ++k)
    absl::StrAppend(&out, k == 0 ? "[" : ",", s.shape[k] < 0 ? "?" : std::to_string(s.shape[k]));
  out += ']';
}

// --- Relations ---

enum class relation { compatible, holds };

bool lengths_fit(std::int64_t a, std::int64_t b, relation r) {
  if (a == b || a == spec::kUnknown || a == kNoItems || b == kNoItems) return true;
  return r == relation::compatible && b == spec::kUnknown;
}

bool shapes_fit(const spec& a, const spec& b, relation r) {
  if (a.any_shape) return true;
  if (b.any_shape) return r == relation::compatible;
  if (a.shape.size() != b.shape.size()) return false;
  for (std::size_t k = 0; k != a.shape.size(); ++k)
    if (!lengths_fit(a.shape[k], b.shape[k], r)) return false;
  return true;
}

bool dtypes_fit(const std::string& a, const std::string& b, relation r) {
  return a == b || a == "any" || (r == relation::compatible && b == "any");
}

[[noreturn]] void refuse(const path& at, const spec& expected, const spec& got) {
  throw error(invalid_argument_error(absl::StrCat(at.prefix(), "expected ", expected.text(), ", got ", got.text())));
}

path part_path(const path& at, const spec& s, std::size_t k) {
  if (s.form == form::structure) return at.member(s.names[k]);
  return s.form == form::tuple ? at.item(k) : at;
}

/// Throws if the specs are not in this relation.
void compare(const spec& a, const spec& b, relation r, const path& at) {
  bool same = a.form == b.form && a.names == b.names && a.parts.size() == b.parts.size();
  if (!same || !shapes_fit(a, b, r) || (a.form == form::leaf && !dtypes_fit(a.dtype, b.dtype, r))) refuse(at, a, b);
  for (std::size_t k = 0; k != a.parts.size(); ++k) {
    // An optional's part is at the path of the optional, which may itself be the root.
    if (a.form == form::optional) compare(a.parts[k], b.parts[k], r, at);
    else compare(a.parts[k], b.parts[k], r, part_path(at, a, k));
  }
}

status compared(const spec& a, const spec& b, relation r) {
  try {
    compare(a, b, r, {});
    return {};
  } catch (const error& e) { return e.why(); }
}

void merge_into(spec& a, const spec& b, const path& at, unlike dtypes) {
  const bool are_unlike = a.form == form::leaf && a.dtype != b.dtype;
  const bool is_refused = are_unlike && dtypes == unlike::refused && a.dtype != "any" && b.dtype != "any";
  if (a.form != b.form || a.names != b.names || a.parts.size() != b.parts.size() || is_refused)
    throw error(invalid_argument_error(absl::StrCat(at.prefix(), "no spec holds both ", a.text(), " and ", b.text())));
  if (are_unlike) a.dtype = "any";
  if (a.any_shape || b.any_shape || a.shape.size() != b.shape.size()) {
    a.any_shape = true;
    a.shape.clear();
  }
  for (std::size_t k = 0; k != a.shape.size(); ++k) {
    if (a.shape[k] == kNoItems) a.shape[k] = b.shape[k];
    else if (b.shape[k] != kNoItems && a.shape[k] != b.shape[k]) a.shape[k] = spec::kUnknown;
  }
  for (std::size_t k = 0; k != a.parts.size(); ++k) {
    if (a.form == form::optional) merge_into(a.parts[k], b.parts[k], at, dtypes);
    else merge_into(a.parts[k], b.parts[k], part_path(at, a, k), dtypes);
  }
}

// --- Reading ---

class spec_reader {
 public:
  explicit spec_reader(std::string_view text) : in_(text, "the spec") {}
  spec read() {
    auto s = one(0);
    if (!in_.done()) in_.fail_expecting("the end");
    return s;
  }

 private:
  spec one(std::size_t depth) {
    if (depth == kSpecDepthMax) fail_deep();
    spec s = base(depth);
    bool shaped = false;
    for (std::size_t optionals = depth;;) {
      std::size_t at = in_.place();
      if (in_.take('?')) {
        if (++optionals == kSpecDepthMax) fail_deep();
        spec outer;
        outer.form = form::optional;
        outer.parts.push_back(std::move(s));
        s = std::move(outer);
        shaped = false;
      } else if (in_.take('[')) {
        if (shaped) in_.fail_at(at, "a second shape: write all dimensions in one, the slowest first");
        shape(s);
        shaped = true;
      } else {
        return s;
      }
    }
  }
  [[noreturn]] void fail_deep() { in_.fail(absl::StrCat("specs within specs, more than ", kSpecDepthMax, " deep")); }

  void shape(spec& s) {
    if (in_.take(']')) return;
    if (in_.take("...")) {
      s.any_shape = true;
      return in_.expect(']');
    }
    do {
      if (s.shape.size() == kSpecRankMax) in_.fail(absl::StrCat("more than ", kSpecRankMax, " dimensions"));
      s.shape.push_back(in_.take('?') ? spec::kUnknown : static_cast<std::int64_t>(in_.number(INT64_MAX / 16)));
    } while (in_.take(','));
    in_.expect(']');
  }

  spec base(std::size_t depth) {
    spec s;
    in_.skip_spaces();
    std::size_t at = in_.place();
    if (in_.take('{')) {
      s.form = form::structure;
      if (in_.take('}')) return s;
      absl::flat_hash_set<std::string> names;
      do {
        in_.skip_spaces();
        std::size_t name_at = in_.place();
        auto name = in_.name("the name of a member");
        if (!names.insert(name).second) in_.fail_at(name_at, absl::StrCat("a second member ", name));
        s.names.push_back(std::move(name));
        in_.expect(':');
        s.parts.push_back(one(depth + 1));
      } while (in_.take(','));
      in_.expect('}');
      return s;
    }
    if (in_.take('(')) {
      tuple(s, depth);
      if (s.parts.size() == 1) in_.fail_at(at, "one spec in parentheses: a tuple of one is tuple(T)");
      return s;
    }
    bool quoted = in_.at('"');
    s.dtype = in_.name("a spec");
    if (!quoted && s.dtype == "tuple" && in_.take('(')) {
      s.dtype.clear();
      tuple(s, depth);
      return s;
    }
    if (s.dtype == "float") s.dtype = "float32";
    if (s.dtype == "double") s.dtype = "float64";
    return s;
  }

  void tuple(spec& s, std::size_t depth) {
    s.form = form::tuple;
    if (in_.take(')')) return;
    do s.parts.push_back(one(depth + 1));
    while (in_.take(','));
    in_.expect(')');
  }

  detail::text_scanner in_;
};

}  // namespace

std::string spec::text() const {
  std::string out;
  append_text(*this, out);
  return out;
}

result<spec> spec_from_text(std::string_view text) {
  if (text.size() > kSpecTextBytesMax)
    return invalid_argument_error(absl::StrCat("the spec has ", text.size(), " bytes, more than the ",
                                               kSpecTextBytesMax, " that a spec may have"));
  try {
    return spec_reader(text).read();
  } catch (const error& e) { return e.why(); }
}

spec spec_of(const element_type& t) { return spec_of_type(t, spec::kUnknown); }

spec spec_of(const element_type& t, const void* p) {
  spec s = spec_of_ref({t, p});
  show(s);
  return s;
}

spec spec_of(const value& v) {
  if (!v.has_value()) throw error(invalid_argument_error("there is no value that could have a spec"));
  return spec_of(v.type(), v.data());
}

spec spec_of_batch(spec row, std::int64_t length) {
  add_dimension(row, length, true);
  return row;
}
spec spec_of_list(spec item, std::int64_t length) {
  add_dimension(item, length, false);
  return item;
}
std::int64_t length_of_batch(const spec& batch) {
  const spec& column = has_columns(batch) && !batch.parts.empty() ? batch.parts[0] : batch;
  return column.shape.empty() ? spec::kUnknown : column.shape.front();
}
spec spec_of_row(spec batch) {
  auto without_first = [](spec& s) {
    if (!s.shape.empty()) s.shape.erase(s.shape.begin());
  };
  if (has_columns(batch)) std::for_each(batch.parts.begin(), batch.parts.end(), without_first);
  else without_first(batch);
  return batch;
}

result<spec> merge(const spec& a, const spec& b) {
  try {
    spec merged = a;
    merge_into(merged, b, {}, unlike::refused);
    return merged;
  } catch (const error& e) { return e.why(); }
}

status check_compatible(const spec& expected, const spec& got) { return compared(expected, got, relation::compatible); }
bool is_compatible(const spec& a, const spec& b) { return check_compatible(a, b).ok(); }
bool holds(const spec& general, const spec& special) { return compared(general, special, relation::holds).ok(); }

status check(const spec& expected, const element_type& t, const void* p) {
  return compared(expected, spec_of_ref({t, p}), relation::holds);
}
status check(const spec& expected, const value& v) {
  if (!v.has_value()) return invalid_argument_error(absl::StrCat("expected ", expected.text(), ", got no value"));
  return check(expected, v.type(), v.data());
}

}  // namespace sluice::lib
