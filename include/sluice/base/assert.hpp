// SPDX-License-Identifier: Apache-2.0
// Checks the library's own invariants, and the requirements of its functions. A failed assertion is a defect in sluice, a
// broken requirement a defect in the caller. Both print the expression, message and place to standard error, and abort.
#pragma once

namespace sluice::lib::detail {
[[noreturn]] void assertion_failed(const char* expression, const char* message, const char* file, int line) noexcept;
[[noreturn]] void requirement_failed(const char* expression, const char* message, const char* file, int line) noexcept;
}  // namespace sluice::lib::detail

/// Checked in every build. Use it only if it is evaluated at most once per block.
#define SLUICE_ASSERT(expression, message) \
  ((expression) ? void() : ::sluice::lib::detail::assertion_failed(#expression, message, __FILE__, __LINE__))

/// Checks a REQUIRES of a function, in builds that define SLUICE_CHECKED as 1: debug builds, and those with
/// -Dchecked=true. Other builds do not evaluate the expression.
#ifndef SLUICE_CHECKED
#define SLUICE_CHECKED 0
#endif
#if SLUICE_CHECKED
#define SLUICE_REQUIRES(expression, message) \
  ((expression) ? void() : ::sluice::lib::detail::requirement_failed(#expression, message, __FILE__, __LINE__))
#else
#define SLUICE_REQUIRES(expression, message) static_cast<void>(0)
#endif
