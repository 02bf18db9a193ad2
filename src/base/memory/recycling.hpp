// SPDX-License-Identifier: Apache-2.0
// Decides if the library's own pools retain freed memory for reuse. They do not under AddressSanitizer, so that it sees
// every use of small memory after its end.
#pragma once

namespace sluice::lib {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kRecycles = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kRecycles = false;
#else
inline constexpr bool kRecycles = true;
#endif
#else
inline constexpr bool kRecycles = true;
#endif

}  // namespace sluice::lib
