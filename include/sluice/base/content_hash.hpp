// SPDX-License-Identifier: Apache-2.0
// A hash of a value that is equal in every process. Checkpoints use it to detect changes of the values that a function
// has captured, and of the elements of from_elements.
//
//   static_assert(content_hashed<std::vector<sample>>);
//   std::uint64_t h = content_hash(samples);
//
// Shape:  numbers, enums, strings, types with a member `view()`, vectors, arrays, pairs, and aggregates of those. A
//         closure, whose members cannot be named, is hashed by its bytes, if it has no padding and contains no pointer
//         or reference.
// Cost:   about 1 ns for 8 bytes of numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/base/random_bits.hpp"
#include "sluice/base/reflect.hpp"

namespace sluice::lib {
namespace detail {

/// Hashes a sequence of words and bytes. Not collision-resistant against adversaries. The result is part of the
/// checkpoint format, so the function never changes.
class content_hasher {
 public:
  void word(std::uint64_t w) noexcept { h_ = (std::rotl(h_, 29) ^ w) * 0x9fb21c651e98df25u; }
  void bytes(const void* data, std::size_t n) noexcept {
    const char* p = static_cast<const char*>(data);
    word(n);
    for (; n >= 8; n -= 8, p += 8) {
      std::uint64_t w;
      std::memcpy(&w, p, 8);
      word(w);
    }
    std::uint64_t rest = 0;
    if (n) std::memcpy(&rest, p, n);
    word(rest);
  }
  std::uint64_t value() const noexcept { return mix(h_); }

 private:
  std::uint64_t h_ = 0x51a1ce0051a1ce01u;
};

template <class T> inline constexpr bool is_std_array = false;
template <class T, std::size_t N> inline constexpr bool is_std_array<std::array<T, N>> = true;
template <class T> inline constexpr bool is_std_pair = false;
template <class A, class B> inline constexpr bool is_std_pair<std::pair<A, B>> = true;
template <class T> inline constexpr bool is_std_vector = false;
template <class T, class A> inline constexpr bool is_std_vector<std::vector<T, A>> = true;
template <class T>
concept has_text_view = requires(const T& t) {
  { t.view() } -> std::convertible_to<std::string_view>;
};

template <class T> constexpr bool is_hashable();

template <class T> constexpr bool is_hashable() {
  if constexpr (std::is_same_v<T, long double>) return false;  // it has padding
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>) return true;
  else if constexpr (std::is_array_v<T>) return is_hashable<std::remove_extent_t<T>>();
  else if constexpr (is_std_array<T> || is_std_vector<T>) return is_hashable<typename T::value_type>();
  else if constexpr (is_std_pair<T>)
    return is_hashable<std::remove_cv_t<typename T::first_type>>() && is_hashable<typename T::second_type>();
  else if constexpr (has_text_view<T>) return true;
  else if constexpr (reflectable<T>)
    return decltype(with_members(std::declval<T&>(), [](auto&... m) {
      return std::bool_constant<(is_hashable<std::remove_cvref_t<decltype(m)>>() && ...)>();
    }))::value;
  else return false;
}

template <class T> void add_content(content_hasher& h, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) h.bytes(value.data(), value.size());
  else if constexpr (std::is_same_v<T, bool>) h.word(value);
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    std::uint64_t w = 0;
    std::memcpy(&w, &value, sizeof value);
    h.word(w);
  } else if constexpr (std::is_array_v<T> || is_std_array<T> || is_std_vector<T>) {
    h.word(std::size(value));
    for (const auto& x : value) add_content<std::remove_cvref_t<decltype(x)>>(h, x);
  } else if constexpr (is_std_pair<T>) {
    add_content(h, value.first);
    add_content(h, value.second);
  } else if constexpr (has_text_view<T>) {
    std::string_view v = value.view();
    h.bytes(v.data(), v.size());
  } else with_members(value, [&](const auto&... m) { (add_content(h, m), ...); });
}

/// True if the bytes of a T determine its value. A bit_cast to and from T in a constant expression does not compile
/// with pointers, references, unions or padding, not even with those inside of a closure, whose members have no names.
/// (long double has padding that g++ overlooks; its alignment of 16 excludes it.)
template <class T>
concept plain_bytes = std::is_trivially_copyable_v<T> && !std::is_empty_v<T> && alignof(T) <= 8 && requires {
  typename std::bool_constant<(
      std::bit_cast<std::array<char, sizeof(T)>>(std::bit_cast<T>(std::array<char, sizeof(T)>{})), true)>;
};

}  // namespace detail

template <class T> concept content_hashed = detail::is_hashable<T>();

template <content_hashed T> std::uint64_t content_hash(const T& value) {
  detail::content_hasher h;
  detail::add_content(h, value);
  return h.value();
}

}  // namespace sluice::lib
