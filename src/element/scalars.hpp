// SPDX-License-Identifier: Apache-2.0
// Finds the number behind a scalar: an enum has its own descriptor, and the number's kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sluice/base/assert.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

/// Calls f(std::type_identity<T>) with the type of the scalar's number or bool, and returns the result. REQUIRES: t is
/// a scalar.
template <class F> auto with_number(const element_type& t, F f) {
  SLUICE_REQUIRES(t.kind == kind::scalar, "the type is no scalar");
  auto is = [&t](const element_type& number) { return t.print == number.print; };
  if (is(type_of<std::int64_t>())) return f(std::type_identity<std::int64_t>());
  if (is(type_of<float>())) return f(std::type_identity<float>());
  if (is(type_of<std::uint8_t>())) return f(std::type_identity<std::uint8_t>());
  if (is(type_of<std::int32_t>())) return f(std::type_identity<std::int32_t>());
  if (is(type_of<double>())) return f(std::type_identity<double>());
  if (is(type_of<bool>())) return f(std::type_identity<bool>());
  if (is(type_of<std::int8_t>())) return f(std::type_identity<std::int8_t>());
  if (is(type_of<std::int16_t>())) return f(std::type_identity<std::int16_t>());
  if (is(type_of<std::uint16_t>())) return f(std::type_identity<std::uint16_t>());
  if (is(type_of<std::uint32_t>())) return f(std::type_identity<std::uint32_t>());
  if (is(type_of<std::uint64_t>())) return f(std::type_identity<std::uint64_t>());
  throw_status(internal_error(t.name + " is no number that is known"));
}

/// Returns the number type of an enum, or a number type itself.
inline const element_type& number_of(const element_type& t) {
  return *with_number(t, []<class T>(std::type_identity<T>) { return &type_of<T>(); });
}

}  // namespace sluice::lib::detail
