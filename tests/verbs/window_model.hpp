// SPDX-License-Identifier: Apache-2.0
// What the cases of window and its tests share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::window_case {

using namespace test;
using int64 = std::int64_t;

/// As options are written; no shift: as many as `size`.
struct shape {
  int64 size = 1;
  std::optional<int64> shift = {};
  int64 stride = 1;
  bool drop_remainder = false;

  int64 step() const { return shift.value_or(size); }
  window_verb stage() const {
    window_options o;
    if (shift) o.shift = *shift;
    o.stride = stride;
    o.drop_remainder = drop_remainder;
    return window(size, o);
  }
};

/// Every window as a list, by the words of the contract.
inline std::vector<int64s> windows_over(const int64s& in, const shape& s) {
  std::vector<int64s> all;
  auto n = static_cast<int64>(in.size());
  for (int64 first = 0; first < n; first += s.step()) {
    int64s one;
    for (int64 j = 0; j != s.size && first + j * s.stride < n; ++j)
      one.push_back(in[static_cast<std::size_t>(first + j * s.stride)]);
    if (static_cast<int64>(one.size()) == s.size || !s.drop_remainder) all.push_back(one);
  }
  return all;
}

/// One number that tells a window from any other of these tests.
template <class List, class Number> int64 fold(const List& window, Number number) {
  int64 all = static_cast<int64>(window.size());
  for (const auto& x : window) all = added(times(all, 1009), number(x));
  return all;
}

inline int64 folded(const int64s& window) {
  return fold(window, [](int64 x) { return x; });
}

inline int64s expected_of(const int64s& in, const shape& s) {
  int64s all;
  for (const int64s& w : windows_over(in, s)) all.push_back(folded(w));
  return all;
}

/// Those that have all their elements.
inline int64s complete_of(const int64s& in, shape s) {
  s.drop_remainder = true;
  return expected_of(in, s);
}

inline std::size_t needed_of(const int64s& in, const shape& s, std::size_t k) {
  if (k == 0) return 0;
  auto reach = static_cast<std::size_t>(s.step()) * (k - 1) + static_cast<std::size_t>((s.size - 1) * s.stride) + 1;
  return std::min(in.size(), reach);
}

/// Every element is in some window's reach, so that its error is met.
inline bool has_no_gap(const shape& s) { return s.step() <= (s.size - 1) * s.stride + 1; }

inline conformance of(const shape& s) {
  conformance c;
  c.expected = [s](const int64s& in) { return expected_of(in, s); };
  if (has_no_gap(s)) c.before_error = [s](const int64s& in) { return complete_of(in, s); };
  c.needs = [s](const int64s& in, std::size_t k) { return needed_of(in, s, k); };
  return c;
}

}  // namespace sluice::lib::window_case
