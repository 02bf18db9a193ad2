// SPDX-License-Identifier: Apache-2.0
// Keys by which elements are grouped, of any type that has an order. The engine knows them as bytes.
//
//   samples | group_by_reducer([](const sample& s) { return s.label; }, …)
//
// A key is a whole number, an enum, a bool, a text, or a pair, tuple, array or struct of those. Its code is a sequence
// of bytes. Two codes are equal if the keys are, and codes have the order of the keys when compared with memcmp;
// structs are ordered by their members. So one compiled table serves all types of keys. Codes exist in memory only:
// checkpoints contain none.
//   a number       its bytes, the highest first; the sign bit of a signed number is inverted
//   a text alone   its bytes
//   within others  its bytes, each zero followed by 255, and then a zero and a one
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/base/call.hpp"
#include "sluice/base/reflect.hpp"
#include "sluice/base/result.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

namespace detail {

template <class K> constexpr bool is_key();
template <class... M> constexpr bool all_keys(std::tuple<M*...>*) { return (is_key<std::remove_cv_t<M>>() && ...); }
template <class... M> constexpr bool tuple_of_keys(std::tuple<M...>*) { return (is_key<M>() && ...); }

template <class K> constexpr bool is_key() {
  if constexpr (std::is_integral_v<K> || std::is_enum_v<K> || std::is_same_v<K, std::string>) return true;
  else if constexpr (pair_like<K>)
    return is_key<std::remove_cv_t<typename K::first_type>>() && is_key<std::remove_cv_t<typename K::second_type>>();
  else if constexpr (array_like<K> && !std::is_array_v<K>) return is_key<typename K::value_type>();
  else if constexpr (tuple_like<K>) return tuple_of_keys(static_cast<K*>(nullptr));
  else if constexpr (reflectable<K>) return all_keys(static_cast<member_pointers<K>*>(nullptr));
  else return false;
}

template <std::unsigned_integral U> void add_bytes(std::string& code, U bits) {
  char bytes[sizeof(U)];
  for (std::size_t i = 0; i != sizeof(U); ++i) bytes[i] = static_cast<char>(bits >> 8 * (sizeof(U) - 1 - i));
  code.append(bytes, sizeof(U));
}
/// Returns the code of a number, an enum or a bool, as one unsigned number.
template <class K> auto bits_of(K value) {
  if constexpr (std::is_enum_v<K>) {
    return bits_of(static_cast<std::underlying_type_t<K>>(value));
  } else if constexpr (std::is_same_v<K, bool>) {
    return static_cast<std::uint8_t>(value);
  } else {
    using U = std::make_unsigned_t<K>;
    constexpr U kSign = std::is_signed_v<K> ? static_cast<U>(U{1} << (8 * sizeof(U) - 1)) : U{0};
    return static_cast<U>(static_cast<U>(value) ^ kSign);
  }
}

template <class K> void add_code(std::string& code, const K& key) {
  if constexpr (std::is_integral_v<K> || std::is_enum_v<K>) {
    add_bytes(code, bits_of(key));
  } else if constexpr (std::is_same_v<K, std::string>) {
    for (char c : key) {
      code += c;
      if (c == '\0') code += '\xff';
    }
    code.append("\0\1", 2);
  } else if constexpr (pair_like<K>) {
    add_code(code, key.first);
    add_code(code, key.second);
  } else if constexpr (tuple_like<K>) {
    std::apply([&](const auto&... member) { (add_code(code, member), ...); }, key);
  } else {
    with_members(key, [&](const auto&... member) { (add_code(code, member), ...); });
  }
}

/// Removes the code of a K from the front of `code`. REQUIRES: `code` begins with one.
template <class K> void read_code(std::string_view& code, K& key) {
  if constexpr (std::is_integral_v<K> || std::is_enum_v<K>) {
    using U = decltype(bits_of(key));
    SLUICE_REQUIRES(code.size() >= sizeof(U), "the code ends within a number");
    U bits = 0;
    for (std::size_t i = 0; i != sizeof(U); ++i)
      bits = static_cast<U>(static_cast<std::uint64_t>(bits) << 8 | static_cast<unsigned char>(code[i]));
    code.remove_prefix(sizeof(U));
    key = static_cast<K>(bits ^ bits_of(K{}));  // the code of zero has only the sign bit
  } else if constexpr (std::is_same_v<K, std::string>) {
    SLUICE_REQUIRES(code.find(std::string_view("\0\1", 2)) != code.npos, "the code of a text does not end");
    key.clear();
    std::size_t i = 0;
    for (; code[i] != '\0' || code[i + 1] != '\1'; ++i) {
      key += code[i];
      if (code[i] == '\0') ++i;
    }
    code.remove_prefix(i + 2);
  } else if constexpr (pair_like<K>) {
    read_code(code, key.first);
    read_code(code, key.second);
  } else if constexpr (tuple_like<K>) {
    std::apply([&](auto&... member) { (read_code(code, member), ...); }, key);
  } else {
    with_members(key, [&](auto&... member) { (read_code(code, member), ...); });
  }
}

/// The key type for a function's result: a view of a text becomes the text.
template <class R> struct returned_key {
  using type = R;
  static constexpr bool is_result = false;
};
template <class K> struct returned_key<result<K>> {
  using type = K;
  static constexpr bool is_result = true;
};
template <> struct returned_key<std::string_view> {
  using type = std::string;
  static constexpr bool is_result = false;
};

}  // namespace detail

template <class K> concept group_key = std::default_initializable<K> && detail::is_key<K>();

namespace detail {

template <class F, class T> struct key_result {};
template <class F, class T>
  requires std::invocable<const F&, const T&>
struct key_result<F, T> : returned_key<std::remove_cvref_t<std::invoke_result_t<const F&, const T&>>> {};
template <class F, class T> using key_of = typename key_result<F, T>::type;

/// F returns a key for each T.
template <class F, class T> concept keys = requires { typename key_of<F, T>; } && group_key<key_of<F, T>>;

/// The loop over a block; one instantiation per user function.
template <class T, class F> struct keyed_function final : key_function {
  using K = key_of<F, T>;
  F f;

  explicit keyed_function(F function) : f(std::move(function)) {
    describe(*this, f, &type_of<T>(), &type_of<K>());
    is_number = kIsNumber;
  }
  applied codes(const block& from, key_codes& to) const override {
    const local_function<F> called = f;  // NOLINT(performance-unnecessary-copy-initialization)
    const T* p = from.as<T>();
    std::uint32_t i = 0;
    try {
      for (; i != from.size(); ++i) {
        if constexpr (key_result<F, T>::is_result) {
          auto r = detail::call(called, p[i]);
          if (!r.ok()) return {i, r.why()};
          add(to, *r);
        } else {
          add(to, detail::call(called, p[i]));
        }
      }
    } catch (...) { return {i, current_exception_status()}; }
    return {i, {}};
  }
  applied numbers(const block& from, std::uint64_t* to) const override {
    if constexpr (kIsNumber) {
      const local_function<F> called = f;  // NOLINT(performance-unnecessary-copy-initialization)
      const T* p = from.as<T>();
      const std::uint32_t n = from.size();
      std::uint32_t i = 0;
      try {
        for (; i != n; ++i) {
          if constexpr (key_result<F, T>::is_result) {
            auto r = detail::call(called, p[i]);
            if (!r.ok()) return {i, r.why()};
            to[i] = bits_of(static_cast<K>(*r));
          } else {
            to[i] = bits_of(static_cast<K>(detail::call(called, p[i])));
          }
        }
      } catch (...) { return {i, current_exception_status()}; }
      return {n, {}};
    } else {
      return key_function::numbers(from, to);  // never called
    }
  }
  void build_key(std::string_view code, void* to) const override {
    K key{};
    if constexpr (std::is_same_v<K, std::string>) key = code;
    else read_code(code, key);
    ::new (to) K(std::move(key));
  }

 private:
  static constexpr bool kIsNumber = (std::is_integral_v<K> || std::is_enum_v<K>) && sizeof(K) <= 8;
  /// `key`: a K, or a view of a text. `Codes` is key_codes. It is a template parameter, so that programs without keys
  /// do not compile this function.
  template <class Codes, class Key> static void add(Codes& to, const Key& key) {
    if constexpr (std::is_same_v<K, std::string>) to.bytes.append(key);
    else add_code(to.bytes, key);
    to.ends.push_back(to.bytes.size());
  }
};

}  // namespace detail

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::group_key;

}  // namespace sluice
