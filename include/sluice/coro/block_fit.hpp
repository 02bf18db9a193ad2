// SPDX-License-Identifier: Apache-2.0
// How many elements a stage may make for one block, so that a block of large ones stays about as large as was asked for.
//
//   block_fit fit(out.type());
//   … make at most fit.at_most(out.wanted()) elements …
//   fit.made(block, out.wanted_bytes());
//
// The demand says so many elements of about so many bytes; a stage that makes strings of 10 MiB learns their size from
// those it made: it starts with one and at most doubles. Elements of a known, small size are not looked at.
#pragma once

#include <cstdint>

#include "sluice/element/slab.hpp"

namespace sluice::lib {

class block_fit {
 public:
  /// `makes`: elements are made here, so that their size is known only afterwards: few at a time.
  explicit block_fit(const element_type& t, bool makes = false);

  std::uint32_t at_most(std::uint32_t wanted) const noexcept { return wanted < most_ ? wanted : most_; }
  void made(const block& b, std::uint32_t wanted_bytes) {
    if (most_ != kUnlimited) learn(b, wanted_bytes);
  }

 private:
  static constexpr std::uint32_t kUnlimited = ~0u;
  void learn(const block& b, std::uint32_t wanted_bytes);

  std::uint32_t most_;
  std::uint32_t grown_max_;
  std::size_t each_bytes_ = 0;  ///< the largest mean of a block; smaller ones are believed slowly
};

}  // namespace sluice::lib
