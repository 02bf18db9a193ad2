// SPDX-License-Identifier: Apache-2.0
// Functions of numbers, and random draws.
#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "expr/checking/checker.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib::expressions {

namespace {

/// Applies f(double), or f(float) if it exists.
template <class F> computed_ptr of_real(function_arguments& a, F f) {
  a.need(1, 1);
  if (a.number_at(0) == number::f32)
    return from_one<float, float>(type_of<float>(), a.as(0, number::f32),
                                  [f](evaluation&, float x) { return static_cast<float>(f(x)); });
  return from_one<double, double>(type_of<double>(), a.as(0, number::f64), [f](evaluation&, double x) { return f(x); });
}
template <class F> computed_ptr of_two_reals(function_arguments& a, F f) {
  a.need(2, 2);
  return from_two<double, double, double>(type_of<double>(), a.as(0, number::f64), a.as(1, number::f64),
                                          [f](evaluation&, double x, double y) { return f(x, y); });
}
template <class F> computed_ptr test_of_real(function_arguments& a, F f) {
  a.need(1, 1);
  return from_one<bool, double>(type_of<bool>(), a.as(0, number::f64), [f](evaluation&, double x) { return f(x); });
}
/// Returns integers unchanged; applies f(double) to other numbers.
template <class F> computed_ptr rounded_by(function_arguments& a, F f) {
  a.need(1, 1);
  if (is_integer(a.number_at(0))) return std::move(a.parts[0]);
  return of_real(a, f);
}

number common_of(function_arguments& a) {
  number n = promoted(a.number_at(0));
  for (std::size_t k = 0; k != a.count(); ++k) {
    if (a.number_at(k) == number::none || a.number_at(k) == number::boolean) a.expected(k, "a number");
    n = common(n, a.number_at(k));
  }
  return n;
}
template <bool IsMax> computed_ptr extreme(function_arguments& a) {
  if (a.count() == 1) {
    auto kind = a.parts[0]->type().kind;
    if (kind == kind::tensor) return tensor_reduction(a);
    if (kind == kind::list || kind == kind::array) {
      auto* of_list = find_built_in(IsMax ? "max_of" : "min_of");
      return of_list(a);
    }
  }
  if (a.count() == 2 && a.parts[0]->type().kind == kind::tensor) return tensor_reduction(a);
  if (a.count() == 1) a.expected(0, "a list of numbers, a tensor, or several numbers");
  a.need(2, SIZE_MAX);
  number n = common_of(a);
  return with_promoted(n, [&]<class T>(std::type_identity<T>) {
    computed_ptr all = a.as(0, n);
    for (std::size_t k = 1; k != a.count(); ++k)
      all = from_two<T, T, T>(type_of<T>(), std::move(all), a.as(k, n), [](evaluation&, T x, T y) {
        if constexpr (std::is_floating_point_v<T>)
          if (x != x || y != y) return x + y;  // a NaN, as in numpy
        return IsMax ? std::max(x, y) : std::min(x, y);
      });
    return all;
  });
}

computed_ptr absolute(function_arguments& a) {
  a.need(1, 1);
  number n = common_of(a);
  return with_promoted(n, [&]<class T>(std::type_identity<T>) {
    return from_one<T, T>(type_of<T>(), a.as(0, n), [](evaluation&, T x) {
      if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
      else if constexpr (std::is_unsigned_v<T>) return x;
      else {
        if (x == std::numeric_limits<T>::min()) throw bad_value{"abs(" + spelled(x) + ") is no " + type_of<T>().name};
        return static_cast<T>(x < 0 ? -x : x);
      }
    });
  });
}
computed_ptr clamped(function_arguments& a) {
  a.need(3, 3);
  number n = common_of(a);
  return with_promoted(n, [&]<class T>(std::type_identity<T>) {
    return from_three<T, T, T, T>(type_of<T>(), a.as(0, n), a.as(1, n), a.as(2, n),
                                  [](evaluation&, T x, T low, T high) {
                                    if (high < low)
                                      throw bad_value{"clamp: " + spelled(low) + " is above " + spelled(high)};
                                    return x < low ? low : x > high ? high : x;
                                  });
  });
}
computed_ptr sign_of(function_arguments& a) {
  a.need(1, 1);
  number n = common_of(a);
  return with_promoted(n, [&]<class T>(std::type_identity<T>) {
    return from_one<std::int32_t, T>(type_of<std::int32_t>(), a.as(0, n),
                                     [](evaluation&, T x) { return (x > T{}) - (x < T{}); });
  });
}

template <class T> computed_ptr cast_to(function_arguments& a) {
  a.need(1, 1);
  number n = number_of(type_of<T>());
  if (a.parts[0]->type().kind == kind::tensor) return number_in_tensor(std::move(a.parts[0]), type_of<T>());
  if (a.number_at(0) == number::none) {
    if (a.parts[0]->type().kind == kind::text) a.expected(0, "a number");
    a.expected(0, "a number");
  }
  return converted(std::move(a.parts[0]), n);
}

template <class F> computed_ptr of_bits(function_arguments& a, F f) {
  a.need(2, 2);
  number n = common_of(a);
  if (!is_integer(n)) a.expected(is_integer(a.number_at(0)) ? 1 : 0, "an integer");
  return with_promoted(n, [&]<class T>(std::type_identity<T>) -> computed_ptr {
    if constexpr (std::is_integral_v<T>)
      return from_two<T, T, T>(type_of<T>(), a.as(0, n), a.as(1, n),
                               [f](evaluation&, T x, T y) { return static_cast<T>(f(x, y)); });
    else return nullptr;
  });
}
template <bool IsLeft> computed_ptr shifted(function_arguments& a) {
  a.need(2, 2);
  number n = promoted(a.number_at(0));
  if (!is_integer(n)) a.expected(0, "an integer");
  return with_promoted(n, [&]<class T>(std::type_identity<T>) -> computed_ptr {
    if constexpr (std::is_integral_v<T>)
      return from_two<T, T, std::int64_t>(
          type_of<T>(), a.as(0, n), a.as(1, number::i64), [](evaluation&, T x, std::int64_t by) {
            if (by < 0 || by >= static_cast<std::int64_t>(sizeof(T) * 8))
              throw bad_value{absl::StrCat("a shift of ", type_of<T>().name, " by ", by)};
            if constexpr (IsLeft) {
              const T moved = static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << by);
              if (static_cast<T>(moved >> by) != x)
                throw bad_value{absl::StrCat("shift_left(", x, ", ", by, ") is no ", type_of<T>().name)};
              return moved;
            } else return static_cast<T>(x >> by);
          });
    else return nullptr;
  });
}
computed_ptr inverted(function_arguments& a) {
  a.need(1, 1);
  number n = promoted(a.number_at(0));
  if (!is_integer(n)) a.expected(0, "an integer");
  return with_promoted(n, [&]<class T>(std::type_identity<T>) -> computed_ptr {
    if constexpr (std::is_integral_v<T>)
      return from_one<T, T>(type_of<T>(), a.as(0, n), [](evaluation&, T x) { return static_cast<T>(~x); });
    else return nullptr;
  });
}

/// The ordinal of the element in the stage's input.
class ordinals final : public computed {
 public:
  ordinals() : computed(type_of<std::int64_t>()) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    auto* to = static_cast<std::int64_t*>(out);
    for (std::uint32_t i = 0; i != s.n; ++i) to[i] = static_cast<std::int64_t>(ev.ordinal() + s.element(i));
  }
};
/// The calls of random() in an expression differ. Each call gives the same element the same number, whenever and
/// wherever it is computed.
class drawn final : public computed {
 public:
  explicit drawn(std::uint64_t number) : computed(type_of<double>()), number_(number) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    auto* to = static_cast<double*>(out);
    const std::uint64_t seed = derive(ev.seed(), number_);
    for (std::uint32_t i = 0; i != s.n; ++i)
      to[i] = static_cast<double>(draw(seed, ev.ordinal() + s.element(i)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t number_;
};
computed_ptr draws_number(function_arguments& a) {
  a.need(0, 2);
  a.check.need_place(a.e);
  // The call's number gives each call its own sequence.
  auto made = std::make_unique<drawn>(a.check.note_draw());
  if (a.count() == 0) return made;
  if (a.count() == 1) {
    return from_two<std::int64_t, double, std::int64_t>(
        type_of<std::int64_t>(), std::move(made), a.as(0, number::i64), [](evaluation&, double u, std::int64_t below) {
          if (below < 1) throw bad_value{absl::StrCat("random(", below, "): at least 1 is needed")};
          return std::min(static_cast<std::int64_t>(u * static_cast<double>(below)), below - 1);
        });
  }
  return from_three<double, double, double, double>(
      type_of<double>(), std::move(made), a.as(0, number::f64), a.as(1, number::f64),
      [](evaluation&, double u, double low, double high) {
        if (!(low <= high) || !std::isfinite(high - low))
          throw bad_value{"random(" + spelled(low) + ", " + spelled(high) +
                          "): the second must be larger, and both finite"};
        return low + u * (high - low);
      });
}

}  // namespace

const std::vector<built_in>& number_functions() {
  static const std::vector<built_in> all{
      {"abs", absolute},
      {"min", extreme<false>},
      {"max", extreme<true>},
      {"clamp", clamped},
      {"sign", sign_of},
      {"floor", [](function_arguments& a) { return rounded_by(a, [](auto x) { return std::floor(x); }); }},
      {"ceil", [](function_arguments& a) { return rounded_by(a, [](auto x) { return std::ceil(x); }); }},
      {"round", [](function_arguments& a) { return rounded_by(a, [](auto x) { return std::round(x); }); }},
      {"trunc", [](function_arguments& a) { return rounded_by(a, [](auto x) { return std::trunc(x); }); }},
      {"sqrt", [](function_arguments& a) { return of_real(a, [](auto x) { return std::sqrt(x); }); }},
      {"exp", [](function_arguments& a) { return of_real(a, [](auto x) { return std::exp(x); }); }},
      {"log", [](function_arguments& a) { return of_real(a, [](auto x) { return std::log(x); }); }},
      {"log2", [](function_arguments& a) { return of_real(a, [](auto x) { return std::log2(x); }); }},
      {"log10", [](function_arguments& a) { return of_real(a, [](auto x) { return std::log10(x); }); }},
      {"log1p", [](function_arguments& a) { return of_real(a, [](auto x) { return std::log1p(x); }); }},
      {"sin", [](function_arguments& a) { return of_real(a, [](auto x) { return std::sin(x); }); }},
      {"cos", [](function_arguments& a) { return of_real(a, [](auto x) { return std::cos(x); }); }},
      {"tanh", [](function_arguments& a) { return of_real(a, [](auto x) { return std::tanh(x); }); }},
      {"pow", [](function_arguments& a) { return of_two_reals(a, [](double x, double y) { return std::pow(x, y); }); }},
      {"fmod",
       [](function_arguments& a) { return of_two_reals(a, [](double x, double y) { return std::fmod(x, y); }); }},
      {"atan2",
       [](function_arguments& a) { return of_two_reals(a, [](double x, double y) { return std::atan2(x, y); }); }},
      {"is_nan", [](function_arguments& a) { return test_of_real(a, [](double x) { return std::isnan(x); }); }},
      {"is_finite", [](function_arguments& a) { return test_of_real(a, [](double x) { return std::isfinite(x); }); }},
      {"bit_and", [](function_arguments& a) { return of_bits(a, [](auto x, auto y) { return x & y; }); }},
      {"bit_or", [](function_arguments& a) { return of_bits(a, [](auto x, auto y) { return x | y; }); }},
      {"bit_xor", [](function_arguments& a) { return of_bits(a, [](auto x, auto y) { return x ^ y; }); }},
      {"bit_not", inverted},
      {"shift_left", shifted<true>},
      {"shift_right", shifted<false>},
      {"bool", cast_to<bool>},
      {"int8", cast_to<std::int8_t>},
      {"int16", cast_to<std::int16_t>},
      {"int32", cast_to<std::int32_t>},
      {"int64", cast_to<std::int64_t>},
      {"uint8", cast_to<std::uint8_t>},
      {"uint16", cast_to<std::uint16_t>},
      {"uint32", cast_to<std::uint32_t>},
      {"uint64", cast_to<std::uint64_t>},
      {"float", cast_to<float>},
      {"double", cast_to<double>},
      {"index",
       [](function_arguments& a) -> computed_ptr {
         a.need(0, 0);
         a.check.need_place(a.e);
         return std::make_unique<ordinals>();
       }},
      {"random", draws_number},
  };
  return all;
}

}  // namespace sluice::lib::expressions
