// SPDX-License-Identifier: Apache-2.0
// Expressions as keys: group_by_reducer(it % 2, 0, state + it), and as ranks: top(5, by=score). Codes are those of
// sluice/engine/keys.hpp, for types that are known only at run time. A missing value is a byte 0, and others follow a
// byte 1, so that it is smaller than all others.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/expressions/expression_forms.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/column_parts.hpp"
#include "expr/functions/numbers.hpp"
#include "expr/tree.hpp"
#include "sluice/engine/ranks.hpp"

namespace sluice::lib {

namespace {

/// `is_rank`: numbers with a fraction are allowed.
bool is_key_type(const element_type& t, bool is_rank) {
  auto n = expressions::number_of(t);
  if (n != expressions::number::none) return is_rank || !expressions::is_float(n);
  if (t.kind == kind::text) return true;
  if (t.kind == kind::maybe) return t.element->construct && is_key_type(*t.element, is_rank);
  if (t.kind == kind::array) return is_key_type(*t.element, is_rank);
  for (auto& m : t.members)
    if (!is_key_type(*m.type, is_rank)) return false;
  return t.has_members();
}

/// Returns what to write instead of a key that is a number with a fraction.
std::string key_advice(const element_type& t, const std::string& text) {
  if (!expressions::is_float(expressions::number_of(t))) return {};
  return absl::StrCat("; write int64(", text, ") or string(", text, ")");
}

/// Returns the type of a key: each text in it, such as a line or a record, becomes a string. Null if no such type exists.
const element_type* with_strings(const element_type& t) {
  if (t.kind == kind::text) return &type_of<std::string>();
  std::vector<const element_type*> parts;
  bool is_same = true;
  auto add = [&](const element_type* part) {
    parts.push_back(with_strings(*part));
    is_same &= parts.back() == part;
  };
  if (t.element) add(t.element);
  for (auto& m : t.members) add(m.type);
  if (is_same) return &t;
  if (t.kind == kind::maybe) return maybe_of(parts[0]);
  if (t.kind == kind::array) return array_of(parts[0], t.extent);
  if (t.kind == kind::pair) return pair_of(parts[0], parts[1]);
  if (t.kind == kind::tuple) return tuple_of(parts);
  std::vector<member> members = t.members;
  for (std::size_t k = 0; k != members.size(); ++k) members[k].type = parts[k];
  return struct_of("", std::move(members));
}

void add_code_of(const element_type& t, const char* key, std::string& code) {
  if (auto n = expressions::number_of(t); n != expressions::number::none) {
    expressions::with_number(n, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>) {
        T value;
        std::memcpy(&value, key, sizeof value);
        detail::add_code(code, value);
      } else {
        T value;
        std::memcpy(&value, key, sizeof value);
        detail::add_bytes(code, detail::bits_of_real(static_cast<double>(value)));
      }
    });
  } else if (t.kind == kind::text) {
    if (&t == &type_of<std::string>()) detail::add_code(code, *reinterpret_cast<const std::string*>(key));
    else detail::add_code(code, std::string(t.text(key)));
  } else if (t.kind == kind::maybe) {
    std::size_t size = 0;
    const void* value = t.items(t, key, size);
    code += static_cast<char>(size);
    if (size != 0) add_code_of(*t.element, static_cast<const char*>(value), code);
  } else if (t.kind == kind::array) {
    for (std::size_t i = 0; i != t.extent; ++i) add_code_of(*t.element, key + i * t.element->size, code);
  } else {
    for (auto& m : t.members) add_code_of(*m.type, key + m.offset, code);
  }
}

/// `key`: value-initialised.
void read_code_of(const element_type& t, std::string_view& code, char* key) {
  if (auto n = expressions::number_of(t); n != expressions::number::none) {
    expressions::with_number(n, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>) {
        T value{};
        detail::read_code(code, value);
        std::memcpy(key, &value, sizeof value);
      }
    });
  } else if (t.kind == kind::text) {
    detail::read_code(code, *reinterpret_cast<std::string*>(key));
  } else if (t.kind == kind::maybe) {
    const bool exists = code[0] != 0;
    code.remove_prefix(1);
    if (!exists) return;
    const element_type& item = *t.element;
    slab value(item);
    char* at = value.reserve(1);
    item.construct(item, at, 1, item.size);
    value.set_live(0, 1);
    read_code_of(item, code, at);
    t.destroy(t, key, 1);
    t.collect(t, key, at, 1, 1, item.size);
  } else if (t.kind == kind::array) {
    for (std::size_t i = 0; i != t.extent; ++i) read_code_of(*t.element, code, key + i * t.element->size);
  } else {
    for (auto& m : t.members) read_code_of(*m.type, code, key + m.offset);
  }
}

/// `Form`: key_function or rank_function.
template <class Form> struct expression_key final : Form {
  compiled_expression c;
  const expression read;

  expression_key(const expression& e, const element_type& in_type)
      : c(e, in_type, nullptr, {.is_looked_at = true}), read(e) {
    constexpr bool kIsRank = std::is_same_v<Form, rank_function>;
    const element_type& t = c.p->type();
    const element_type* made = is_key_type(t, kIsRank) ? with_strings(t) : nullptr;
    if (!made || !made->construct)
      throw expression_error(
          e.tree().at, absl::StrCat(kIsRank ? "elements are ranked by a number, a text, or a value made of such, and "
                                            : "a key is a number without a fraction, a text, or made of such, and ",
                                    expressions::cut(e.text()), " is ", expressions::shown(t),
                                    key_advice(t, expressions::cut(e.text()))));
    describe_expression(*this, e, c, made);
    this->captured = c.used.values();
    this->is_number = !kIsRank && expressions::number_of(t) != expressions::number::none;
    this->reads_columns = c.p->reads_columns();
  }

  function_ptr for_input(const element_type& other) const override {
    return std::make_shared<expression_key>(read, other);
  }
  applied codes(const block& elements, key_codes& to) const override { return codes_in(elements, to); }
  applied numbers(const block& elements, std::uint64_t* to) const override { return numbers_in(elements, to); }
  applied codes_of_rows(const column_view& rows, key_codes& to) const override { return codes_in(rows, to); }
  applied numbers_of_rows(const column_view& rows, std::uint64_t* to) const override { return numbers_in(rows, to); }
  void build_key(std::string_view code, void* to) const override {
    const element_type& t = *this->out;
    t.construct(t, to, 1, t.size);
    if (t.kind == kind::text) *static_cast<std::string*>(to) = code;
    else read_code_of(t, code, static_cast<char*>(to));
  }

 private:
  template <class Elements> applied codes_in(const Elements& elements, key_codes& to) const {
    const element_type& t = c.p->type();
    return each(elements, [&](const char* keys, std::uint32_t, std::uint32_t n) {
      for (std::uint32_t i = 0; i != n; ++i) {
        const char* key = keys + i * t.size;
        if (t.kind == kind::text) to.bytes.append(t.text(key));
        else add_code_of(t, key, to.bytes);
        to.ends.push_back(to.bytes.size());
      }
    });
  }
  template <class Elements> applied numbers_in(const Elements& elements, std::uint64_t* to) const {
    applied a{elements.size(), {}};
    expressions::with_number(expressions::number_of(c.p->type()), [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>) {
        T value;
        if (const void* same = c.p->constant()) {
          std::memcpy(&value, same, sizeof value);
          std::fill(to, to + elements.size(), detail::bits_of(value));
          return;
        }
        a = each(elements, [&](const char* keys, std::uint32_t first, std::uint32_t n) {
          for (std::uint32_t i = 0; i != n; ++i) {
            std::memcpy(&value, keys + i * sizeof value, sizeof value);
            to[first + i] = detail::bits_of(value);
          }
        });
      }
    });
    return a;
  }
  /// Calls take(keys, first, n) with the keys of the elements from `first` on.
  template <class Elements, class Take> applied each(const Elements& elements, Take take) const {
    const element_type& t = c.p->type();
    const std::uint32_t most = std::min(elements.size(), c.p->values_at_once());
    std::unique_ptr<char[]> bytes(new char[most * t.size + t.align]);
    void* at = bytes.get();
    std::size_t space = most * t.size + t.align;
    auto* keys = static_cast<char*>(std::align(t.align, most * t.size, at, space));
    applied a;
    while (a.done != elements.size() && a.why.ok()) {
      std::uint32_t n = std::min(elements.size() - a.done, most);
      std::uint32_t made = keys_of(elements, a.done, n, keys, a.why);
      take(static_cast<const char*>(keys), a.done, made);
      t.destroy(t, keys, made);
      a.done += made;
    }
    return a;
  }
  std::uint32_t keys_of(const block& elements, std::uint32_t first, std::uint32_t n, void* to, status& why) const {
    return c.p->apply(elements.at(first), n, to, 0, 0, why);
  }
  std::uint32_t keys_of(const column_view& rows, std::uint32_t first, std::uint32_t n, void* to, status& why) const {
    return c.p->apply(rows.after(first).front(n), to, why);
  }
};

}  // namespace

function_ptr make_expression_key(const expression& e, const element_type& in) {
  return std::make_shared<expression_key<key_function>>(e, in);
}
function_ptr make_expression_rank(const expression& e, const element_type& in) {
  return std::make_shared<expression_key<rank_function>>(e, in);
}

}  // namespace sluice::lib
