// SPDX-License-Identifier: Apache-2.0
#include "expr/functions/numbers.hpp"

#include <bit>
#include <cstring>

#include "expr/comparison.hpp"
#include "expr/vectorised.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib::expressions {

number number_of(const element_type& t) {
  if (t.kind != kind::scalar) return number::none;
  for (auto n = number::boolean;; n = static_cast<number>(static_cast<int>(n) + 1)) {
    // An enum has the size of its number, and is printed as the number.
    const element_type& one = type_of_number(n);
    if (&t == &one || (t.print == one.print && t.size == one.size)) return n;
    if (n == number::f64) return number::none;
  }
}

const element_type& type_of_number(number n) {
  return with_number(n, []<class T>(std::type_identity<T>) -> const element_type& { return type_of<T>(); });
}

number promoted(number n) {
  using enum number;
  return n == boolean || n == i8 || n == i16 || n == u8 || n == u16 ? i32 : n;
}

number common(number a, number b) {
  using enum number;
  a = promoted(a);
  b = promoted(b);
  if (a == f64 || b == f64) return f64;
  if (a == f32 || b == f32) return f32;
  if (a == u64 || b == u64) return u64;
  if (a == i64 || b == i64) return i64;
  return a == u32 || b == u32 ? u32 : i32;
}

void literal::eval(evaluation&, selection s, void* out) const {
  auto* to = static_cast<char*>(out);
  for (std::uint32_t i = 0; i != s.n; ++i, to += bytes_.size()) std::memcpy(to, bytes_.data(), bytes_.size());
}

computed_ptr converted(computed_ptr c, number to) {
  number from = number_of(c->type());
  const element_type& type = type_of_number(to);
  if (from == to && &c->type() == &type) return c;
  return with_number(from, [&]<class S>(std::type_identity<S>) {
    return with_number(to, [&]<class T>(std::type_identity<T>) -> computed_ptr {
      if (const void* one = c->constant()) {
        S value;
        std::memcpy(&value, one, sizeof value);
        return literal::of<T>(checked_cast<T>(value));
      }
      return from_one<T, S>(type, std::move(c), [](evaluation&, S v) { return checked_cast<T>(v); });
    });
  });
}

namespace {

/// Computes a op b for each element; either operand may be one value for all elements.
template <class T, class R, class Op> class arithmetic_node final : public computed {
 public:
  arithmetic_node(const element_type& t, computed_ptr a, computed_ptr b)
      : computed(t), a_(std::move(a)), b_(std::move(b)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    auto* to = static_cast<R*>(out);
    if (const void* one = b_->constant()) {
      const T* a = registers_of<T>(*a_, ev, s);
      T k;
      std::memcpy(&k, one, sizeof k);
      if constexpr (requires { Op::by_constant(a, k, to, s.n); })
        if (Op::by_constant(a, k, to, s.n)) return;
      return all(s, to, [a](std::uint32_t i) { return a[i]; }, [k](std::uint32_t) { return k; });
    }
    const T* b = registers_of<T>(*b_, ev, s);
    if (const void* one = a_->constant()) {
      T k;
      std::memcpy(&k, one, sizeof k);
      return all(s, to, [k](std::uint32_t) { return k; }, [b](std::uint32_t i) { return b[i]; });
    }
    const T* a = registers_of<T>(*a_, ev, s);
    all(s, to, [a](std::uint32_t i) { return a[i]; }, [b](std::uint32_t i) { return b[i]; });
  }
  computed_ptr take_first() { return std::move(a_); }
  const computed& second() const { return *b_; }

 private:
  template <class A, class B> static void all(selection s, R* to, A a, B b) {
    if constexpr (requires { Op::template fails<T>(); }) {
      const bool any_bad = vectorised([=]() SLUICE_VECTORISED {
        bool bad = false;
        for (std::uint32_t i = 0; i != s.n; ++i) bad |= Op::compute(a(i), b(i), to[i]);
        return bad;
      });
      if (!any_bad) return;
      for (std::uint32_t i = 0; i != s.n; ++i)
        if (Op::compute(a(i), b(i), to[i])) throw failed_at{s.element(i), Op::why(a(i), b(i))};
    } else {
      vectorised([=]() SLUICE_VECTORISED {
        for (std::uint32_t i = 0; i != s.n; ++i) to[i] = Op::compute(a(i), b(i));
      });
    }
  }

  computed_ptr a_, b_;
};

template <class T> std::string overflow(char op, T a, T b) {
  return spelled(a) + " " + op + " " + spelled(b) + " is no " + type_of<T>().name;
}

// For integers: returns true if the result does not fit. The result is written in any case. Overflow is computed from
// the bits, because loops with the compiler's own checks are not vectorized. A signed sum overflows if both operands
// have the other sign than the sum.
template <class T> bool add_wrapped(T a, T b, T& out) {
  using U = std::make_unsigned_t<T>;
  const U sum = static_cast<U>(a) + static_cast<U>(b);
  out = static_cast<T>(sum);
  if constexpr (std::is_signed_v<T>) return static_cast<T>((sum ^ static_cast<U>(a)) & (sum ^ static_cast<U>(b))) < 0;
  else return sum < a;
}
template <class T> bool subtract_wrapped(T a, T b, T& out) {
  using U = std::make_unsigned_t<T>;
  const U rest = static_cast<U>(a) - static_cast<U>(b);
  out = static_cast<T>(rest);
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>((static_cast<U>(a) ^ static_cast<U>(b)) & (static_cast<U>(a) ^ rest)) < 0;
  else return a < b;
}

struct add_checked {
  template <class T> static void fails() {}
  template <class T> static bool compute(T a, T b, T& out) { return add_wrapped(a, b, out); }
  template <class T> static std::string why(T a, T b) { return overflow('+', a, b); }
};
struct subtract_checked {
  template <class T> static void fails() {}
  template <class T> static bool compute(T a, T b, T& out) { return subtract_wrapped(a, b, out); }
  template <class T> static std::string why(T a, T b) { return overflow('-', a, b); }
};
struct multiply_checked {
  template <class T> static void fails() {}
  template <class T> static bool compute(T a, T b, T& out) { return __builtin_mul_overflow(a, b, &out); }
  template <class T> static std::string why(T a, T b) { return overflow('*', a, b); }
};
template <class T> bool cannot_divide(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T{-1} && a == std::numeric_limits<T>::min()) return true;
  return b == T{0};
}
template <class T> std::string cannot_divide_why(char op, T a, T b) {
  return b == T{0} ? spelled(a) + " " + op + " 0: division by zero" : overflow(op, a, b);
}
struct divide_checked {
  template <class T> static void fails() {}
  template <class T> static bool compute(T a, T b, T& out) {
    bool bad = cannot_divide(a, b);
    out = static_cast<T>(a / (bad ? T{1} : b));
    return bad;
  }
  template <class T> static std::string why(T a, T b) { return cannot_divide_why('/', a, b); }
};
struct remainder_checked {
  template <class T> static void fails() {}
  template <class T> static bool compute(T a, T b, T& out) {
    bool bad = cannot_divide(a, b);
    out = static_cast<T>(a % (bad ? T{1} : b));
    return bad;
  }
  template <class T> static std::string why(T a, T b) { return cannot_divide_why('%', a, b); }
  /// Divides by a power of two without a division.
  template <class T> static bool by_constant(const T* a, T k, T* to, std::uint32_t n) {
    if (k <= T{0} || !std::has_single_bit(static_cast<std::make_unsigned_t<T>>(k))) return false;
    using U = std::make_unsigned_t<T>;
    const U mask = static_cast<U>(k) - 1;
    vectorised([=]() SLUICE_VECTORISED {
      for (std::uint32_t i = 0; i != n; ++i) {
        auto v = static_cast<U>(a[i]);
        if constexpr (std::is_signed_v<T>) {
          // The correction for C++'s rounding toward zero.
          U below = static_cast<U>(a[i] >> (sizeof(T) * 8 - 1)) & mask;
          to[i] = static_cast<T>(((v + below) & mask) - below);
        } else {
          to[i] = static_cast<T>(v & mask);
        }
      }
    });
    return true;
  }
};

struct plus {
  template <class T> static T compute(T a, T b) { return a + b; }
};
struct minus {
  template <class T> static T compute(T a, T b) { return a - b; }
};
struct times {
  template <class T> static T compute(T a, T b) { return a * b; }
};
struct divided_by {
  template <class T> static T compute(T a, T b) { return a / b; }
};

/// Compares a, which is signed, with b.
struct mixed_integers {
  std::int64_t signed_value;
  std::uint64_t unsigned_value;
  int compare() const {
    return std::cmp_less(signed_value, unsigned_value) ? -1
           : signed_value < 0                          ? -1
                                                       : static_cast<std::uint64_t>(signed_value) > unsigned_value;
  }
};

template <class Op> computed_ptr compare_mixed(computed_ptr a, computed_ptr b, bool signed_first) {
  if (signed_first)
    return from_two<bool, std::int64_t, std::uint64_t>(
        type_of<bool>(), std::move(a), std::move(b),
        [](evaluation&, std::int64_t x, std::uint64_t y) { return Op::compute(mixed_integers{x, y}.compare(), 0); });
  return from_two<bool, std::uint64_t, std::int64_t>(
      type_of<bool>(), std::move(a), std::move(b),
      [](evaluation&, std::uint64_t x, std::int64_t y) { return Op::compute(0, mixed_integers{y, x}.compare()); });
}

/// Compares a 64-bit integer with a floating-point number.
template <class Op, class I> computed_ptr compare_with_real(computed_ptr a, computed_ptr b, bool integer_first) {
  if (integer_first)
    return from_two<bool, I, double>(type_of<bool>(), std::move(a), std::move(b),
                                     [](evaluation&, I x, double y) { return Op::compute(order_of(x, y), 0.0); });
  return from_two<bool, double, I>(type_of<bool>(), std::move(a), std::move(b),
                                   [](evaluation&, double x, I y) { return Op::compute(-order_of(y, x), 0.0); });
}

/// Returns true for a constant that double represents exactly.
bool is_exact_constant(const computed& c) {
  if (!c.constant()) return false;
  return with_number(number_of(c.type()), [&]<class T>(std::type_identity<T>) {
    T v;
    std::memcpy(&v, c.constant(), sizeof v);
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) return order_of(v, static_cast<double>(v)) == 0;
    else return true;
  });
}

template <class Op> computed_ptr arithmetic_of_floats(number n, computed_ptr a, computed_ptr b) {
  if (n == number::f32)
    return std::make_unique<arithmetic_node<float, float, Op>>(type_of<float>(), std::move(a), std::move(b));
  return std::make_unique<arithmetic_node<double, double, Op>>(type_of<double>(), std::move(a), std::move(b));
}
template <class Op> computed_ptr arithmetic_of_integers(number n, computed_ptr a, computed_ptr b) {
  switch (n) {
    case number::i32:
      return std::make_unique<arithmetic_node<std::int32_t, std::int32_t, Op>>(type_of<std::int32_t>(), std::move(a),
                                                                               std::move(b));
    case number::i64:
      return std::make_unique<arithmetic_node<std::int64_t, std::int64_t, Op>>(type_of<std::int64_t>(), std::move(a),
                                                                               std::move(b));
    case number::u32:
      return std::make_unique<arithmetic_node<std::uint32_t, std::uint32_t, Op>>(type_of<std::uint32_t>(), std::move(a),
                                                                                 std::move(b));
    default:
      return std::make_unique<arithmetic_node<std::uint64_t, std::uint64_t, Op>>(type_of<std::uint64_t>(), std::move(a),
                                                                                 std::move(b));
  }
}
template <class Checked, class Plain> computed_ptr arithmetic_of(number n, computed_ptr a, computed_ptr b) {
  return is_float(n) ? arithmetic_of_floats<Plain>(n, std::move(a), std::move(b))
                     : arithmetic_of_integers<Checked>(n, std::move(a), std::move(b));
}

}  // namespace

computed_ptr arithmetic(char op, number n, computed_ptr a, computed_ptr b) {
  SLUICE_REQUIRES(n != number::none && n == promoted(n), "the operands are not promoted");
  switch (op) {
    case '+': return arithmetic_of<add_checked, plus>(n, std::move(a), std::move(b));
    case '-': return arithmetic_of<subtract_checked, minus>(n, std::move(a), std::move(b));
    case '*': return arithmetic_of<multiply_checked, times>(n, std::move(a), std::move(b));
    case '/': return arithmetic_of<divide_checked, divided_by>(n, std::move(a), std::move(b));
    default: return arithmetic_of_integers<remainder_checked>(n, std::move(a), std::move(b));
  }
}

computed_ptr negated(number n, computed_ptr a) {
  return with_promoted(n, [&]<class T>(std::type_identity<T>) {
    return from_one<T, T>(type_of<T>(), std::move(a), [](evaluation&, T v) {
      T out{};
      if constexpr (std::is_floating_point_v<T>) out = -v;
      else if (__builtin_sub_overflow(T{0}, v, &out))
        throw bad_value{"-(" + spelled(v) + ") is no " + type_of<T>().name};
      return out;
    });
  });
}

namespace {

struct has_no_bits {
  template <class T> static bool compute(T a, T mask) { return (a & mask) == T{0}; }
};
struct has_bits {
  template <class T> static bool compute(T a, T mask) { return (a & mask) != T{0}; }
};

/// x % 2ⁿ == 0 and != 0 test the last n bits of x, whatever its sign is. Returns null if a and b do not have this form.
template <class T> computed_ptr tested_bits(std::string_view op, computed& a, const computed& b) {
  auto constant_of = [](const computed& c) {
    T value{};
    if (const void* one = c.constant()) std::memcpy(&value, one, sizeof value);
    return value;
  };
  auto* remainder = dynamic_cast<arithmetic_node<T, T, remainder_checked>*>(&a);
  if (!remainder || !b.constant() || constant_of(b) != T{0} || (op != "==" && op != "!=")) return nullptr;
  const T by = constant_of(remainder->second());
  if (by <= T{0} || !std::has_single_bit(static_cast<std::make_unsigned_t<T>>(by))) return nullptr;
  computed_ptr x = remainder->take_first(), mask = literal::of<T>(static_cast<T>(by - 1));
  if (op == "==")
    return std::make_unique<arithmetic_node<T, bool, has_no_bits>>(type_of<bool>(), std::move(x), std::move(mask));
  return std::make_unique<arithmetic_node<T, bool, has_bits>>(type_of<bool>(), std::move(x), std::move(mask));
}

}  // namespace

computed_ptr compared(std::string_view op, computed_ptr a, computed_ptr b) {
  number x = promoted(number_of(a->type())), y = promoted(number_of(b->type()));
  auto is_unsigned = [](number n) { return n == number::u32 || n == number::u64; };
  auto is_signed = [](number n) { return n == number::i32 || n == number::i64; };
  bool mixed = (is_unsigned(x) && is_signed(y)) || (is_signed(x) && is_unsigned(y));
  if (mixed) {
    bool signed_first = is_signed(x);
    a = converted(std::move(a), signed_first ? number::i64 : number::u64);
    b = converted(std::move(b), signed_first ? number::u64 : number::i64);
    return with_comparison(op,
                           [&]<class Op>(Op) { return compare_mixed<Op>(std::move(a), std::move(b), signed_first); });
  }
  number n = common(x, y);
  if (is_float(n) && is_float(x) != is_float(y)) {
    const bool integer_first = is_float(y);
    const number integer = integer_first ? x : y;
    const bool is_large = integer == number::i64 || integer == number::u64;
    if (is_large && !is_exact_constant(integer_first ? *a : *b)) {
      a = converted(std::move(a), integer_first ? integer : number::f64);
      b = converted(std::move(b), integer_first ? number::f64 : integer);
      return with_comparison(op, [&]<class Op>(Op) {
        return integer == number::i64 ? compare_with_real<Op, std::int64_t>(std::move(a), std::move(b), integer_first)
                                      : compare_with_real<Op, std::uint64_t>(std::move(a), std::move(b), integer_first);
      });
    }
    n = number::f64;  // represents every int32 and every float
  }
  a = converted(std::move(a), n);
  b = converted(std::move(b), n);
  computed_ptr bits = with_promoted(n, [&]<class T>(std::type_identity<T>) -> computed_ptr {
    if constexpr (std::is_integral_v<T>) return tested_bits<T>(op, *a, *b);
    else return nullptr;
  });
  if (bits) return bits;
  return with_comparison(op, [&]<class Op>(Op) {
    return with_promoted(n, [&]<class T>(std::type_identity<T>) -> computed_ptr {
      return std::make_unique<arithmetic_node<T, bool, Op>>(type_of<bool>(), std::move(a), std::move(b));
    });
  });
}

computed_ptr compared_texts(std::string_view op, computed_ptr a, computed_ptr b) {
  return with_comparison(op, [&]<class Op>(Op) {
    return from_two<bool, std::string_view, std::string_view>(
        type_of<bool>(), std::move(a), std::move(b),
        [](evaluation&, std::string_view x, std::string_view y) { return Op::compute(x, y); });
  });
}

}  // namespace sluice::lib::expressions
