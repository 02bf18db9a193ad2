// SPDX-License-Identifier: Apache-2.0
// Random tensors, and what an operation on them is refused with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/element/tensor.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::test {

using dims = std::vector<std::int64_t>;

/// The message of the error that f throws; empty: it throws none.
template <class F> std::string refusal(F f) {
  try {
    f();
  } catch (const error& e) { return std::string(e.why().message()); }
  return "";
}

inline dims dims_of(const tensor& t) { return {t.shape().begin(), t.shape().end()}; }

inline tensor_shape some_shape(random_numbers& random, std::size_t rank_max = tensor_shape::kRankMax) {
  dims d(random.below(rank_max + 1));
  for (std::int64_t& x : d) x = random.below(12) == 0 ? 0 : 1 + static_cast<std::int64_t>(random.below(4));
  return d;
}

inline std::string some_text(random_numbers& random) {
  std::string s(random.below(20), 'x');
  for (char& c : s) c = static_cast<char>(random.below(256));
  return s;
}

inline tensor some_tensor(random_numbers& random, dtype d, const tensor_shape& shape) {
  const std::size_t n = tensor_spec{d, shape}.elements();
  if (d == dtype::string) {
    std::vector<std::string> texts(n);
    for (auto& t : texts) t = some_text(random);
    return tensor::of(texts, shape);
  }
  tensor t = tensor::make(d, shape);
  char* to = t.writable_data();
  for (std::size_t i = 0; i != t.size_bytes(); ++i)
    to[i] = static_cast<char>(random.below(d == dtype::boolean ? 2 : 256));
  return t;
}
inline dtype some_dtype(random_numbers& random) { return static_cast<dtype>(random.below(kDtypes)); }

inline tensor floats(std::vector<float> values) { return tensor::of(values); }

}  // namespace sluice::lib::test
