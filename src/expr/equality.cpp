// SPDX-License-Identifier: Apache-2.0
// == and != of values with parts: lists, structures, tuples, optionals, tensors.
#include <algorithm>
#include <cstring>

#include "element/tensors/with_dtype.hpp"
#include "expr/comparison.hpp"
#include "expr/functions/numbers.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/element/none.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib::expressions {

namespace {

/// A value in memory or in a register.
struct operand {
  const element_type* type;
  const char* at = nullptr;  ///< for numbers and objects
  std::string_view text{};
  span_value items{};

  static operand in_memory(const element_type& t, const void* p) {
    operand o{&t};
    if (t.kind == kind::text) o.text = t.text(p);
    else if (t.kind == kind::array) o.items = {static_cast<const char*>(p), t.extent};
    else if (t.kind == kind::list) o.items.data = static_cast<const char*>(t.items(t, p, o.items.n));
    else o.at = static_cast<const char*>(p);
    return o;
  }
  static operand in_register(const element_type& t, const char* p) {
    operand o{&t};
    switch (register_form_of(t)) {
      case register_form::value: o.at = p; break;
      case register_form::text: std::memcpy(&o.text, p, sizeof o.text); break;
      case register_form::span: std::memcpy(&o.items, p, sizeof o.items); break;
      case register_form::object: std::memcpy(&o.at, p, sizeof o.at);
    }
    return o;
  }
  operand item(std::size_t i) const { return in_memory(*type->element, items.data + i * type->element->size); }
  any_number number() const {
    return with_number(number_of(*type), [&]<class T>(std::type_identity<T>) {
      T v;
      std::memcpy(&v, at, sizeof v);
      return any_number::of(v);
    });
  }
};

bool are_equal(const tensor& a, const tensor& b) {
  if (!std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end())) return false;
  const bool has_texts = a.dtype() == dtype::string;
  if (has_texts != (b.dtype() == dtype::string)) return false;
  if (has_texts) {
    for (std::size_t i = 0; i != a.size(); ++i)
      if (a.text(i) != b.text(i)) return false;
    return true;
  }
  auto number = [](const tensor& t, std::size_t i) {
    return with_number_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) {
      const T v = t.values<T>()[i];
      if constexpr (std::is_arithmetic_v<T>) return any_number::of(v);
      else return any_number::of(static_cast<float>(v));
    });
  };
  if (a.dtype() == b.dtype())
    return with_number_dtype(a.dtype(), [&]<class T>(std::type_identity<T>) {
      auto x = a.values<T>(), y = b.values<T>();
      return std::equal(x.begin(), x.end(), y.begin(), [](T v, T w) {
        if constexpr (std::is_arithmetic_v<T>) return v == w;
        else return static_cast<float>(v) == static_cast<float>(w);
      });
    });
  for (std::size_t i = 0; i != a.size(); ++i)
    if (!(number(a, i) == number(b, i))) return false;
  return true;
}

bool are_equal(const operand& a, const operand& b);

/// Compares an optional with another one, or with a value of its type.
bool optionals_equal(const operand& a, const operand& b) {
  std::size_t n = 1, m = 1;
  operand x = a, y = b;
  if (a.type->kind == kind::maybe)
    if (const void* item = a.type->items(*a.type, a.at, n); n != 0) x = operand::in_memory(*a.type->element, item);
  if (b.type->kind == kind::maybe)
    if (const void* item = b.type->items(*b.type, b.at, m); m != 0) y = operand::in_memory(*b.type->element, item);
  if (a.type == &type_of<none>()) n = 0;
  if (b.type == &type_of<none>()) m = 0;
  return n == m && (n == 0 || are_equal(x, y));
}

bool are_equal(const operand& a, const operand& b) {
  const element_type &t = *a.type, &u = *b.type;
  if (t.kind == kind::maybe || u.kind == kind::maybe) return optionals_equal(a, b);
  if (t.kind == kind::scalar) return a.number() == b.number();
  if (t.kind == kind::text) return a.text == b.text;
  if (t.kind == kind::tensor)
    return are_equal(*reinterpret_cast<const tensor*>(a.at), *reinterpret_cast<const tensor*>(b.at));
  if (is_sequence(t)) {
    if (a.items.n != b.items.n) return false;
    const auto n = number_of(*t.element);
    if (t.element == u.element && n != number::none && !is_float(n))
      return a.items.n == 0 || std::memcmp(a.items.data, b.items.data, a.items.n * t.element->size) == 0;
    for (std::size_t i = 0; i != a.items.n; ++i)
      if (!are_equal(a.item(i), b.item(i))) return false;
    return true;
  }
  for (std::size_t k = 0; k != t.members.size(); ++k) {
    const member &m = t.members[k], &w = u.members[k];
    if (!are_equal(operand::in_memory(*m.type, a.at + m.offset), operand::in_memory(*w.type, b.at + w.offset)))
      return false;
  }
  return true;
}

class parts_compared final : public computed {
 public:
  parts_compared(computed_ptr a, computed_ptr b, bool is_equal)
      : computed(type_of<bool>()), a_(std::move(a)), b_(std::move(b)), is_equal_(is_equal) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev);
    auto* to = static_cast<bool*>(out);
    const element_type &t = a_->type(), &u = b_->type();
    auto* a = static_cast<char*>(ev.room(s.n * register_bytes(t)));
    auto* b = static_cast<char*>(ev.room(s.n * register_bytes(u)));
    a_->eval(ev, s, a);
    b_->eval(ev, s, b);
    for (std::uint32_t i = 0; i != s.n; ++i)
      to[i] = are_equal(operand::in_register(t, a + i * register_bytes(t)),
                        operand::in_register(u, b + i * register_bytes(u))) == is_equal_;
  }

 private:
  computed_ptr a_, b_;
  bool is_equal_;
};

}  // namespace

bool can_be_equal(const element_type& a, const element_type& b) {
  const bool has_a = a.kind == kind::maybe, has_b = b.kind == kind::maybe;
  if (has_a && has_b) return can_be_equal(*a.element, *b.element);
  if (has_a) return &b == &type_of<none>() || can_be_equal(*a.element, b);
  if (has_b) return &a == &type_of<none>() || can_be_equal(a, *b.element);
  if (is_sequence(a) && is_sequence(b)) return can_be_equal(*a.element, *b.element);
  if (a.kind == kind::scalar && b.kind == kind::scalar) {
    const auto x = number_of(a), y = number_of(b);
    return x != number::none && y != number::none && (x == number::boolean) == (y == number::boolean);
  }
  const bool is_tuple =
      (a.kind == kind::pair || a.kind == kind::tuple) && (b.kind == kind::pair || b.kind == kind::tuple);
  if (!is_tuple && a.kind != b.kind) return false;
  if (a.kind == kind::text || a.kind == kind::tensor) return true;
  if (!a.has_members() || a.members.size() != b.members.size()) return false;
  if (a.members.empty() && &a != &b) return false;
  for (std::size_t k = 0; k != a.members.size(); ++k) {
    if (a.kind == kind::structure && a.members[k].name != b.members[k].name) return false;
    if (!can_be_equal(*a.members[k].type, *b.members[k].type)) return false;
  }
  return true;
}

computed_ptr compared_parts(computed_ptr a, computed_ptr b, bool is_equal) {
  SLUICE_REQUIRES(can_be_equal(a->type(), b->type()), "values of these types cannot be equal");
  return std::make_unique<parts_compared>(std::move(a), std::move(b), is_equal);
}

}  // namespace sluice::lib::expressions
