// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef SAFE
inline constexpr auto named = [](int x) { return x + 1; };
inline const void* address() { return &named; }
#else
template <auto F> struct holder {
  static constexpr auto function = F;
};
using named = holder<[](int x) { return x + 1; }>;
static const void* address() { return &named::function; }
#endif

const void* there();
static inline const void* here() { return address(); }
