// SPDX-License-Identifier: Apache-2.0
// The order fingerprint of a run: digests of the elements that it has delivered, which two runs compare.
//
//   auto s = ds.iterate(rt, {.order_fingerprint = true});
//   …
//   order_fingerprint print = s.report().order;           // at any element
//
// Three digests are counted. `ordered` depends on the elements and their order: it is equal for any parallelism, knobs,
// rules, sizes of requests, and after a resume, if the plan's order is deterministic. `unordered` is a sum over the
// elements, the rows of batches one by one. So the sums of consumers that divide a plan (shard) add up to that of the
// whole plan, modulo 2^64, also after their number has changed (pipeline/reshard.hpp). `across` is such a sum that depends
// on the order, too: over the rows with their numbers upstream of the plan's `shard`. It is counted if each row is one
// element of the shard: its stages downstream yield one element for each, and drop none, or are `batch`.
//
// Format: digests are the same on every machine and in every later version. They do not resist an adversary.
// Cost:   about 3.4 ns per number, 45 ns per record of 165 bytes, and 0.15 ns per byte of long ones; nothing if it is off.
// Limits: the contents of elements must be known to the library (element/serialise.hpp): else iterate() throws
//         invalid_argument.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::lib {

struct order_fingerprint {
  bool is_counted = false;
  /// The element from which `elements` and `ordered` count: 0, or the one at which a run was resumed from a checkpoint
  /// without fingerprint. After a reshard: 0, and they count from there.
  std::uint64_t since = 0;
  std::uint64_t elements = 0;
  std::uint64_t ordered = 0;
  std::uint64_t rows = 0;       ///< elements, and instead of batches their rows
  std::uint64_t unordered = 0;  ///< of the rows
  bool is_across_counted = false;
  std::uint64_t across = 0;      ///< of the rows, with their numbers upstream of `shard`
  std::uint64_t next_input = 0;  ///< the number there from which the consumer's next row is looked for
  /// `ordered` after each `stride` elements, at most 64 values, which show where two runs diverge.
  std::uint64_t stride = 1;
  std::vector<std::uint64_t> milestones = {};

  friend bool operator==(const order_fingerprint&, const order_fingerprint&) = default;
};

/// The place at which two runs diverge, as far as their fingerprints show.
struct order_divergence {
  bool is_different = false;
  /// The first `equal` elements are the same, and before the element `differs_by` a difference begins. Valid if
  /// is_different.
  std::uint64_t equal = 0;
  std::uint64_t differs_by = 0;
};
/// Compares the elements that both have counted. REQUIRES: both count from the same element.
order_divergence divergence_of(const order_fingerprint& a, const order_fingerprint& b);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::divergence_of;
using lib::order_divergence;
using lib::order_fingerprint;

}  // namespace sluice
