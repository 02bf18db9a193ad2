// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/type_text.hpp"

#include <algorithm>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "element/scalars.hpp"
#include "element/scan_text.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib {

namespace detail {

bool is_identifier(std::string_view s) {
  if (s.empty() || absl::ascii_isdigit(static_cast<unsigned char>(s[0]))) return false;
  for (char c : s)
    if (!is_name_char(c)) return false;
  return true;
}

void append_name(std::string_view name, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  if (is_identifier(name)) {
    out += name;
    return;
  }
  bool readable = is_utf8(name);
  out += '"';
  for (char c : name) {
    auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u == 0x7F || (u >= 0x80 && !readable)) {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

text_scanner::text_scanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

void text_scanner::fail(std::string_view why) const { fail_at(at_, why); }
void text_scanner::fail_at(std::size_t at, std::string_view why) const {
  throw error(invalid_argument_error(absl::StrCat(std::string(what_), ", column ", at + 1, ": ", std::string(why))));
}
void text_scanner::fail_expecting(std::string_view wanted) const {
  if (at_ == text_.size()) fail(absl::StrCat("it ends where ", std::string(wanted), " should be"));
  auto n = utf8_length(text_.substr(at_));
  std::string got = n == 0 ? "a byte that is not UTF-8" : absl::StrCat("'", std::string(text_.substr(at_, n)), "'");
  fail(absl::StrCat("expected ", std::string(wanted), ", got ", got));
}

void text_scanner::skip_spaces() {
  while (at_ != text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
}
bool text_scanner::at(char c) {
  skip_spaces();
  return at_ != text_.size() && text_[at_] == c;
}
bool text_scanner::take(char c) {
  if (!at(c)) return false;
  ++at_;
  return true;
}
bool text_scanner::take(std::string_view word) {
  skip_spaces();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}
void text_scanner::expect(char c) {
  if (!take(c)) fail_expecting(absl::StrCat("'", std::string(1, c), "'"));
}
bool text_scanner::done() {
  skip_spaces();
  return at_ == text_.size();
}

std::string text_scanner::name(std::string_view wanted) {
  skip_spaces();
  if (at_ != text_.size() && text_[at_] == '"') return quoted();
  std::size_t from = at_;
  while (at_ != text_.size() && is_name_char(text_[at_])) ++at_;
  if (from == at_ || absl::ascii_isdigit(static_cast<unsigned char>(text_[from]))) {
    at_ = from;
    fail_expecting(wanted);
  }
  return std::string(text_.substr(from, at_ - from));
}

std::string text_scanner::quoted() {
  std::string name;
  std::size_t from = at_++;
  auto hex = [this] {
    char c = at_ != text_.size() ? text_[at_] : '\0';
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) fail_expecting("a hexadecimal digit");
    ++at_;
    return absl::ascii_isdigit(static_cast<unsigned char>(c))
               ? c - '0'
               : absl::ascii_tolower(static_cast<unsigned char>(c)) - 'a' + 10;
  };
  for (;;) {
    if (at_ == text_.size()) fail_at(from, "the name has no end");
    char c = text_[at_++];
    if (c == '"') return name;
    if (c != '\\') {
      name += c;
    } else if (take_here('x')) {
      int high = hex();
      name += static_cast<char>(high * 16 + hex());
    } else if (take_here('"')) {
      name += '"';
    } else if (take_here('\\')) {
      name += '\\';
    } else {
      fail_expecting("\\\", \\\\ or \\xHH");
    }
  }
}

bool text_scanner::take_here(char c) {
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::uint64_t text_scanner::number(std::uint64_t most) {
  skip_spaces();
  std::size_t from = at_;
  std::uint64_t n = 0;
  for (; at_ != text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
    n = n * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
    if (n > most) fail_at(from, absl::StrCat("more than ", most));
  }
  if (from == at_) fail_expecting("a number");
  return n;
}

}  // namespace detail

namespace {

void append_list_of(const element_type& t, std::string& out) {
  for (auto& m : t.members) {
    if (&m != &t.members.front()) out += ", ";
    append_type_text(*m.type, out);
  }
}

/// A structure that was made without a name has its text as its name.
bool has_own_name(const element_type& t) { return !t.name.empty() && t.name.front() != '{'; }

}  // namespace

void append_type_text(const element_type& t, std::string& out) {
  switch (t.kind) {
    case kind::scalar: {
      const element_type& number = detail::number_of(t);
      detail::append_name(t.name, out);
      if (&number != &t) absl::StrAppend(&out, "<", number.name, ">");
      return;
    }
    case kind::array:
      append_type_text(*t.element, out);
      absl::StrAppend(&out, "[", t.extent, "]");
      return;
    case kind::list:
      append_type_text(*t.element, out);
      out += "[]";
      return;
    case kind::maybe:
      append_type_text(*t.element, out);
      out += '?';
      return;
    case kind::batch:
      out += "batch<";
      append_type_text(*t.element, out);
      out += '>';
      return;
    case kind::pair:
    case kind::tuple:
      out += t.kind == kind::pair || t.members.size() > 2 ? "(" : "tuple(";
      append_list_of(t, out);
      out += ')';
      return;
    case kind::structure:
      if (has_own_name(t)) detail::append_name(t.name, out);
      out += '{';
      for (auto& m : t.members) {
        if (&m != &t.members.front()) out += ", ";
        detail::append_name(m.name, out);
        out += ": ";
        append_type_text(*m.type, out);
      }
      out += '}';
      return;
    default: detail::append_name(t.name, out);
  }
}

std::string type_text(const element_type& t) {
  std::string out;
  append_type_text(t, out);
  return out;
}

bool is_same_type(const element_type& a, const element_type& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.size != b.size || a.align != b.align || a.members.size() != b.members.size()) return false;
  switch (a.kind) {
    case kind::scalar: return a.name == b.name && a.print == b.print;
    case kind::array: return a.extent == b.extent && is_same_type(*a.element, *b.element);
    case kind::list:
    case kind::maybe:
    case kind::batch: return is_same_type(*a.element, *b.element);
    case kind::structure:
      if (has_own_name(a) != has_own_name(b) || (has_own_name(a) && a.name != b.name)) return false;
      [[fallthrough]];
    case kind::pair:
    case kind::tuple:
      for (std::size_t k = 0; k != a.members.size(); ++k) {
        auto &m = a.members[k], &n = b.members[k];
        if (m.name != n.name || m.offset != n.offset || !is_same_type(*m.type, *n.type)) return false;
      }
      return true;
    default: return false;
  }
}

namespace {

/// Two passes: types are made only of a text that is right, as they are never destroyed.
struct type_tree {
  enum form_type { named, enumeration, structure, pair, tuple, batch, list, array, maybe } form = named;
  std::size_t at = 0;
  std::size_t height = 1;
  std::string name{};
  std::uint64_t extent = 0;
  std::vector<std::string> names{};
  std::vector<type_tree> parts{};
};

class type_reader {
 public:
  explicit type_reader(std::string_view text) : in_(text, "the type") {}

  const element_type* read() {
    type_tree tree = type(0);
    if (!in_.done()) in_.fail_expecting("the end");
    return make(tree);
  }

 private:
  using tree = type_tree;

  void add_part(tree& t, tree part) {
    t.height = std::max(t.height, part.height + 1);
    if (t.height > kTypeDepthMax) fail_deep();
    t.parts.push_back(std::move(part));
  }
  [[noreturn]] void fail_deep() { in_.fail(absl::StrCat("types within types, more than ", kTypeDepthMax, " deep")); }

  tree type(std::size_t depth) {
    if (depth == kTypeDepthMax) fail_deep();
    tree t = base(depth);
    for (;;) {
      std::size_t at = in_.place();
      tree outer;
      if (in_.take('?')) {
        outer.form = tree::maybe;
      } else if (in_.take('[')) {
        outer.form = in_.at(']') ? tree::list : tree::array;
        if (outer.form == tree::array && (outer.extent = in_.number(kTypeBytesMax)) == 0)
          in_.fail_at(at, "an array of no elements");
        in_.expect(']');
      } else {
        return t;
      }
      outer.at = at;
      add_part(outer, std::move(t));
      t = std::move(outer);
    }
  }

  tree base(std::size_t depth) {
    tree t;
    in_.skip_spaces();
    t.at = in_.place();
    if (in_.take('(')) {
      t.form = tree::pair;
      parts(t, depth);
      if (t.parts.size() == 1) in_.fail_at(t.at, "one type in parentheses: a tuple of one is tuple(T)");
      if (t.parts.size() > 2) t.form = tree::tuple;
      return t;
    }
    bool is_quoted = in_.at('"');
    if (!in_.at('{')) t.name = in_.name("a type");
    if (in_.take('{')) {
      t.form = tree::structure;
      members(t, depth);
    } else if (!is_quoted && t.name == "tuple" && in_.take('(')) {
      t.form = tree::tuple;
      parts(t, depth);
    } else if (in_.take('<')) {
      t.form = !is_quoted && t.name == "batch" ? tree::batch : tree::enumeration;
      add_part(t, type(depth + 1));
      in_.expect('>');
    }
    return t;
  }

  void parts(tree& t, std::size_t depth) {
    do add_part(t, type(depth + 1));
    while (in_.take(','));
    in_.expect(')');
  }

  void members(tree& t, std::size_t depth) {
    if (in_.take('}')) return;
    do {
      in_.skip_spaces();
      std::size_t at = in_.place();
      t.names.push_back(in_.name("the name of a member"));
      for (std::size_t k = 0; k + 1 != t.names.size() && t.names.size() <= kCompared; ++k)
        if (t.names[k] == t.names.back()) in_.fail_at(at, absl::StrCat("a second member ", t.names.back()));
      in_.expect(':');
      add_part(t, type(depth + 1));
    } while (in_.take(','));
    in_.expect('}');
  }

  const element_type* make(const tree& t) {
    std::vector<const element_type*> parts;
    std::size_t bytes = 0;
    for (auto& part : t.parts) {
      parts.push_back(make(part));
      bytes += parts.back()->size + parts.back()->align;
    }
    if (t.form == tree::array) bytes = parts[0]->size * t.extent;
    if (bytes > kTypeBytesMax) in_.fail_at(t.at, absl::StrCat("an element takes more than ", kTypeBytesMax, " bytes"));
    const element_type* made = nullptr;
    switch (t.form) {
      case tree::named: made = named(t); break;
      case tree::enumeration: made = enumeration(t, *parts[0]); break;
      case tree::structure: made = structure(t, parts); break;
      case tree::pair: made = pair_of(parts[0], parts[1]); break;
      case tree::tuple: made = tuple_of(parts); break;
      case tree::batch: made = batched_of(parts[0]); break;
      case tree::list: made = list_of(parts[0]); break;
      case tree::array: made = array_of(parts[0], t.extent); break;
      case tree::maybe: made = maybe_of(parts[0]); break;
    }
    if (!made) in_.fail_at(t.at, absl::StrCat("there is no such type here of ", type_text(*parts[0])));
    return made;
  }

  const element_type* named(const tree& t) {
    const element_type* found = type_named(t.name);
    if (!found) in_.fail_at(t.at, absl::StrCat("there is no type ", t.name, " in this program"));
    return found;
  }

  const element_type* enumeration(const tree& t, const element_type& number) {
    if (number.kind != kind::scalar || &detail::number_of(number) != &number)
      in_.fail_at(t.at, absl::StrCat("an enum is a number, and not ", type_text(number)));
    const element_type* found = type_named(t.name);
    return found && found->kind == kind::scalar && found->print == number.print ? found : &number;
  }

  const element_type* structure(const tree& t, const std::vector<const element_type*>& parts) {
    std::vector<member> members;
    for (std::size_t k = 0; k != parts.size(); ++k) members.push_back({t.names[k], 0, parts[k]});
    const element_type* declared = t.name.empty() ? nullptr : type_named(t.name);
    return declared && fits(*declared, members) ? declared : struct_of(t.name, std::move(members));
  }

  static bool fits(const element_type& declared, const std::vector<member>& members) {
    if (declared.kind != kind::structure || declared.members.size() != members.size()) return false;
    for (std::size_t k = 0; k != members.size(); ++k)
      if (declared.members[k].name != members[k].name || !is_same_type(*declared.members[k].type, *members[k].type))
        return false;
    return true;
  }

  static constexpr std::size_t kCompared = 1024;  ///< names that are compared with all others
  detail::text_scanner in_;
};

/// The types of all texts that were read: reading one again makes nothing.
struct read_texts {
  absl::Mutex mutex;
  absl::flat_hash_map<std::string, const element_type*> types ABSL_GUARDED_BY(mutex);
  std::size_t bytes ABSL_GUARDED_BY(mutex) = 0;
};

read_texts& texts_read() {
  static read_texts& all = *new read_texts;
  return all;
}

}  // namespace

result<const element_type*> type_from_text(std::string_view text) {
  if (text.size() > kTypeTextBytesMax)
    return invalid_argument_error(absl::StrCat("the type has ", text.size(), " bytes, more than the ",
                                               kTypeTextBytesMax, " that a type may have"));
  auto& all = texts_read();
  {
    absl::MutexLock lock(&all.mutex);
    auto found = all.types.find(std::string(text));
    if (found != all.types.end()) return found->second;
    if (all.bytes + text.size() > kTypeTextsBytesMax)
      return resource_exhausted_error(absl::StrCat("this process has read ", kTypeTextsBytesMax,
                                                   " bytes of different types, and reads no more of them"));
  }
  try {
    const element_type* made = type_reader(text).read();
    absl::MutexLock lock(&all.mutex);
    if (all.types.emplace(std::string(text), made).second) all.bytes += text.size();
    return made;
  } catch (const error& e) { return e.why(); }
}

}  // namespace sluice::lib
