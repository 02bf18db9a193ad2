// SPDX-License-Identifier: Apache-2.0
// Checks of our own invariants. A failure is a defect in sluice, never the user's fault: it says where, and aborts.
#pragma once

namespace sluice::lib::detail {
[[noreturn]] void assertion_failed(const char* expression, const char* message, const char* file, int line) noexcept;
}

/// Always on: at places passed once per block or more rarely.
#define SLUICE_ASSERT(expression, message) \
  ((expression) ? void() : ::sluice::lib::detail::assertion_failed(#expression, message, __FILE__, __LINE__))
