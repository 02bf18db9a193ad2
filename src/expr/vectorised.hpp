// SPDX-License-Identifier: Apache-2.0
// Loops over numbers, compiled twice on x86-64: for any machine, and for machines with AVX2, where they take half the
// time.
//
//   vectorised([=]() SLUICE_VECTORISED { for (std::uint32_t i = 0; i != n; ++i) to[i] = a[i] == k; });
//
// Both versions compute the same values: AVX2 alone does not fuse products and sums.
#pragma once

#define SLUICE_VECTORISED __attribute__((always_inline))

namespace sluice::lib {

#if defined(__x86_64__)
inline bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
template <class Loop> __attribute__((target("avx2"))) auto vectorised_by_avx2(Loop loop) { return loop(); }
/// REQUIRES: `loop` is a lambda marked SLUICE_VECTORISED, so that it is inlined into both functions.
template <class Loop> auto vectorised(Loop loop) { return has_avx2() ? vectorised_by_avx2(loop) : loop(); }
#else
template <class Loop> auto vectorised(Loop loop) { return loop(); }
#endif

}  // namespace sluice::lib
