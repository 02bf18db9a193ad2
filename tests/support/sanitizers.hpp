// SPDX-License-Identifier: Apache-2.0
// Whether a sanitizer watches: for what that makes meaningless, forbids, or has no use for.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define SLUICE_TEST_LOOKS_FOR_RACES 1
#define SLUICE_TEST_SANITIZED 1
#elif defined(__SANITIZE_ADDRESS__)
#define SLUICE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLUICE_TEST_LOOKS_FOR_RACES 1
#define SLUICE_TEST_SANITIZED 1
#elif __has_feature(address_sanitizer)
#define SLUICE_TEST_SANITIZED 1
#endif
#endif

namespace sluice::lib::testing {

/// Memory has a shadow, and figures of it mean nothing.
#ifdef SLUICE_TEST_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// What runs in one thread, as simulations do, has no races to find, and does a part of its cases.
#ifdef SLUICE_TEST_LOOKS_FOR_RACES
inline constexpr bool kLooksForRaces = true;
#else
inline constexpr bool kLooksForRaces = false;
#endif

}  // namespace sluice::lib::testing
