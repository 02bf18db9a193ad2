// SPDX-License-Identifier: Apache-2.0
// Checks of the library's own invariants, and of what its functions require of their callers. A failed assertion is a
// defect in sluice, a broken requirement one of the caller. Both print expression, message and place, and abort.
#pragma once

namespace sluice::lib::detail {
[[noreturn]] void assertion_failed(const char* expression, const char* message, const char* file, int line) noexcept;
[[noreturn]] void requirement_failed(const char* expression, const char* message, const char* file, int line) noexcept;
}  // namespace sluice::lib::detail

/// Checked in every build; so it is used only where it is evaluated at most once per block.
#define SLUICE_ASSERT(expression, message) \
  ((expression) ? void() : ::sluice::lib::detail::assertion_failed(#expression, message, __FILE__, __LINE__))

/// Checks what a function REQUIRES of its caller, in builds that define SLUICE_CHECKED as 1: debug builds, those with the
/// sanitizers of addresses or threads, and those with -Dchecked=true. Other builds do not evaluate the expression.
#ifndef SLUICE_CHECKED
#define SLUICE_CHECKED 0
#endif
#if SLUICE_CHECKED
#define SLUICE_REQUIRES(expression, message) \
  ((expression) ? void() : ::sluice::lib::detail::requirement_failed(#expression, message, __FILE__, __LINE__))
#else
#define SLUICE_REQUIRES(expression, message) static_cast<void>(0)
#endif
