// SPDX-License-Identifier: Apache-2.0
#include "arrow/row_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_set>
#include <vector>

#include "arrow/formats.hpp"
#include "arrow/ipc_formats.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/type_of.hpp"

namespace sluice::lib::arrow {

namespace {

constexpr int kTypeDepthMax = 64;
constexpr std::size_t kExtentMax = std::size_t{1} << 20;

/// A type that is not composed of other types, and its optional. Lists of both are registered too, for list_of.
struct plain_type {
  std::string_view name;
  std::string_view format;
  const element_type* type;
  const element_type* maybe;
};

template <class T> plain_type plain_of(std::string_view name, std::string_view format) {
  if constexpr (!std::is_same_v<T, bool>) type_of<std::vector<T>>();
  type_of<std::vector<std::optional<T>>>();
  return {name, format, &type_of<T>(), &type_of<std::optional<T>>()};
}

const std::array<plain_type, 13>& plain_types() {
  static const std::array<plain_type, 13> all = {
      plain_of<bool>("bool", "b"),
      plain_of<std::int8_t>("int8", "c"),
      plain_of<std::uint8_t>("uint8", "C"),
      plain_of<std::int16_t>("int16", "s"),
      plain_of<std::uint16_t>("uint16", "S"),
      plain_of<std::int32_t>("int32", "i"),
      plain_of<std::uint32_t>("uint32", "I"),
      plain_of<std::int64_t>("int64", "l"),
      plain_of<std::uint64_t>("uint64", "L"),
      plain_of<float>("float", "f"),
      plain_of<double>("double", "g"),
      plain_of<std::string>("string", "u"),
      plain_of<record>("bytes", "z"),
  };
  return all;
}

/// Returns a list of any type: a vector, or a batch if C++ has instantiated no such vector.
const element_type* list_type(const element_type* t) {
  const element_type* list = list_of(t);
  return list ? list : batched_of(t);
}

const element_type* maybe_type(const element_type* t) {
  for (auto& p : plain_types())
    if (p.type == t) return p.maybe;
  return t->kind == kind::maybe ? t : maybe_of(t);
}

/// Returns arrays of arrays with these lengths. A length of 0 has no array: such values are empty lists.
const element_type* tensor_type(const element_type* item, const std::vector<std::int64_t>& shape) {
  const auto zero = std::find(shape.begin(), shape.end(), 0);
  const element_type* t = zero == shape.end() ? item : list_type(item);
  for (auto at = zero; at != shape.begin();) t = array_of(t, static_cast<std::size_t>(*--at));
  return t;
}

class row_text_reader {
 public:
  explicit row_text_reader(std::string_view text) : text_(text) {}

  result<const element_type*> rows() {
    const element_type* t = is_field() ? fields(0, '\0') : type(0);
    if (t && at_ != text_.size()) t = refuse("expected a comma");
    if (!t) return invalid_argument_error(why_);
    return t;
  }

 private:
  void skip_space() {
    while (at_ != text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_space();
    return true;
  }
  std::string_view word(std::string_view end) {
    skip_space();
    auto stop = std::min(text_.find_first_of(end, at_), text_.size());
    std::string_view found = text_.substr(at_, stop - at_);
    at_ = stop;
    while (!found.empty() && (found.back() == ' ' || found.back() == '\n' || found.back() == '\t'))
      found.remove_suffix(1);
    return found;
  }
  bool is_field() const {
    auto stop = text_.find_first_of(",:{}()[]?");
    return stop != text_.npos && text_[stop] == ':';
  }
  const element_type* refuse(const std::string& what) {
    if (why_.empty())
      why_ = "the schema \"" + std::string(text_) + "\", at character " + std::to_string(at_ + 1) + ": " + what;
    return nullptr;
  }

  const element_type* fields(int depth, char end) {
    std::vector<member> members;
    std::unordered_set<std::string> names;
    do {
      std::string name(word(",:{}()[]?"));
      if (name.empty() || !take(':')) return refuse("expected a column, such as label: int64");
      if (!names.insert(name).second) return refuse("column " + name + " appears twice");
      const element_type* t = type(depth);
      if (!t) return nullptr;
      members.push_back({std::move(name), 0, t});
    } while (take(','));
    if (end && !take(end)) return refuse("expected a comma or }");
    return struct_of("row", std::move(members));
  }
  const element_type* type(int depth) {
    if (depth > kTypeDepthMax) return refuse("types within types, more than 64 deep");
    const element_type* t = base(depth + 1);
    while (t) {
      if (take('?')) t = maybe_type(t);
      else if (take('[')) t = items(t);
      else return t;
    }
    return nullptr;
  }
  const element_type* items(const element_type* t) {
    std::string_view digits = word("]");
    if (!take(']')) return refuse("expected ]");
    if (digits.empty()) return list_type(t);
    std::size_t extent = 0;
    auto read = std::from_chars(digits.data(), digits.data() + digits.size(), extent);
    const bool good = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    if (!good || extent == 0 || extent > kExtentMax) return refuse("expected [] or a number of values, such as [16]");
    return array_of(t, extent);
  }
  const element_type* base(int depth) {
    if (take('{')) return fields(depth, '}');
    if (take('(')) {
      std::vector<const element_type*> members;
      do members.push_back(type(depth));
      while (members.back() && take(','));
      if (!members.back()) return nullptr;
      if (!take(')')) return refuse("expected a comma or )");
      return members.size() == 2 ? pair_of(members[0], members[1]) : tuple_of(members);
    }
    std::string_view name = word(",:{}()[]?");
    for (auto& p : plain_types())
      if (p.name == name) return p.type;
    return refuse("no type is called \"" + std::string(name) +
                  "\"; there are bool, int8 … int64, uint8 … uint64, float, double, string, bytes, {…} and (…)");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string why_;
};

result<const element_type*> column_type(const ArrowSchema& s);

result<const element_type*> struct_type(const ArrowSchema& s) {
  std::vector<member> members;
  std::unordered_set<std::string> names;
  for (std::int64_t k = 0; k != s.n_children; ++k) {
    auto t = column_type(*s.children[k]);
    if (!t.ok()) return t.why();
    std::string name(ipc_name_of(*s.children[k]));
    if (!names.insert(name).second) return invalid_argument_error("two columns are called \"" + name + "\"");
    members.push_back({std::move(name), 0, *t});
  }
  if (members.empty()) return invalid_argument_error("the rows have no columns");
  return struct_of("row", std::move(members));
}

result<const element_type*> column_type(const ArrowSchema& s) {
  const std::string_view format = ipc_format_of(s);
  const bool is_nullable = (s.flags & ARROW_FLAG_NULLABLE) != 0;
  for (auto& p : plain_types())
    if (p.format == format || (p.format == "u" && format == "U") || (p.format == "z" && format == "Z"))
      return is_nullable ? p.maybe : p.type;
  if (format == "n") return &type_of<std::optional<std::int64_t>>();
  // A file of sluice is nullable where its columns are optional.
  auto settled = [&](const element_type* t) -> result<const element_type*> { return is_nullable ? maybe_type(t) : t; };
  if (format == "+s" && s.n_children != 0) {
    auto t = struct_type(s);
    return t.ok() ? settled(*t) : t;
  }
  const ipc_form form = ipc_form_of(format);
  const bool is_list = format == "+l" || format == "+L";
  const auto shape = is_list ? std::nullopt : ipc_tensor_shape(s);
  if (is_list || shape || (form.layout == ipc_layout::fixed_lists && form.width > 0)) {
    auto t = column_type(*s.children[0]);
    if (!t.ok()) return t.why();
    if (shape) return settled(tensor_type(*t, *shape));
    return settled(is_list ? list_type(*t) : array_of(*t, static_cast<std::size_t>(form.width)));
  }
  return invalid_argument_error("column \"" + std::string(ipc_name_of(s)) + "\" has the Arrow format \"" +
                                std::string(format) +
                                "\", which rows have no member for: cast it before it is written, or name the columns "
                                "that are wanted by schema=\"label: int64\"");
}

void append_row_text(const element_type& t, std::string& out) {
  switch (t.kind) {
    case kind::scalar: {
      const char* format = number_format(t);
      for (auto& p : plain_types())
        if (format && p.format == format) out += p.name;
      return;
    }
    case kind::text: out += becomes_utf8(t, {}) ? "string" : "bytes"; return;
    case kind::maybe:
      append_row_text(*t.element, out);
      out += '?';
      return;
    case kind::array:
      append_row_text(*t.element, out);
      out += '[' + std::to_string(t.extent) + ']';
      return;
    case kind::list:
    case kind::batch:
      append_row_text(*t.element, out);
      out += "[]";
      return;
    default: break;
  }
  const bool is_struct = t.kind == kind::structure;
  out += is_struct ? '{' : '(';
  for (std::size_t k = 0; k != t.members.size(); ++k) {
    if (k != 0) out += ", ";
    if (is_struct) out += t.members[k].name + ": ";
    append_row_text(*t.members[k].type, out);
  }
  out += is_struct ? '}' : ')';
}

}  // namespace

result<const element_type*> row_type_of(std::string_view text) { return row_text_reader(text).rows(); }

result<const element_type*> row_type_of(const ArrowSchema& s) {
  if (s.n_children == 1 && ipc_name_of(*s.children[0]) == kValueName) {
    auto value = column_type(*s.children[0]);
    if (!value.ok() || !(*value)->stacks_by_member()) return value;  // rows that are structures are not wrapped
  }
  return struct_type(s);
}

std::string row_text(const element_type& row) {
  std::string out;
  append_row_text(row, out);
  // The outermost braces of a structure have no meaning: schemas are written without them.
  return row.kind == kind::structure && out.size() > 2 ? out.substr(1, out.size() - 2) : out;
}

}  // namespace sluice::lib::arrow
