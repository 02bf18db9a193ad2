// SPDX-License-Identifier: Apache-2.0
// The stack of the current thread, for functions that recurse as deep as their input says.
//
//   if (stack_left() < levels * kBytesPerLevel) return resource_exhausted_error(…);
//
// Thread: any.  Units: bytes.  Cost: some 100 µs for a thread's first call on the main thread, 1 ns later.
#pragma once

#include <cstddef>

namespace sluice::lib {

/// The size of the thread's stack. Where the system does not report it: a cautious guess.
std::size_t stack_bytes() noexcept;

/// The bytes of the thread's stack that the caller and the functions that it calls can still use. Where the caller runs
/// on another stack than its thread's, a fiber's for example, the answer is stack_bytes(), since nobody knows.
std::size_t stack_left() noexcept;

}  // namespace sluice::lib
