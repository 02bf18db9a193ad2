// SPDX-License-Identifier: Apache-2.0
// Arithmetic with C++'s types: promotion, the common type of two operands, and checked conversions.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "expr/evaluation.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib::expressions {

enum class number : std::uint8_t { none, boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

/// Returns the number kind of a scalar type, also of an enum; none: the type is not a number.
number number_of(const element_type& t);
const element_type& type_of_number(number n);
inline bool is_float(number n) { return n >= number::f32; }
inline bool is_integer(number n) { return n >= number::i8 && n <= number::u64; }

/// bool and integers smaller than int32 become int32.
number promoted(number n);

/// Calls f(std::type_identity<T>()) for the C++ type of n. REQUIRES: n != none.
template <class F> decltype(auto) with_number(number n, F f) {
  SLUICE_REQUIRES(n != number::none, "the type is no number");
  switch (n) {
    case number::boolean: return f(std::type_identity<bool>());
    case number::i8: return f(std::type_identity<std::int8_t>());
    case number::i16: return f(std::type_identity<std::int16_t>());
    case number::i32: return f(std::type_identity<std::int32_t>());
    case number::i64: return f(std::type_identity<std::int64_t>());
    case number::u8: return f(std::type_identity<std::uint8_t>());
    case number::u16: return f(std::type_identity<std::uint16_t>());
    case number::u32: return f(std::type_identity<std::uint32_t>());
    case number::u64: return f(std::type_identity<std::uint64_t>());
    case number::f32: return f(std::type_identity<float>());
    default: return f(std::type_identity<double>());
  }
}
/// Does the same for the types of promoted operands. REQUIRES: i32, i64, u32, u64, f32 or f64.
template <class F> decltype(auto) with_promoted(number n, F f) {
  SLUICE_REQUIRES(n != number::none && n == promoted(n), "the type is not promoted");
  switch (n) {
    case number::i32: return f(std::type_identity<std::int32_t>());
    case number::i64: return f(std::type_identity<std::int64_t>());
    case number::u32: return f(std::type_identity<std::uint32_t>());
    case number::u64: return f(std::type_identity<std::uint64_t>());
    case number::f32: return f(std::type_identity<float>());
    default: return f(std::type_identity<double>());
  }
}

/// C++'s usual arithmetic conversions.
number common(number a, number b);

template <class S> std::string spelled(S v) {
  if constexpr (std::is_same_v<S, bool>) return v ? "true" : "false";
  else if constexpr (std::is_floating_point_v<S>) {
    std::string out;
    type_of<S>().print(type_of<S>(), &v, out);
    return out.front() == '"' ? out.substr(1, out.size() - 2) : out;  // JSON's text for a value that is not a number
  } else {
    return std::to_string(v);
  }
}

/// Errors: bad_value if T cannot represent the value. Floating point is truncated to an integer, and rounded to another
///         floating-point type; only an infinite value becomes infinite.
template <class T, class S> T checked_cast(S v) {
  if constexpr (std::is_same_v<T, S>) {
    return v;
  } else if constexpr (std::is_same_v<T, bool>) {
    return v != S{};
  } else if constexpr (std::is_same_v<T, float> && std::is_same_v<S, double>) {
    const auto rounded = static_cast<float>(v);
    if (std::isinf(rounded) && !std::isinf(v)) throw bad_value{spelled(v) + " is no float: it does not fit"};
    return rounded;
  } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<S, bool>) {
    return static_cast<T>(v);
  } else {
    bool fits = false;
    if constexpr (std::is_floating_point_v<S>) {
      // Both bounds are powers of two, which every floating-point type represents.
      constexpr S kBelow = std::is_signed_v<T> ? -static_cast<S>(std::numeric_limits<T>::max() / 2 + 1) * 2 : S{0};
      constexpr S kAbove = static_cast<S>(std::numeric_limits<T>::max() / 2 + 1) * 2;
      S whole = std::trunc(v);
      fits = whole >= kBelow && whole < kAbove;
    } else {
      fits = std::in_range<T>(v);
    }
    if (!fits) throw bad_value{spelled(v) + " is no " + type_of<T>().name};
    return static_cast<T>(v);
  }
}

/// A value that all elements share.
class literal final : public computed {
 public:
  literal(const element_type& t, const void* value, std::size_t bytes)
      : computed(t), bytes_(static_cast<const char*>(value), bytes) {}
  /// Owns its text.
  explicit literal(std::string text) : computed(type_of<std::string>()), text_(std::move(text)) {
    std::string_view view = text_;
    bytes_.assign(reinterpret_cast<const char*>(&view), sizeof view);
  }
  template <class T> static computed_ptr of(T value) {
    return std::make_unique<literal>(type_of<T>(), &value, sizeof value);
  }
  const void* constant() const override { return bytes_.data(); }
  const std::string& text() const { return text_; }
  void eval(evaluation& ev, selection s, void* out) const override;

 private:
  std::string text_;
  std::string bytes_;
};

/// Errors: bad_value if a constant does not fit.
computed_ptr converted(computed_ptr c, number to);
/// Applies `op` to operands of the type n. REQUIRES: n is promoted.
computed_ptr arithmetic(char op, number n, computed_ptr a, computed_ptr b);
computed_ptr negated(number n, computed_ptr a);
/// Compares numbers by == != < <= > >=, whatever their types: 2 > -1u is false in C++ and true here.
computed_ptr compared(std::string_view op, computed_ptr a, computed_ptr b);
/// Compares texts by their bytes.
computed_ptr compared_texts(std::string_view op, computed_ptr a, computed_ptr b);

/// Applies f to the operands' registers; f may throw bad_value.
template <class R, class A, class F> class of_one final : public computed {
 public:
  of_one(const element_type& t, computed_ptr a, F f) : computed(t), a_(std::move(a)), f_(std::move(f)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, std::is_arithmetic_v<R>);
    const A* a = registers_of<A>(*a_, ev, s);
    auto* to = static_cast<R*>(out);
    each(s, [&](std::uint32_t i) { to[i] = f_(ev, a[i]); });
  }

 private:
  computed_ptr a_;
  F f_;
};
template <class R, class A, class B, class F> class of_two final : public computed {
 public:
  of_two(const element_type& t, computed_ptr a, computed_ptr b, F f)
      : computed(t), a_(std::move(a)), b_(std::move(b)), f_(std::move(f)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, std::is_arithmetic_v<R>);
    auto* to = static_cast<R*>(out);
    const A* a = registers_of<A>(*a_, ev, s);
    if (const void* one = b_->constant()) {
      const B b = *static_cast<const B*>(one);
      each(s, [&](std::uint32_t i) { to[i] = f_(ev, a[i], b); });
      return;
    }
    const B* b = registers_of<B>(*b_, ev, s);
    each(s, [&](std::uint32_t i) { to[i] = f_(ev, a[i], b[i]); });
  }

 private:
  computed_ptr a_, b_;
  F f_;
};
template <class R, class A, class B, class C, class F> class of_three final : public computed {
 public:
  of_three(const element_type& t, computed_ptr a, computed_ptr b, computed_ptr c, F f)
      : computed(t), a_(std::move(a)), b_(std::move(b)), c_(std::move(c)), f_(std::move(f)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev, std::is_arithmetic_v<R>);
    auto* to = static_cast<R*>(out);
    const A* a = registers_of<A>(*a_, ev, s);
    const B* b = registers_of<B>(*b_, ev, s);
    const C* c = registers_of<C>(*c_, ev, s);
    each(s, [&](std::uint32_t i) { to[i] = f_(ev, a[i], b[i], c[i]); });
  }

 private:
  computed_ptr a_, b_, c_;
  F f_;
};

template <class R, class A, class F> computed_ptr from_one(const element_type& t, computed_ptr a, F f) {
  return std::make_unique<of_one<R, A, F>>(t, std::move(a), std::move(f));
}
template <class R, class A, class B, class F>
computed_ptr from_two(const element_type& t, computed_ptr a, computed_ptr b, F f) {
  return std::make_unique<of_two<R, A, B, F>>(t, std::move(a), std::move(b), std::move(f));
}
template <class R, class A, class B, class C, class F>
computed_ptr from_three(const element_type& t, computed_ptr a, computed_ptr b, computed_ptr c, F f) {
  return std::make_unique<of_three<R, A, B, C, F>>(t, std::move(a), std::move(b), std::move(c), std::move(f));
}

/// Returns true if values of this type have items of one type.
inline bool is_sequence(const element_type& t) { return t.kind == kind::list || t.kind == kind::array; }

}  // namespace sluice::lib::expressions
