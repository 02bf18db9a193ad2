// SPDX-License-Identifier: Apache-2.0
// User functions that fail at 7 (and, to be dropped, at every multiple of 7), one of each kind.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::testing {

inline bool is_bad(std::int64_t x) { return x % 7 == 0 && x != 0; }
inline std::int64_t throws(std::int64_t x) {
  if (is_bad(x)) throw std::runtime_error("seven does not please me");
  return x;
}
inline std::int64_t throws_a_number(std::int64_t x) {
  if (is_bad(x)) throw 42;
  return x;
}
inline result<std::int64_t> returns_an_error(std::int64_t x) {
  if (is_bad(x)) return out_of_range_error("seven is out of range");
  return x;
}
inline task<std::int64_t> fails_later(std::int64_t x) {
  co_await sleep_for(std::chrono::microseconds(10));
  if (is_bad(x)) throw std::runtime_error("seven does not please me");
  co_return x;
}
inline bool throws_as_predicate(const std::int64_t& x) {
  if (is_bad(x)) throw std::runtime_error("seven does not please me");
  return true;
}
inline stream<std::int64_t> throws_as_stage(stream<std::int64_t> in) {
  while (auto x = co_await in.next()) {
    std::int64_t y = throws(*x);
    co_yield y;
  }
}
inline stream<std::int64_t> throws_as_source() {
  for (std::int64_t i = 0;; ++i) {
    std::int64_t y = throws(i);
    co_yield y;
  }
}
inline stream<std::int64_t> passes_on(stream<std::int64_t> in) {
  while (auto x = co_await in.next()) co_yield *x;
}
inline dataset<std::int64_t> opens_or_throws(std::int64_t x) { return range(throws(x) + 1, {.start = x}); }
inline dataset<std::int64_t> one(std::int64_t x) { return range(x + 1, {.start = x}); }

inline dataset<std::int64_t> failing_numbers() { return range(20) | map(throws); }

}  // namespace sluice::lib::testing
