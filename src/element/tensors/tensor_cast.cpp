// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/tensor_cast.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "element/tensors/with_dtype.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

namespace {

template <class T> inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T> using wide = std::conditional_t<is_half<T>, float, T>;

/// Returns true if the truncated number is a value of the integer type I.
template <class I, class F> bool fits(F value) {
  if constexpr (std::is_floating_point_v<F>) {
    // Both bounds are powers of two (or 0), which every floating-point type represents.
    const F below = std::ldexp(F(1), std::numeric_limits<I>::digits);
    const F cut = std::trunc(value);
    return cut < below && cut >= (std::is_signed_v<I> ? -below : F(0));
  } else {
    return std::in_range<I>(value);
  }
}

template <class To, class From> To converted(From value) {
  if constexpr (is_half<To>) return To(static_cast<float>(value));
  else return static_cast<To>(value);
}

[[noreturn]] void refuse_value(const tensor& t, std::size_t i, dtype to) {
  std::string at;
  std::size_t rest = i;
  for (std::size_t d = t.rank(); d-- != 0;) {
    auto dim = static_cast<std::size_t>(t.shape()[d]);
    at = absl::StrCat("[", rest % dim, "]", at);
    rest /= dim;
  }
  tensor one = t.reshape({-1})[static_cast<std::int64_t>(i)];
  throw error(invalid_argument_error(
      absl::StrCat("cast: the value ", one.to_json(), " at ", at, " is no ", std::string(name_of(to)))));
}

/// Returns true if some finite numbers of the type From are larger than all of the floating-point type To.
template <class To, class From> constexpr bool may_overflow() {
  if constexpr (std::is_same_v<To, float16>) return sizeof(From) > 1;
  else if constexpr (std::is_same_v<To, bfloat16>) return std::is_floating_point_v<From>;
  else return std::is_same_v<To, float> && std::is_same_v<From, double>;
}

/// Returns true if a finite number became infinite.
template <class To, class From> bool overflows(To made, From value) {
  if constexpr (std::is_floating_point_v<From>)
    if (!std::isfinite(value)) return false;
  return std::isinf(static_cast<wide<To>>(made));
}

template <class To, class From> void cast_all(const tensor& t, tensor& made) {
  std::span<const From> from = t.values<From>();
  std::span<To> to = made.writable<To>();
  if constexpr (std::is_same_v<To, bool>) {
    for (std::size_t i = 0; i != from.size(); ++i) to[i] = static_cast<wide<From>>(from[i]) != 0;
  } else if constexpr (std::is_integral_v<To> && !std::is_same_v<From, bool>) {
    // All values are checked without a branch: a bad one is rare, and is searched for afterwards.
    bool good = true;
    for (std::size_t i = 0; i != from.size(); ++i) good &= fits<To>(static_cast<wide<From>>(from[i]));
    for (std::size_t i = 0; !good && i != from.size(); ++i)
      if (!fits<To>(static_cast<wide<From>>(from[i]))) refuse_value(t, i, dtype_of<To>());
    for (std::size_t i = 0; i != from.size(); ++i) to[i] = static_cast<To>(static_cast<wide<From>>(from[i]));
  } else {
    for (std::size_t i = 0; i != from.size(); ++i) to[i] = converted<To>(static_cast<wide<From>>(from[i]));
    if constexpr (may_overflow<To, From>())
      for (std::size_t i = 0; i != from.size(); ++i)
        if (overflows(to[i], static_cast<wide<From>>(from[i]))) refuse_value(t, i, dtype_of<To>());
  }
}

}  // namespace

tensor cast(const tensor& t, dtype to) {
  if (t.dtype() == to) return t;
  if (t.dtype() == dtype::string || to == dtype::string)
    throw error(
        invalid_argument_error(absl::StrCat("cast: ", t.spec_text(), " cannot become ", std::string(name_of(to)))));
  tensor made = tensor::make(to, tensor_shape(t.shape()));
  if (t.size() == 0) return made;
  with_number_dtype(t.dtype(), [&]<class From>(std::type_identity<From>) {
    with_number_dtype(to, [&]<class To>(std::type_identity<To>) { cast_all<To, From>(t, made); });
  });
  return made;
}

tensor decode_raw(std::string_view bytes, dtype of) {
  static_assert(std::endian::native == std::endian::little);
  const std::size_t size = size_bytes(of);
  if (size == 0) throw error(invalid_argument_error("decode_raw: strings have no size"));
  if (bytes.size() % size != 0)
    throw error(invalid_argument_error(absl::StrCat("decode_raw: ", bytes.size(), " bytes are no whole number of ",
                                                    std::string(name_of(of)), ", of ", size)));
  tensor made = tensor::make(of, {static_cast<std::int64_t>(bytes.size() / size)});
  if (of == dtype::boolean)
    for (char c : bytes)
      if (c != 0 && c != 1) throw error(invalid_argument_error("decode_raw: a bool is a byte of 0 or 1"));
  if (!bytes.empty()) std::memcpy(made.writable_data(), bytes.data(), bytes.size());
  return made;
}

}  // namespace sluice::lib
