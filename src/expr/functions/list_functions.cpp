// SPDX-License-Identifier: Apache-2.0
// Functions of lists and arrays, and the functions that also accept texts.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "element/temporal.hpp"
#include "expr/batch_parts.hpp"
#include "expr/checking/checker.hpp"
#include "expr/checking/conversions.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/comparison.hpp"
#include "expr/nullable.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib::expressions {

namespace {

bool is_tensor(const function_arguments& a) { return a.count() != 0 && a.parts[0]->type().kind == kind::tensor; }

computed_ptr length(function_arguments& a) {
  a.need(1, 1);
  if (is_tensor(a))
    return from_one<std::int64_t, const void*>(type_of<std::int64_t>(), std::move(a.parts[0]),
                                               [](evaluation&, const void* t) {
                                                 auto shape = static_cast<const tensor*>(t)->shape();
                                                 if (shape.empty()) throw bad_value{"length: a scalar has none"};
                                                 return shape[0];
                                               });
  const auto of = a.parts[0]->type().kind;
  if (of == kind::text)
    return from_one<std::int64_t, std::string_view>(
        type_of<std::int64_t>(), a.text(0),
        [](evaluation&, std::string_view s) { return static_cast<std::int64_t>(s.size()); });
  if (of == kind::batch) return batch_length(std::move(a.parts[0]));
  if (!is_sequence(a.parts[0]->type())) a.expected(0, "a text or a list");
  return from_one<std::int64_t, span_value>(type_of<std::int64_t>(), a.list(0),
                                            [](evaluation&, span_value s) { return static_cast<std::int64_t>(s.n); });
}

/// The list of the first argument, and the type of its numbers.
template <class Make> computed_ptr of_numbers(function_arguments& a, Make make) {
  a.need(1, 1);
  bool fits = is_sequence(a.parts[0]->type()) && number_of(*a.parts[0]->type().element) != number::none;
  if (!fits) a.expected(0, "a list of numbers");
  number n = number_of(*a.parts[0]->type().element);
  return with_number(n, [&]<class T>(std::type_identity<T> t) { return make(t, a.list(0)); });
}

template <class T> T item(span_value s, std::size_t i) {
  T v;
  std::memcpy(&v, s.data + i * sizeof(T), sizeof v);
  return v;
}

computed_ptr sum(function_arguments& a) {
  if (is_tensor(a)) return tensor_reduction(a);
  return of_numbers(a, []<class T>(std::type_identity<T>, computed_ptr list) {
    // Integers are added as 64 bits, so that a list of bytes does not overflow.
    using R =
        std::conditional_t<std::is_same_v<T, float>, float,
                           std::conditional_t<std::is_floating_point_v<T>, double,
                                              std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>,
                                                                 std::uint64_t, std::int64_t>>>;
    return from_one<R, span_value>(type_of<R>(), std::move(list), [](evaluation&, span_value s) {
      if constexpr (std::is_floating_point_v<R>) {
        double total = 0;
        for (std::size_t i = 0; i != s.n; ++i) total += static_cast<double>(item<T>(s, i));
        return static_cast<R>(total);
      } else {
        R total = 0;
        for (std::size_t i = 0; i != s.n; ++i)
          if (__builtin_add_overflow(total, static_cast<R>(item<T>(s, i)), &total))
            throw bad_value{"sum: the total is no " + type_of<R>().name};
        return total;
      }
    });
  });
}

computed_ptr mean(function_arguments& a) {
  if (is_tensor(a)) return tensor_reduction(a);
  return of_numbers(a, []<class T>(std::type_identity<T>, computed_ptr list) {
    return from_one<double, span_value>(type_of<double>(), std::move(list), [](evaluation&, span_value s) {
      if (s.n == 0) throw bad_value{"mean: the list is empty"};
      double total = 0;
      for (std::size_t i = 0; i != s.n; ++i) total += static_cast<double>(item<T>(s, i));
      return total / static_cast<double>(s.n);
    });
  });
}

template <bool IsMax> computed_ptr extreme_of(function_arguments& a) {
  return of_numbers(a, []<class T>(std::type_identity<T>, computed_ptr list) {
    return from_one<T, span_value>(type_of<T>(), std::move(list), [](evaluation&, span_value s) {
      if (s.n == 0) throw bad_value{std::string(IsMax ? "max" : "min") + ": the list is empty"};
      T best = item<T>(s, 0);
      for (std::size_t i = 1; i != s.n; ++i) {
        T v = item<T>(s, i);
        if (v != v || (IsMax ? v > best : v < best)) best = v;
      }
      return best;
    });
  });
}

/// Returns the position of the value that max() returns, or of the first NaN.
computed_ptr arg_max(function_arguments& a) {
  if (is_tensor(a)) return tensor_reduction(a);
  return of_numbers(a, []<class T>(std::type_identity<T>, computed_ptr list) {
    return from_one<std::int64_t, span_value>(type_of<std::int64_t>(), std::move(list), [](evaluation&, span_value s) {
      if (s.n == 0) throw bad_value{"argmax: the list is empty"};
      std::size_t best = 0;
      for (std::size_t i = 0; i != s.n; ++i) {
        const T v = item<T>(s, i);
        if (v != v) return static_cast<std::int64_t>(i);
        if (v > item<T>(s, best)) best = i;
      }
      return static_cast<std::int64_t>(best);
    });
  });
}

/// Finds a 64-bit integer in a list of floating-point numbers by its exact value, which double may be unable to
/// represent.
template <class I> computed_ptr contains_large(function_arguments& a, number n) {
  const bool is_double = n == number::f64;
  return from_two<bool, span_value, I>(
      type_of<bool>(), a.list(0), std::move(a.parts[1]), [is_double](evaluation&, span_value s, I what) {
        for (std::size_t i = 0; i != s.n; ++i)
          if (order_of(what, is_double ? item<double>(s, i) : static_cast<double>(item<float>(s, i))) == 0) return true;
        return false;
      });
}

computed_ptr contains(function_arguments& a) {
  a.need(2, 2);
  const element_type& t = a.parts[0]->type();
  if (t.kind == kind::text) {
    computed_ptr s = a.text(0), part = a.text(1);
    return from_two<bool, std::string_view, std::string_view>(
        type_of<bool>(), std::move(s), std::move(part),
        [](evaluation&, std::string_view in, std::string_view what) { return in.find(what) != in.npos; });
  }
  if (!is_sequence(t)) a.expected(0, "a text or a list");
  const element_type& item_type = *t.element;
  if (item_type.kind == kind::text) {
    computed_ptr list = a.list(0), what = a.text(1);
    return from_two<bool, span_value, std::string_view>(type_of<bool>(), std::move(list), std::move(what),
                                                        [&item_type](evaluation&, span_value s, std::string_view key) {
                                                          for (std::size_t i = 0; i != s.n; ++i)
                                                            if (item_type.text(s.data + i * item_type.size) == key)
                                                              return true;
                                                          return false;
                                                        });
  }
  number n = number_of(item_type);
  if (n == number::none) a.expected(0, "a list of numbers or texts");
  const number key_type = a.number_at(1);
  if (is_float(n) && (key_type == number::i64 || key_type == number::u64))
    return key_type == number::i64 ? contains_large<std::int64_t>(a, n) : contains_large<std::uint64_t>(a, n);
  return with_number(n, [&]<class T>(std::type_identity<T>) {
    computed_ptr list = a.list(0);
    computed_ptr key = std::is_same_v<T, bool> ? a.boolean(1) : a.as(1, n);
    return from_two<bool, span_value, T>(type_of<bool>(), std::move(list), std::move(key),
                                         [](evaluation&, span_value s, T what) {
                                           for (std::size_t i = 0; i != s.n; ++i)
                                             if (item<T>(s, i) == what) return true;
                                           return false;
                                         });
  });
}

template <bool IsAny> computed_ptr all_or_any(function_arguments& a) {
  a.need(1, 1);
  bool fits = is_sequence(a.parts[0]->type()) && number_of(*a.parts[0]->type().element) == number::boolean;
  if (!fits) a.expected(0, "a list of bools");
  return from_one<bool, span_value>(type_of<bool>(), a.list(0), [](evaluation&, span_value s) {
    for (std::size_t i = 0; i != s.n; ++i)
      if (item<bool>(s, i) == IsAny) return IsAny;
    return !IsAny;
  });
}

/// Sets the item at this position of a list of zeros: one_hot(2, 4) is [0, 0, 1, 0].
computed_ptr one_hot(function_arguments& a) {
  a.need(2, 2);
  computed_ptr k = a.as(0, number::i64);
  return from_two<span_value, std::int64_t, std::int64_t>(
      *list_of(&type_of<float>()), std::move(k), a.as(1, number::i64),
      [](evaluation& ev, std::int64_t at, std::int64_t n) {
        constexpr std::int64_t kDepthMax = 1 << 20;
        if (n < 0 || n > kDepthMax)
          throw bad_value{absl::StrCat("one_hot: a depth of ", n, "; it is 0 to ", kDepthMax)};
        auto size = static_cast<std::size_t>(n) * sizeof(float);
        char* to = ev.kept_room(size);
        std::memset(to, 0, size);
        const float one = 1;
        if (at >= 0 && at < n) std::memcpy(to + static_cast<std::size_t>(at) * sizeof one, &one, sizeof one);
        return span_value{to, static_cast<std::size_t>(n)};
      });
}

// --- Optional values. ---

template <bool IsWanted> computed_ptr exists(function_arguments& a) {
  a.need(1, 1);
  if (a.parts[0]->type().kind != kind::maybe) a.expected(0, "an optional value");
  return value_exists(std::move(a.parts[0]), IsWanted);
}

computed_ptr get_or(function_arguments& a) {
  a.need(2, 2);
  if (a.parts[0]->type().kind != kind::maybe) a.expected(0, "an optional value");
  const element_type& t = *a.parts[0]->type().element;
  computed_ptr otherwise;
  number n = number_of(t);
  if (n == number::boolean) otherwise = a.boolean(1);
  else if (n != number::none && &t == &type_of_number(n)) otherwise = a.as(1, n);
  else if (t.kind == kind::text) otherwise = a.text(1);
  else if (&a.parts[1]->type() == &t) otherwise = std::move(a.parts[1]);
  else if (temporal_unit unit; temporal_of(t, unit)) otherwise = a.as(1, n);
  else a.expected(1, shown(t));
  return value_or(std::move(a.parts[0]), std::move(otherwise));
}

computed_ptr some(function_arguments& a) {
  a.need(1, 1);
  const element_type& t = a.parts[0]->type();
  const element_type& own = t.kind == kind::text ? type_of<std::string>() : t;
  a.check.need_small_type(a.e, {&own}, 1);
  const element_type* optional = maybe_of(&own);
  if (!optional || !own.copy) a.expected(0, "a value that can be copied");
  return a.check.converted_to(a.e.parts[0], std::move(a.parts[0]), *optional);
}

}  // namespace

const std::vector<built_in>& list_functions() {
  static const std::vector<built_in> all{
      {"length", length},
      {"sum", sum},
      {"mean", mean},
      {"max_of", extreme_of<true>},
      {"min_of", extreme_of<false>},
      {"argmax", arg_max},
      {"contains", contains},
      {"any", all_or_any<true>},
      {"all", all_or_any<false>},
      {"one_hot", one_hot},
      {"some", some},
      {"has_value", exists<true>},
      {"is_none", exists<false>},
      {"value_or", get_or},
  };
  return all;
}

}  // namespace sluice::lib::expressions
