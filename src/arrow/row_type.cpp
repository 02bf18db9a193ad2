// SPDX-License-Identifier: Apache-2.0
#include "arrow/row_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_set>
#include <vector>

#include "arrow/formats.hpp"
#include "arrow/import_values.hpp"
#include "arrow/ipc_formats.hpp"
#include "element/temporal.hpp"
#include "element/text/scan_text.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/type_of.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib::arrow {

namespace {

constexpr int kTypeDepthMax = 64;

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

/// Returns an array; null if a value would take more than kTypeBytesMax.
const element_type* array_type(const element_type* t, std::uint64_t extent) {
  if (extent == 0 || extent > kTypeBytesMax / std::max<std::size_t>(t->size, 1)) return nullptr;
  return array_of(t, static_cast<std::size_t>(extent));
}

/// Returns arrays of arrays with these lengths; null as above. A length of 0 has no array: such values are empty lists.
const element_type* tensor_type(const element_type* item, const std::vector<std::int64_t>& shape) {
  const auto zero = std::find(shape.begin(), shape.end(), 0);
  const element_type* t = zero == shape.end() ? item : list_type(item);
  for (auto at = zero; t && at != shape.begin();) t = array_type(t, static_cast<std::uint64_t>(*--at));
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
  /// Reads the name of a column: a word, or a text in double quotes or backticks.
  std::string name() {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '`')) return std::string(word(",:{}()[]?"));
    try {
      detail::text_scanner in(text_, "the schema");
      in.go_to(at_);
      std::string quoted = in.name("a column");
      at_ = in.place();
      return quoted;
    } catch (const error& e) {
      refuse(std::string(e.why().message()));
      return {};
    }
  }
  bool is_field() const {
    const std::size_t first = text_.find_first_not_of(" \n\t");
    if (first != text_.npos && (text_[first] == '"' || text_[first] == '`')) return true;
    auto stop = text_.find_first_of(",:{}()[]?");
    return stop != text_.npos && text_[stop] == ':';
  }
  const element_type* refuse(const std::string& what) {
    if (why_.empty())
      why_ = "the schema \"" + std::string(text_) + "\", at character " + std::to_string(at_ + 1) + ": " + what;
    return nullptr;
  }

  /// `name`: all that stands before the place of the colon: "label int64".
  static std::string message_of_no_colon(std::string_view name) {
    const std::size_t blank = name.find(' ');
    const std::string column(name.substr(0, blank));
    const std::string type(blank == name.npos ? "int64" : name.substr(name.find_last_of(' ') + 1));
    return (blank == name.npos ? "a colon and a type are missing after " : "a colon is missing after ") + column +
           ": write " + column + ": " + type;
  }
  const element_type* fields(int depth, char end) {
    std::vector<member> members;
    std::unordered_set<std::string> names;
    do {
      skip_space();
      const bool is_quoted = at_ != text_.size() && (text_[at_] == '"' || text_[at_] == '`');
      std::string name = this->name();
      if (name.empty() && !is_quoted) return refuse("expected a column, such as label: int64");
      if (!take(':')) return refuse(message_of_no_colon(name));
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
    if (!good || extent == 0) return refuse("expected [] or a number of values, such as [16]");
    const element_type* array = array_type(t, extent);
    return array ? array : refuse("a value of such an array would take more than 1 GiB");
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
    const std::size_t from = at_;
    std::string_view name = word(",:{}()[]?");
    if (const element_type* t = temporal(from, name)) return t;
    auto named = [&](std::string_view wanted) {
      auto p = std::find_if(plain_types().begin(), plain_types().end(),
                            [&](const plain_type& known) { return known.name == wanted; });
      return p == plain_types().end() ? nullptr : p->type;
    };
    if (name == "binary" || name == "large_binary") return named("bytes");
    if (const element_type* t = named(name)) return t;
    if (const element_type* t = named(detail::usual_type_name(name))) return t;
    if (const std::size_t blank = name.find(' '); blank != name.npos && blank != 0)
      return refuse(message_of_no_colon(name));
    return refuse("no type is called \"" + std::string(name) +
                  "\"; there are bool, int8 … int64, uint8 … uint64, float, double, string, bytes, timestamp[us, UTC], "
                  "date32, time64[us], duration[ms], {…} and (…)");
  }
  /// Returns the type of a date or time: a name, perhaps followed by the unit in brackets. Null for any other name.
  const element_type* temporal(std::size_t from, std::string_view name) {
    if (const element_type* t = temporal_type(name)) {
      for (std::string_view unit : {"[day]", "[ms]"})  // pyarrow's names of dates
        if (text_.substr(at_).starts_with(unit) && temporal_type(std::string(name).append(unit)) == t)
          at_ += unit.size();
      return t;
    }
    const std::size_t end = at_ < text_.size() && text_[at_] == '[' ? text_.find(']', at_) : text_.npos;
    if (end == text_.npos) return nullptr;
    const std::size_t begin = text_.find(name, from);
    const element_type* t = temporal_type(text_.substr(begin, end + 1 - begin));
    if (t) at_ = end + 1;
    return t;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string why_;
};

/// Returns what to do about a column of a type that is not read.
std::string_view way_around(std::string_view format) {
  if (format.starts_with("d:")) return "cast it to string or float64 before it is written";
  if (format.starts_with("+u")) return "write its members as columns";
  if (format.starts_with("ti")) return "write it as a duration, or as numbers";
  return "leave it out, or cast it before it is written";
}

status no_column(const ArrowSchema& s) {
  const std::string_view format = ipc_format_of(s);
  return unimplemented_error("column \"" + std::string(ipc_name_of(s)) + "\" is of type " + format_words(format) +
                             ", which is not read: " + std::string(way_around(format)));
}

result<const element_type*> column_type(const ArrowSchema& s);

/// Returns a schema of the columns that can be read; an empty text if no column can be read.
std::string readable_columns(const ArrowSchema& s) {
  constexpr std::size_t kShownMax = 200;
  std::string text;
  for (std::int64_t k = 0; k != s.n_children; ++k) {
    auto t = column_type(*s.children[k]);
    if (!t.ok()) continue;
    std::vector<member> one;
    one.push_back({std::string(ipc_name_of(*s.children[k])), 0, *t});
    const element_type* row = struct_of("row", std::move(one));
    std::string column = row ? row_text(*row) : std::string();
    if (column.empty() || text.size() + column.size() > kShownMax) return text.empty() ? text : text + ", …";
    text += (text.empty() ? "" : ", ") + column;
  }
  return text;
}

result<const element_type*> struct_type(const ArrowSchema& s, bool is_outermost = false) {
  std::vector<member> members;
  std::unordered_set<std::string> names;
  for (std::int64_t k = 0; k != s.n_children; ++k) {
    auto t = column_type(*s.children[k]);
    if (!t.ok() && is_outermost && t.why().code() == status_code::unimplemented) {
      const std::string others = readable_columns(s);
      if (others.empty()) return t.why();
      return t.why().with_message(std::string(t.why().message()) + ", or read the other columns: schema=\"" + others +
                                  "\"");
    }
    if (!t.ok()) return t.why();
    std::string name(ipc_name_of(*s.children[k]));
    if (!names.insert(name).second)
      return invalid_argument_error("two columns are called \"" + name +
                                    "\": rename one before it is written, or name the columns to read by schema=");
    members.push_back({std::move(name), 0, *t});
  }
  if (members.empty()) return invalid_argument_error("the rows have no columns");
  return struct_of("row", std::move(members));
}

/// Returns the type of a column that is neither nested nor encoded; null if it is, or has no form.
const element_type* plain_column_type(std::string_view format) {
  for (auto& p : plain_types())
    if (p.format == format || (p.format == "u" && (format == "U" || format == "vu")) ||
        (p.format == "z" && (format == "Z" || format == "vz" || format.starts_with("w:"))) ||
        (p.format == "f" && format == "e"))
      return p.type;
  return temporal_of_format(format);
}

result<const element_type*> column_type(const ArrowSchema& s) {
  const std::string_view format = ipc_format_of(s);
  const bool is_nullable = (s.flags & ARROW_FLAG_NULLABLE) != 0;
  // A file of sluice is nullable where its columns are optional.
  auto settled = [&](const element_type* t) -> result<const element_type*> { return is_nullable ? maybe_type(t) : t; };
  if (const ArrowSchema& behind = plain_schema(s); &behind != &s) {
    auto t = column_type(behind);
    if (!t.ok() && behind.n_children == 0) {
      ArrowSchema with_name{};
      with_name.format = behind.format;
      with_name.name = s.name;
      return no_column(with_name);
    }
    if (!t.ok()) return t;
    const bool has_nulls = s.dictionary ? is_nullable : is_nullable || (*t)->kind == kind::maybe;
    const element_type* value = (*t)->kind == kind::maybe ? (*t)->element : *t;
    return has_nulls ? maybe_type(value) : value;
  }
  if (const element_type* t = plain_column_type(format)) return settled(t);
  if (format == "n") return &type_of<std::optional<std::int64_t>>();
  if (format == "+s" && s.n_children != 0) {
    auto t = struct_type(s);
    return t.ok() ? settled(*t) : t;
  }
  const ipc_form form = ipc_form_of(format);
  const bool is_list = form.layout == ipc_layout::lists || form.layout == ipc_layout::list_views;
  const auto shape = is_list ? std::nullopt : ipc_tensor_shape(s);
  if (is_list || shape || (form.layout == ipc_layout::fixed_lists && form.width > 0)) {
    auto t = column_type(*s.children[0]);
    if (!t.ok()) return t.why();
    const element_type* made = shape     ? tensor_type(*t, *shape)
                               : is_list ? list_type(*t)
                                         : array_type(*t, static_cast<std::uint64_t>(form.width));
    if (made) return settled(made);
    return element_limit_error("column \"" + std::string(ipc_name_of(s)) + "\": a value takes more than 1 GiB");
  }
  return no_column(s);
}

/// Appends the name of a column, in quotes where the reader of schemas needs them.
void append_column_name(std::string_view name, std::string& out) {
  const bool is_plain =
      !name.empty() && name.find_first_of(",:{}()[]?\"`\n\t") == name.npos && name.front() != ' ' && name.back() != ' ';
  if (is_plain) out += name;
  else detail::append_name(name, out);
}

void append_row_text(const element_type& t, std::string& out) {
  switch (t.kind) {
    case kind::scalar: {
      const char* format = number_format(t);
      if (temporal_unit u; temporal_of(t, u)) {
        out += t.name;
        return;
      }
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
    if (is_struct) {
      append_column_name(t.members[k].name, out);
      out += ": ";
    }
    append_row_text(*t.members[k].type, out);
  }
  out += is_struct ? '}' : ')';
}

}  // namespace

namespace {

constexpr std::string_view kTypeWord = "type ";

/// Reads the text of an element type, which may have a C++ name.
result<const element_type*> named_row_type(std::string_view text) {
  auto type = type_from_text(text);
  if (!type.ok()) return type;
  if ((*type)->kind != kind::batch && can_stack(**type)) return type;
  return invalid_argument_error("rows of type " + (*type)->name + " cannot be in one batch");
}

}  // namespace

result<const element_type*> row_type_of(std::string_view text) {
  const bool is_type = text.starts_with(kTypeWord) && text.substr(0, text.find_first_of("{(")).find(':') == text.npos;
  return is_type ? named_row_type(text.substr(kTypeWord.size())) : row_text_reader(text).rows();
}

result<const element_type*> row_type_of(const ArrowSchema& s) {
  if (s.n_children == 1 && ipc_name_of(*s.children[0]) == kValueName) {
    auto value = column_type(*s.children[0]);
    const element_type* row = !value.ok() ? nullptr : (*value)->kind == kind::maybe ? (*value)->element : *value;
    if (row && !row->stacks_by_member()) return value;  // rows that are structures are not wrapped
  }
  return struct_type(s, true);
}

result<const element_type*> column_type_of(const ArrowSchema& s) { return column_type(s); }

std::string exact_row_text(const element_type& row) {
  std::string plain = row_text(row);
  auto read = row_type_of(plain);
  if (read.ok() && is_same_type(**read, row)) return plain;
  return std::string(kTypeWord) + type_text(row);
}

std::string row_text(const element_type& row) {
  std::string out;
  append_row_text(row, out);
  // The outermost braces of a structure have no meaning: schemas are written without them.
  return row.kind == kind::structure && out.size() > 2 ? out.substr(1, out.size() - 2) : out;
}

}  // namespace sluice::lib::arrow
