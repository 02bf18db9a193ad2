// SPDX-License-Identifier: Apache-2.0
// The stack of the current thread, for functions whose depth of recursion depends on their input.
//
//   if (stack_left() < levels * kBytesPerLevel) return resource_exhausted_error(…);
//
// Thread: any.  Units: bytes.  Cost: some 100 µs for a thread's first call on the main thread, 1 ns later.
#pragma once

#include <cstddef>

namespace sluice::lib {

/// Returns the size of the thread's stack, or a cautious guess if the system does not report it.
std::size_t stack_bytes() noexcept;

/// Returns the bytes of the thread's stack that the caller and the functions that it calls can still use. If the caller
/// runs on another stack than its thread's, such as a fiber's, returns stack_bytes(), because the amount is unknown.
std::size_t stack_left() noexcept;

}  // namespace sluice::lib
