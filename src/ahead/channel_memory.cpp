// SPDX-License-Identifier: Apache-2.0
#include "ahead/channel_memory.hpp"

#include <algorithm>

#include "ahead/block_size.hpp"
#include "sluice/coro/demand.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kUnknownBytesMax = std::size_t{16} << 20;
constexpr std::size_t kUnknownShare = 2;  // of the budget
constexpr std::size_t kBlockShare = 64;   // of the budget
constexpr std::size_t kBlockBytesMin = std::size_t{16} << 10;
constexpr std::size_t kRoomKept = std::size_t{64} << 10;
// Allocations of at least this size have pages of their own, which return to the system when another thread frees them.
// Then the pages of the next element fault again, which costs as much as several copies.
constexpr std::size_t kMappedBytes = std::size_t{256} << 10;
constexpr std::size_t kMappedFactor = 4;

}  // namespace

std::size_t channel_memory::each_bytes(const element_type& in, const element_type& out) const {
  if (std::size_t seen = expects_largest_ ? estimate().largest_bytes() : estimate().each_bytes()) return seen;
  return owns_bytes(in) || owns_bytes(out) ? 0 : in.size + out.size;
}

std::size_t channel_memory::expected_bytes(const element_type& in, const element_type& out, std::size_t n) const {
  if (std::size_t each = each_bytes(in, out)) return n * each;
  return std::min(kUnknownBytesMax, ledger().budget_bytes() / kUnknownShare);
}

std::uint32_t channel_memory::elements_that_fit(const element_type& in, const element_type& out,
                                                std::uint32_t n) const {
  std::size_t each = each_bytes(in, out);
  if (each == 0) return 1;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(block_bytes() / each, 1, std::max(n, 1u)));
}

std::uint32_t channel_memory::elements_at_once(const element_type& in, const element_type& out) const {
  constexpr std::size_t kAtOnce = 8;
  std::size_t each = each_bytes(in, out);
  return each && each * kAtOnce <= block_bytes() ? kAtOnce : 1;
}

std::uint32_t channel_memory::block_bytes() const {
  std::size_t share = std::max(kBlockBytesMin, ledger().budget_bytes() / kBlockShare);
  return static_cast<std::uint32_t>(std::min<std::size_t>(share, demand::kBytes));
}

std::size_t payload_bytes(slab& s) {
  const element_type& t = s.type();
  return s.size() * t.size + (t.footprint ? t.footprint(t, s.begin(), s.size()) : 0);
}

void drop_large_room(slab& s) {
  s.clear();
  if (s.capacity() * s.type().size > kRoomKept) s.give_back();
}

void channel_memory::credit(charge c) const {
  ledger().add_guess(-static_cast<std::ptrdiff_t>(c.guessed_bytes), line_);
  ledger().release(c.bytes, line_);
}

void channel_memory::weigh(const element_type& in, const element_type& out, bool several) const {
  std::size_t each = std::max<std::size_t>(estimate().each_bytes(), std::max<std::size_t>(1, out.size));
  // Columns and the bytes of tensors are buffers of the run (base/buffer.hpp).
  const bool recycled = out.kind == kind::batch || out.kind == kind::tensor;
  const bool owners = (owns_bytes(in) && !inputs_are_in_buffers_) || owns_bytes(out);
  if (owners && each >= kMappedBytes && !recycled) each *= kMappedFactor;
  costs().weigh(*run_->exec, {.element_bytes = each,
                              .owners = owners,
                              .block_bytes = block_bytes(),
                              .block_elements = block_size::kElementsMax,
                              .block_time = block_size::kTime,
                              .several = several});
}

}  // namespace sluice::lib
