// SPDX-License-Identifier: Apache-2.0
// The elements that the consumers of an earlier run left, when `shard` has another number of shards in a resumed run.
//
//   shard_rest rest;
//   rest.add({.shards = 2, .delivered = {12, 10}});   // of shard(2, 0) | shard(2, 1) 12 and 10 elements were delivered
//   rest.next(0, 8, 3)                                // the number of the next element of shard(8, 3), at or after 0
//
// Input elements that earlier shards have delivered belong to no shard. The others are numbered again, in order, and element
// k of this rest belongs to shard k mod n. A run that is resharded several times has a layer for each time.
// Cost: next() is O(1) after the last delivered element, and O(shards) for each element between the first one that is not
//       delivered and that one.
// Thread: immutable after it is made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {

struct delivered_shards {
  std::uint64_t shards = 1;
  std::vector<std::uint64_t> delivered;  ///< by each shard

  /// Returns true if the delivered elements are the first ones, so that the rest follows them.
  bool is_prefix() const;
  /// Returns the number of delivered elements before input `x`.
  std::uint64_t delivered_before(std::uint64_t x) const;
  bool has_delivered(std::uint64_t x) const { return x / shards < delivered[x % shards]; }
};

class shard_rest {
 public:
  static constexpr std::size_t kLayersMax = 64;
  static constexpr std::uint64_t kShardsMax = std::uint64_t{1} << 16;  ///< of a layer
  /// The most inputs between the first one that is not delivered and the last delivered one: next() looks at each.
  static constexpr std::uint64_t kSpreadMax = std::uint64_t{1} << 24;

  bool empty() const { return layers_.empty(); }
  /// Errors: failed_precondition: the shards are too far apart, or too many layers.
  status add(delivered_shards layer);

  /// Returns the first input at or after `x` that belongs to the shard.
  std::uint64_t next(std::uint64_t x, std::uint64_t shards, std::uint64_t index) const;
  /// From this input on, the elements of a shard are at equal distances.
  std::uint64_t tail() const { return tail_; }
  /// Returns the number of elements of the shard in [from, to).
  std::uint64_t count(std::uint64_t from, std::uint64_t to, std::uint64_t shards, std::uint64_t index) const;

  void save(position_writer& w) const;
  void load(position_reader& r);

 private:
  status add_one(delivered_shards layer);
  void measure();
  /// Sets `number` to the number of input `x` in the rest, and returns 0. If an earlier shard has delivered it, returns how
  /// many inputs from `x` on are delivered at least.
  std::uint64_t delivered_at(std::uint64_t x, std::uint64_t& number) const;

  std::vector<delivered_shards> layers_;
  std::uint64_t tail_ = 0;   ///< all elements from this input on are in the rest
  std::uint64_t total_ = 0;  ///< the number of delivered elements
};

}  // namespace sluice::lib
