// SPDX-License-Identifier: Apache-2.0
// What the cases of window_batch and its tests share.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::window_batch_case {

using namespace test;
using int64 = std::int64_t;

inline window_batch_options lying_by(std::uint64_t b) {
  window_batch_options o;
  if (b % 5) o.shift = count(static_cast<int64>(b % 5));
  o.stride = count(static_cast<int64>(b / 5 % 3 + 1));
  o.drop_remainder = b / 15 % 2;
  return o;
}

inline int64 number_of_rows(const int64s& rows) {
  int64 all = static_cast<int64>(rows.size());
  for (int64 x : rows) all = number_of(all, x);
  return all;
}

/// By the words of the contract.
inline int64s window_numbers(const int64s& in, int64 size, const window_batch_options& o) {
  int64s out;
  const int64 n = static_cast<int64>(in.size()), shift = o.shift ? o.shift->value : size;
  for (int64 first = 0; first < n; first += shift) {
    int64s rows;
    for (int64 j = 0; j != size && first + j * o.stride.value < n; ++j)
      rows.push_back(in[static_cast<std::size_t>(first + j * o.stride.value)]);
    if (static_cast<int64>(rows.size()) == size || !o.drop_remainder) out.push_back(number_of_rows(rows));
  }
  return out;
}

template <class As> auto number_of_batch() {
  return [](const batched<decltype(As::made(0))>& b) {
    int64s rows;
    for (auto&& x : b.rows()) {
      if constexpr (std::is_convertible_v<decltype(x), std::string_view>)
        rows.push_back(std::atoll(std::string(x).c_str()));
      else rows.push_back(As::number(x));
    }
    return number_of_rows(rows);
  };
}

}  // namespace sluice::lib::window_batch_case
