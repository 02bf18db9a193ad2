// SPDX-License-Identifier: Apache-2.0
// Checks of the library's own invariants. A failure is a defect in sluice, never the user's fault: it prints the
// expression, message and place to standard error and aborts.
#pragma once

namespace sluice::lib::detail {
[[noreturn]] void assertion_failed(const char* expression, const char* message, const char* file, int line) noexcept;
}

/// Checked in every build; so it is used only where it is evaluated at most once per block.
#define SLUICE_ASSERT(expression, message) \
  ((expression) ? void() : ::sluice::lib::detail::assertion_failed(#expression, message, __FILE__, __LINE__))
