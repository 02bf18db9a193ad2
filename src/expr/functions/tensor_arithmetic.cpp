// SPDX-License-Identifier: Apache-2.0
// Operators of tensors, which act on each number, and reductions over all numbers.
#include <cmath>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "element/tensors/with_dtype.hpp"
#include "expr/checking/checker.hpp"
#include "expr/object_parts.hpp"

namespace sluice::lib::expressions {

namespace {

__extension__ using wide = __int128;

template <class T> inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T> auto widened(T v) {
  if constexpr (is_half<T>) return static_cast<float>(v);
  else return v;
}

// --- Operators. ---

/// Computes a op b for integers. Returns false if the result does not fit, or if b is 0.
template <class T> bool compute(char op, T a, T b, T& out) {
  switch (op) {
    case '+': return !__builtin_add_overflow(a, b, &out);
    case '-': return !__builtin_sub_overflow(a, b, &out);
    case '*': return !__builtin_mul_overflow(a, b, &out);
    default: break;
  }
  if (b == 0) return false;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return op == '%' ? (out = 0, true) : !__builtin_sub_overflow(T{0}, a, &out);
  out = static_cast<T>(op == '/' ? a / b : a % b);
  return true;
}
template <class T, class X, class Y> void calculate_integers(char op, X x, Y y, std::span<T> to) {
  for (std::size_t i = 0; i != to.size(); ++i) {
    if (compute<T>(op, x(i), y(i), to[i])) continue;
    std::string all = absl::StrCat(spelled(x(i)), " ", std::string(1, op), " ", spelled(y(i)));
    if ((op == '/' || op == '%') && y(i) == T{0}) throw bad_value{absl::StrCat(all, ": division by zero, at ", i)};
    throw bad_value{absl::StrCat(all, " is no ", type_of<T>().name, ", at ", i)};
  }
}
/// The operator is fixed within each loop, so that the loop is vectorized.
template <class T, class X, class Y> void calculate_reals(char op, X x, Y y, std::span<T> to) {
  auto all = [&](auto f) {
    for (std::size_t i = 0; i != to.size(); ++i) to[i] = f(x(i), y(i));
  };
  if (op == '+') all([](T a, T b) { return a + b; });
  else if (op == '*') all([](T a, T b) { return a * b; });
  else if (op == '-') all([](T a, T b) { return a - b; });
  else all([](T a, T b) { return a / b; });
}

/// Makes a tensor of t's shape and type from its numbers.
template <class F> tensor with_operands(char op, const tensor& t, F calculate) {
  auto refuse = [&] {
    throw bad_value{absl::StrCat(std::string(1, op), " is not for ", t.spec_text(),
                                 "; cast(t, \"float32\") makes a tensor that it is for")};
  };
  if (t.dtype() == dtype::string) refuse();
  return with_number_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) {
    tensor made = tensor::make(t.dtype(), tensor_shape(t.shape()));
    if constexpr (is_half<T> || std::is_same_v<T, bool>) {
      refuse();
    } else {
      if (std::is_floating_point_v<T> && op == '%')
        throw bad_value{absl::StrCat("% is for integers, and this is ", t.spec_text())};
      std::span<const T> x = t.values<T>();
      calculate(std::type_identity<T>(), [x](std::size_t i) { return x[i]; }, made.writable<T>());
    }
    return made;
  });
}
template <class T, class X, class Y> void calculate(char op, X x, Y y, std::span<T> to, bool is_turned) {
  auto both = [&](auto a, auto b) {
    if constexpr (std::is_floating_point_v<T>) calculate_reals<T>(op, a, b, to);
    else calculate_integers<T>(op, a, b, to);
  };
  if (is_turned) both(y, x);
  else both(x, y);
}

/// Combines each number with one value, which must be of the tensor's dtype.
template <class V> tensor with_number_each(char op, const tensor& t, V value, bool is_turned) {
  return with_operands(op, t, [&]<class T>(std::type_identity<T>, auto x, std::span<T> to) {
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<V>)
      throw bad_value{absl::StrCat(std::string(1, op), " of ", t.spec_text(), " and ", spelled(value),
                                   ", which may have a fraction; cast the tensor, or the number")};
    else if constexpr (std::is_floating_point_v<T>) {
      const T y = checked_cast<T>(value);
      calculate<T>(op, x, [y](std::size_t) { return y; }, to, is_turned);
    } else {
      const T y = checked_cast<T>(value);
      calculate<T>(op, x, [y](std::size_t) { return y; }, to, is_turned);
    }
  });
}
tensor of_two_tensors(char op, const tensor& a, const tensor& b) {
  if (a.spec() != b.spec())
    throw bad_value{absl::StrCat(std::string(1, op), " expects tensors of one dtype and shape; these are ",
                                 a.spec_text(), " and ", b.spec_text())};
  return with_operands(op, a, [&]<class T>(std::type_identity<T>, auto x, std::span<T> to) {
    std::span<const T> y = b.values<T>();
    calculate<T>(op, x, [y](std::size_t i) { return y[i]; }, to, false);
  });
}
tensor negative(const tensor& t) {
  // 0 - 0.0 is not -0.0.
  if (t.dtype() == dtype::float32 || t.dtype() == dtype::float64) return with_number_each('*', t, -1.0, false);
  return with_number_each('-', t, std::int64_t{0}, true);
}

// --- Reductions. ---

template <class R> std::string inexact(std::string_view name, std::string_view total) {
  return absl::StrCat(std::string(name), ": ", std::string(total), " is no ", type_of<R>().name);
}

/// Converts an integer to R. Errors: bad_value if R cannot represent it.
template <class R> R whole(std::string_view name, wide total) {
  if constexpr (std::is_floating_point_v<R>) {
    const R made = static_cast<R>(total);
    if (static_cast<wide>(made) == total) return made;
    std::string shown = total < 0 ? absl::StrCat(static_cast<std::int64_t>(std::max<wide>(total, INT64_MIN)))
                                  : absl::StrCat(static_cast<std::uint64_t>(std::min<wide>(total, UINT64_MAX)));
    throw bad_value{inexact<R>(name, shown) + "; " + std::string(name) + "(t, \"int64\") has it"};
  } else {
    if (total < std::numeric_limits<R>::min() || total > static_cast<wide>(std::numeric_limits<R>::max()))
      throw bad_value{inexact<R>(name, "the total")};
    return static_cast<R>(total);
  }
}

template <class R, class T> R sum_of(std::span<const T> values) {
  if constexpr (std::is_integral_v<T>) {
    wide total = 0;  // the sum of up to 2^63 numbers
    for (T v : values) total += v;
    return whole<R>("sum", total);
  } else {
    double total = 0;
    for (T v : values) total += static_cast<double>(widened(v));
    return static_cast<R>(total);
  }
}
template <class T> double mean_of(std::span<const T> values) {
  const auto n = static_cast<double>(values.size());
  if constexpr (std::is_integral_v<T>) {
    wide total = 0;
    for (T v : values) total += v;
    return static_cast<double>(total) / n;
  } else {
    return sum_of<double>(values) / n;
  }
}
/// Returns the position of the largest or the smallest number, or of the first NaN.
template <class T> std::size_t extreme_at(std::span<const T> values, bool is_max) {
  std::size_t best = 0;
  for (std::size_t i = 0; i != values.size(); ++i) {
    const auto v = widened(values[i]), known = widened(values[best]);
    if (v != v) return i;
    if (is_max ? v > known : v < known) best = i;
  }
  return best;
}

template <class R> R reduced(std::string_view name, const tensor& t) {
  if (t.size() == 0 && name != "sum") throw bad_value{absl::StrCat(std::string(name), ": the tensor is empty")};
  return with_number_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) -> R {
    std::span<const T> values = t.values<T>();
    if (name == "argmax") return static_cast<R>(extreme_at(values, true));
    if constexpr (std::is_integral_v<R> && !std::is_integral_v<T>) {
      throw bad_value{absl::StrCat(std::string(name), ": ", t.spec_text(), " has numbers with fractions, and no ",
                                   type_of<R>().name)};
    } else {
      if (name == "sum") return sum_of<R>(values);
      if (name == "mean") return static_cast<R>(mean_of(values));
      const T found = values[extreme_at(values, name == "max")];
      if constexpr (std::is_integral_v<T>) return whole<R>(name, found);
      else return static_cast<R>(widened(found));
    }
  });
}
template <class R> computed_ptr reduction(std::string_view name, computed_ptr of) {
  return from_one<R, const void*>(type_of<R>(), std::move(of), [name](evaluation&, const void* p) {
    try {
      return reduced<R>(name, tensor_at(p));
    } catch (const error& e) { throw bad_value{std::string(e.why().message())}; }
  });
}

}  // namespace

computed_ptr tensor_arithmetic(char op, computed_ptr a, computed_ptr b) {
  const bool is_first = a->type().kind == kind::tensor, is_second = b->type().kind == kind::tensor;
  if (is_first && is_second)
    return tensor_from<const void*, const void*>(std::move(a), std::move(b), [op](const void* x, const void* y) {
      return of_two_tensors(op, tensor_at(x), tensor_at(y));
    });
  if (!is_first) std::swap(a, b);
  auto with = [&]<class V>(std::type_identity<V>) {
    b = converted(std::move(b), number_of(type_of<V>()));
    return tensor_from<const void*, V>(std::move(a), std::move(b), [op, is_first](const void* x, V y) {
      return with_number_each(op, tensor_at(x), y, !is_first);
    });
  };
  const number n = number_of(b->type());
  if (is_float(n)) return with(std::type_identity<double>());
  return n == number::u64 ? with(std::type_identity<std::uint64_t>()) : with(std::type_identity<std::int64_t>());
}

computed_ptr tensor_negated(computed_ptr of) {
  return tensor_from<const void*>(std::move(of), [](const void* p) { return negative(tensor_at(p)); });
}

computed_ptr number_in_tensor(computed_ptr of, const element_type& wanted) {
  return with_number(number_of(wanted), [&]<class R>(std::type_identity<R>) {
    return from_one<R, const void*>(wanted, std::move(of), [&wanted](evaluation&, const void* p) {
      const tensor& t = tensor_at(p);
      if (t.size() != 1 || t.dtype() == dtype::string)
        throw bad_value{absl::StrCat(wanted.name, "() expects a tensor of one number, and this is ", t.spec_text())};
      return with_number_dtype(
          t.dtype(), [&]<class T>(std::type_identity<T>) { return checked_cast<R>(widened(t.values<T>()[0])); });
    });
  });
}

computed_ptr tensor_reduction(function_arguments& a) {
  // The function's name in the table, which is never destroyed.
  static constexpr std::string_view kNames[] = {"sum", "mean", "max", "min", "argmax"};
  std::string_view name = *std::find(std::begin(kNames), std::end(kNames), a.e.text);
  const bool has_choice = name != "mean" && name != "argmax";
  a.need(1, has_choice ? 2 : 1);
  if (a.count() == 1)
    return name == "argmax" ? reduction<std::int64_t>(name, std::move(a.parts[0]))
                            : reduction<double>(name, std::move(a.parts[0]));
  auto* wanted = dynamic_cast<const literal*>(a.parts[1].get());
  const std::string type = wanted ? wanted->text() : "";
  if (type == "int64") return reduction<std::int64_t>(name, std::move(a.parts[0]));
  if (type == "uint64") return reduction<std::uint64_t>(name, std::move(a.parts[0]));
  if (type == "float64") return reduction<double>(name, std::move(a.parts[0]));
  a.expected(1, "\"int64\", \"uint64\" or \"float64\"");
}

}  // namespace sluice::lib::expressions
