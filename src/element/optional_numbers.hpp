// SPDX-License-Identifier: Apache-2.0
// Loops over optionals of numbers: their descriptors cost a call for each value, several times what the value costs.
//
//   const bool done = with_optional_number(t, [&]<class T>(std::type_identity<T>) { … });   // t is that of std::optional<T>
//
// Thread: any.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "sluice/element/type_of.hpp"

namespace sluice::lib {

/// Calls f with the number's type and returns true if elements of type `t` are optionals of numbers; returns false for
/// other types. Types with the functions of such an optional are handled as that one: dates, times and enumerations.
template <class F> bool with_optional_number(const element_type& t, F f) {
  if (t.kind != kind::maybe) return false;
  const auto visit = [&]<class T>(std::type_identity<T> number) {
    if (t.items != type_of<std::optional<T>>().items || t.element->size != sizeof(T)) return false;
    f(number);
    return true;
  };
  return visit(std::type_identity<std::int64_t>()) || visit(std::type_identity<double>()) ||
         visit(std::type_identity<std::int32_t>()) || visit(std::type_identity<float>()) ||
         visit(std::type_identity<std::uint64_t>()) || visit(std::type_identity<std::uint32_t>()) ||
         visit(std::type_identity<std::int16_t>()) || visit(std::type_identity<std::uint16_t>()) ||
         visit(std::type_identity<std::int8_t>()) || visit(std::type_identity<std::uint8_t>()) ||
         visit(std::type_identity<bool>());
}

}  // namespace sluice::lib
