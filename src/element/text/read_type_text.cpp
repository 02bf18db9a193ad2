// SPDX-License-Identifier: Apache-2.0
// Reads types from texts. Separate from type_text.cpp, so that programs that read none do not link it.
#include "element/text/read_type_text.hpp"

#include <algorithm>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "element/scalars.hpp"
#include "element/temporal.hpp"
#include "element/text/scan_text.hpp"
#include "sluice/element/none.hpp"
#include "sluice/element/ragged_tensor.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {

namespace {

/// The parsed text. Types are built in a second pass, only from a correct text, because they are never destroyed.
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
  explicit type_reader(std::string_view text) : text_(text), in_(text, "the type") {}

  /// `is_row`: the text is that of a structure's members, without the braces.
  const element_type* read(bool is_row = false) {
    type_tree tree;
    if (is_row) {
      tree.form = tree::structure;
      members(tree, 0);
    } else {
      tree = type(0);
    }
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
    if (!is_quoted && in_.at('[')) take_unit(t);
    if (in_.take('{')) {
      t.form = tree::structure;
      if (!in_.take('}')) {
        members(t, depth);
        in_.expect('}');
      }
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

  /// Reads the unit of dates and times, in brackets behind their name.
  void take_unit(tree& t) {
    const std::size_t from = in_.place(), end = text_.find(']', from);
    if (end == text_.npos) return;
    const std::string whole = t.name + std::string(text_.substr(from, end + 1 - from));
    if (!temporal_type(whole)) return;
    t.name = whole;
    in_.go_to(end + 1);
  }

  void parts(tree& t, std::size_t depth) {
    do add_part(t, type(depth + 1));
    while (in_.take(','));
    in_.expect(')');
  }

  void members(tree& t, std::size_t depth) {
    absl::flat_hash_set<std::string> names;
    do {
      in_.skip_spaces();
      std::size_t at = in_.place();
      t.names.push_back(in_.name("the name of a member"));
      if (!names.insert(t.names.back()).second) in_.fail_at(at, absl::StrCat("a second member ", t.names.back()));
      if (!in_.take(':')) fail_without_colon(t.names.back());
      add_part(t, type(depth + 1));
    } while (in_.take(','));
  }
  [[noreturn]] void fail_without_colon(const std::string& member) {
    in_.skip_spaces();
    const std::size_t at = in_.place();
    std::size_t end = at;
    while (end != text_.size() && detail::is_name_char(text_[end])) ++end;
    const std::string type(text_.substr(at, end - at));
    in_.fail_at(at, absl::StrCat(type.empty() ? "a colon and a type are missing after " : "a colon is missing after ",
                                 member, ": write ", member, ": ", type.empty() ? "int64" : type));
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

  /// Returns the library's own types, which are known whether the program uses them or not.
  static const element_type* declared(const std::string& name) {
    static const bool made = [] {
      return (type_of<tensor>(), type_of<sparse_tensor>(), type_of<ragged_tensor>(), type_of<none>(), true);
    }();
    return made ? type_named(name) : nullptr;
  }

  const element_type* named(const tree& t) {
    const element_type* found = temporal_type(t.name);
    if (!found) found = declared(t.name);
    if (!found) found = declared(std::string(detail::usual_type_name(t.name)));
    if (!found)
      in_.fail_at(t.at, absl::StrCat("there is no type ", t.name, " in this program; there are bool, int8 … int64, ",
                                     "uint8 … uint64, float, double and string, int64[] a list, int64? an optional, ",
                                     "{a: int64, b: string} a structure"));
    return found;
  }

  const element_type* enumeration(const tree& t, const element_type& number) {
    if (number.kind != kind::scalar || &detail::number_of(number) != &number)
      in_.fail_at(t.at, absl::StrCat("an enum is a number, and not ", type_text(number)));
    const element_type* found = temporal_type(t.name);
    if (!found) found = type_named(t.name);
    return found && found->kind == kind::scalar && found->print == number.print ? found : &number;
  }

  const element_type* structure(const tree& t, const std::vector<const element_type*>& parts) {
    std::vector<member> members;
    for (std::size_t k = 0; k != parts.size(); ++k) members.push_back({t.names[k], 0, parts[k]});
    const element_type* known = t.name.empty() ? nullptr : declared(t.name);
    return known && fits(*known, members) ? known : struct_of(t.name, std::move(members));
  }

  static bool fits(const element_type& known, const std::vector<member>& members) {
    if (known.kind != kind::structure || known.members.size() != members.size()) return false;
    for (std::size_t k = 0; k != members.size(); ++k)
      if (known.members[k].name != members[k].name || !is_same_type(*known.members[k].type, *members[k].type))
        return false;
    return true;
  }

  std::string_view text_;
  detail::text_scanner in_;
};

/// The types of all texts read so far, so that reading one again builds nothing.
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

result<const element_type*> detail::row_type_from_text(std::string_view text) {
  auto made = type_from_text(absl::StrCat("{", std::string(text), "}"));
  if (made.ok()) return made;
  try {
    return type_reader(text).read(true);
  } catch (const error& e) { return e.why(); }
}

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
