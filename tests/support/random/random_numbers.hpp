// SPDX-License-Identifier: Apache-2.0
// A stream of numbers that its seed fixes on every platform.
#pragma once

#include <cstdint>

#include "sluice/base/random_bits.hpp"

namespace sluice::lib::test {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : seed_(mix(seed)) {}
  std::uint64_t below(std::uint64_t n) { return draw(seed_, drawn_++, n); }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace sluice::lib::test
