// SPDX-License-Identifier: Apache-2.0
#include "engine/data/tensor_literal.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include <absl/strings/str_cat.h>

#include "base/text/read_number.hpp"
#include "base/text/real_text.hpp"
#include "element/tensors/with_dtype.hpp"
#include "element/text/scan_text.hpp"
#include "plan/text/lex.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {

namespace detail {

namespace {

// --- Writing ---

void append_string_literal(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  const bool is_text = is_utf8(text);
  out += '"';
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u == 0x7F || (u > 0x7F && !is_text)) {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

/// `is_plain`: the text must differ from that of a whole number.
template <class T> void append_floating(T v, bool is_plain, std::string& out) {
  if (is_plain || !std::isfinite(v)) return append_real_or_word(v, out);
  char room[64];
  out.append(room, std::to_chars(room, room + sizeof room, v).ptr);
}

void append_literal_value(const tensor& t, std::size_t i, bool is_plain, std::string& out) {
  if (t.dtype() == dtype::string) return append_string_literal(t.text(i), out);
  with_number_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) {
    const T v = t.values<T>()[i];
    if constexpr (std::is_same_v<T, bool>) out += v ? "true" : "false";
    else if constexpr (std::is_integral_v<T>)
      absl::StrAppend(&out, static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(v));
    else if constexpr (std::is_floating_point_v<T>) append_floating(v, is_plain, out);
    else append_floating(static_cast<float>(v), is_plain, out);
  });
}

void append_nested(const tensor& t, std::size_t dim, std::size_t& next, bool is_plain, std::string& out) {
  if (dim == t.rank()) return append_literal_value(t, next++, is_plain, out);
  out += '[';
  for (std::int64_t i = 0; i != t.shape()[dim]; ++i) {
    if (i != 0) out += ", ";
    append_nested(t, dim + 1, next, is_plain, out);
  }
  out += ']';
}

void append_leaf(const tensor_leaf& leaf, std::string& out) {
  const tensor& t = leaf.values;
  std::size_t next = 0;
  if (leaf.is_plain) return append_nested(t, 0, next, true, out);
  out.append(name_of(t.dtype())) += '(';
  if (t.empty() && t.rank() != 1) {
    out += "[], [";
    for (std::size_t k = 0; k != t.rank(); ++k) absl::StrAppend(&out, k == 0 ? "" : ", ", t.shape()[k]);
    out += ']';
  } else {
    append_nested(t, 0, next, false, out);
  }
  out += ')';
}

void append_nest(const element_type& nest, const tensor_leaf*& next, std::string& out) {
  if (!nest.has_members()) return append_leaf(*next++, out);
  const bool is_structure = nest.kind == kind::structure;
  out += is_structure ? "{" : nest.kind == kind::pair ? "(" : "tuple(";
  for (const member& m : nest.members) {
    if (&m != &nest.members.front()) out += ", ";
    if (is_structure) {
      if (is_identifier(m.name)) out += m.name;
      else append_string_literal(m.name, out);
      out += ": ";
    }
    append_nest(*m.type, next, out);
  }
  out += is_structure ? '}' : ')';
}

// --- Reading ---

/// The values of one tensor in their spelling, in row-major order.
struct spelled_tensor {
  std::vector<std::int64_t> dims{};
  std::vector<std::string> numbers{};  ///< also true and false
  std::vector<std::string> texts{};
  std::size_t at = 1;

  std::size_t size() const { return numbers.size() + texts.size(); }
};

[[noreturn]] void fail_at(std::size_t column, std::string_view why) { throw misplaced{column, std::string(why)}; }

template <class T> T number_as(const std::string& s, dtype d, std::size_t column) {
  auto refuse = [&] { fail_at(column, absl::StrCat(s, " is no ", std::string(name_of(d)))); };
  if constexpr (std::is_same_v<T, bool>) {
    if (s != "true" && s != "false") refuse();
    return s == "true";
  } else if constexpr (std::is_integral_v<T>) {
    T v{};
    if (read_digits(s, v) != number_text::read) refuse();
    return v;
  } else {
    std::conditional_t<std::is_same_v<T, double>, double, float> v{};
    if (read_real(s, v) != number_text::read) refuse();
    return T(v);
  }
}

bool is_bool_word(const std::string& s) { return s == "true" || s == "false"; }
bool is_integer_text(const std::string& s) { return s.find_first_not_of("-0123456789") == s.npos; }

dtype dtype_of_spelled(const spelled_tensor& t) {
  if (!t.texts.empty()) return dtype::string;
  if (t.numbers.empty()) return dtype::float64;  // as in TensorFlow, whose [] is of floating-point numbers
  bool whole = true;
  for (const std::string& s : t.numbers) {
    if (is_bool_word(s) != is_bool_word(t.numbers[0])) fail_at(t.at, "the list has both numbers and bools");
    whole = whole && is_integer_text(s);
  }
  if (is_bool_word(t.numbers[0])) return dtype::boolean;
  return whole ? dtype::int64 : dtype::float64;
}

tensor tensor_of(const spelled_tensor& t, dtype d) {
  if (!t.texts.empty() && !t.numbers.empty()) fail_at(t.at, "the list has both texts and numbers");
  if (d == dtype::string && t.numbers.empty()) return tensor::of(t.texts, t.dims);
  if (d == dtype::string || !t.texts.empty())
    fail_at(t.at, absl::StrCat("expected values of ", std::string(name_of(d)),
                               t.texts.empty() ? ", and found numbers" : ", and found texts"));
  tensor made = tensor::make(d, t.dims);
  with_number_dtype(d, [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i != t.numbers.size(); ++i) made.writable<T>()[i] = number_as<T>(t.numbers[i], d, t.at);
  });
  return made;
}

class literal_reader {
 public:
  explicit literal_reader(std::string_view text) : lexer_(text) {}

  read_literal whole() {
    read_literal r;
    r.nest = nest(r.leaves);
    if (lexer_.now().kind != token::end) fail("expected the end of the value, " + lexer_.now().found());
    return r;
  }

 private:
  static constexpr std::size_t kDepthMax = 64;

  [[noreturn]] void fail(const std::string& why) { fail_at(lexer_.now().column, why); }
  bool is(char c) const {
    const token& now = lexer_.now();
    return now.is(c) || (now.kind == token::unknown && now.text.size() == 1 && now.text[0] == c);
  }
  bool take(char c) {
    if (!is(c)) return false;
    lexer_.advance();
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(absl::StrCat("expected '", std::string(1, c), "', ", lexer_.now().found()));
  }

  const element_type* nest(std::vector<tensor_leaf>& leaves) {
    if (++depth_ > kDepthMax) fail("values are nested deeper than 64");
    const element_type* made = nullptr;
    if (is('{')) made = structure(leaves);
    else if (is('(')) made = parts(leaves, false);
    else if (lexer_.now().kind == token::word && lexer_.now().text == "tuple") made = parts(leaves, true);
    else made = leaf(leaves);
    --depth_;
    return made;
  }

  const element_type* structure(std::vector<tensor_leaf>& leaves) {
    std::vector<member> members;
    expect('{');
    do {
      const token name = lexer_.now();
      if (name.kind != token::word && name.kind != token::string) fail("expected a member's name, " + name.found());
      for (const member& m : members)
        if (m.name == name.text) fail("member " + name.text + " appears twice");
      lexer_.advance();
      expect(':');
      members.push_back({name.text, 0, nest(leaves)});
    } while (take(','));
    expect('}');
    return struct_of("", std::move(members));
  }

  const element_type* parts(std::vector<tensor_leaf>& leaves, bool is_tuple) {
    if (is_tuple) lexer_.advance();
    std::vector<const element_type*> types;
    expect('(');
    do types.push_back(nest(leaves));
    while (take(','));
    expect(')');
    if (!is_tuple && types.size() == 1) return types[0];
    return !is_tuple && types.size() == 2 ? pair_of(types[0], types[1]) : tuple_of(types);
  }

  const element_type* leaf(std::vector<tensor_leaf>& leaves) {
    std::optional<dtype> named;
    if (lexer_.now().kind == token::word) named = dtype_named(lexer_.now().text);
    if (named) {
      lexer_.advance();
      expect('(');
    }
    spelled_tensor t;
    t.at = lexer_.now().column;
    values(t, 0);
    if (named) {
      if (take(',')) shape(t);
      expect(')');
    }
    const dtype d = named ? *named : dtype_of_spelled(t);
    leaves.push_back({tensor_of(t, d), !named});
    return &type_of<tensor>();  // the leaf decides its type alone and as a slice
  }

  /// Reads the shape of a tensor without elements, which brackets cannot express.
  void shape(spelled_tensor& t) {
    spelled_tensor dims;
    dims.at = lexer_.now().column;
    values(dims, 0);
    if (t.size() != 0)
      fail_at(dims.at, "a shape is allowed only for tensors without elements: brackets determine the shape of others");
    t.dims.clear();
    for (const std::string& s : dims.numbers) t.dims.push_back(number_as<std::int64_t>(s, dtype::int64, dims.at));
    tensor_spec spec{dtype::uint8, t.dims};
    spec.check();
    if (spec.elements() != 0) fail_at(dims.at, "the shape " + spec.text() + " has elements, and the text has none");
  }

  void values(spelled_tensor& t, std::size_t dim) {
    if (!is('[')) {
      if (dim != t.dims.size()) fail("a value is where others have lists: rows must have one shape");
      return value(t);
    }
    const std::size_t at = lexer_.now().column;
    const bool is_first = t.size() == 0 && dim == t.dims.size();
    if (dim == tensor_shape::kRankMax) fail("a tensor has at most 8 dimensions");
    if (!is_first && dim >= t.dims.size()) fail("a list is where others have values: rows must have one shape");
    if (is_first) t.dims.push_back(-1);  // known at the first list's end
    expect('[');
    std::int64_t n = 0;
    if (!is(']')) {
      do {
        values(t, dim + 1);
        ++n;
      } while (take(','));
    }
    expect(']');
    if (t.dims[dim] == -1) t.dims[dim] = n;
    if (t.dims[dim] != n)
      fail_at(at, absl::StrCat("a row of ", n, " where others have ", t.dims[dim], ": rows must have one shape"));
  }

  void value(spelled_tensor& t) {
    const bool is_negative = is('-');
    if (is_negative) lexer_.advance();
    const token now = lexer_.now();
    const bool is_number_word = now.text == "nan" || now.text == "inf";
    const bool is_word = now.kind == token::word && (is_number_word || (!is_negative && is_bool_word(now.text)));
    if (now.kind == token::string && !is_negative) t.texts.push_back(now.text);
    else if (now.kind == token::number || is_word) t.numbers.push_back((is_negative ? "-" : "") + now.text);
    else fail("expected a number, a text, a list or a structure, " + now.found());
    lexer_.advance();
  }

  lexer lexer_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string tensor_literal(const element_type& nest, const std::vector<tensor_leaf>& leaves) {
  for (const tensor_leaf& leaf : leaves)
    if (leaf.is_plain && leaf.values.empty() && leaf.values.dtype() != dtype::float64) return {};
  std::string out;
  const tensor_leaf* next = leaves.data();
  append_nest(nest, next, out);
  return out;
}

read_literal read_tensor_literal(std::string_view text) {
  try {
    return literal_reader(text).whole();
  } catch (const plan_error& e) {  // an error of the tokens: "column 7: no such escape"
    std::string_view why = e.why().message();
    throw misplaced{e.column(), std::string(why.substr(why.find(": ") + 2))};
  }
}

}  // namespace detail

namespace {

class tensor_data_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p)) to.function(*get(p));
  }
  void read(void* p, const argument& a, reading& r) const override {
    const argument* spelled = a.kind == argument::object ? a.find("expression") : nullptr;
    if (spelled && (!is_text_argument(*spelled) || a.items.size() != 1)) spelled = nullptr;
    if (!spelled && a.source.empty()) r.expected(a, "a value, such as {\"expression\": \"[[1, 2], [3, 4]]\"}");
    const std::string given = spelled ? text_of(*spelled) : std::string(a.source);
    try {
      detail::read_literal v = detail::read_tensor_literal(given);
      static_cast<tensor_data_arg*>(p)->value = std::make_shared<tensor_data>(*v.nest, std::move(v.leaves));
    } catch (const misplaced& e) {
      if (spelled) r.fail(a, absl::StrCat(e.what, " (column ", e.at, " of the value)"));
      throw misplaced{a.at + e.at - 1, absl::StrCat(r.path(), ": ", e.what)};
    } catch (const error& e) { r.fail(a, e.why().message()); }
  }
  bool is_missing(const void* p) const override { return !get(p); }
  bool equal(const void* a, const void* b) const override {
    if (get(a) == get(b)) return true;
    if (!get(a) || !get(b)) return false;
    const tensor_data &x = data(a), &y = data(b);
    return x.whole_type() == y.whole_type() && x.name == y.name && x.values() == y.values();
  }
  void visit(const void* p, part_visitor& v) const override {
    if (get(p)) v.function(get(p));
  }
  std::string type_name() const override { return "value"; }

 private:
  static const function_ptr& get(const void* p) { return static_cast<const tensor_data_arg*>(p)->value; }
  static const tensor_data& data(const void* p) { return static_cast<const tensor_data_arg*>(p)->data(); }
};

}  // namespace

template <> const codec& codec_of<tensor_data_arg>() {
  static const tensor_data_codec c;
  return c;
}

}  // namespace sluice::lib
