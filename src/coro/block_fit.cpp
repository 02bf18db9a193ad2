// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/detail/block_fit.hpp"

#include <algorithm>

#include "element/batches/kernels.hpp"

namespace sluice::lib {
namespace {

/// Elements of at most this size need no limit: the largest usual demand, 1,024 of them, is a megabyte.
constexpr std::size_t kSmallBytes = 1024;
constexpr std::size_t kForgets = 16;  // number of blocks after which two thirds of a former, larger mean are forgotten
constexpr std::uint32_t kMost = 1u << 20;
constexpr std::uint32_t kMostMade = 32;  // limits the 25 ns that measuring a block costs to less than 1 ns an element

}  // namespace

block_fit::block_fit(const element_type& t, bool makes) : most_(1), grown_max_(makes ? kMostMade : kMost) {
  if (t.size <= kSmallBytes && (!t.footprint || t.footprint == detail::no_footprint)) most_ = kUnlimited;
}

void block_fit::learn(const block& b, std::uint32_t wanted_bytes) {
  if (b.empty()) return;
  const element_type& t = b.type();
  std::size_t bytes = b.size() * t.size + (t.footprint ? t.footprint(t, b.data(), b.size()) : 0);
  std::size_t each = std::max<std::size_t>(1, bytes / b.size());
  each_bytes_ = each >= each_bytes_ ? each : each_bytes_ - (each_bytes_ - each) / kForgets;
  std::size_t grown = std::min<std::size_t>(grown_max_, std::size_t{std::max(most_, b.size())} * 2);
  most_ = static_cast<std::uint32_t>(std::clamp<std::size_t>(wanted_bytes / each_bytes_, 1, grown));
}

}  // namespace sluice::lib
