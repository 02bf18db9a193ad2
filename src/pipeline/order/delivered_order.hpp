// SPDX-License-Identifier: Apache-2.0
// Counts the order fingerprint of a run (pipeline/order_fingerprint.hpp) at the consumer's end of its stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "op/shard/shard_rest.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/pipeline/order_fingerprint.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// The numbers, upstream of the `shard` of a plan, of the rows that its consumer gets.
struct row_numbers {
  bool is_known = true;  ///< false: rows are not elements of the shard
  std::uint64_t shards = 1, index = 0;
  shard_rest rest = {};

  /// Returns the first one at or after `x`.
  std::uint64_t at_or_after(std::uint64_t x) const { return rest.next(x, shards, index); }
  std::uint64_t after(std::uint64_t x) const { return x >= rest.tail() ? x + shards : at_or_after(x + 1); }
};
/// `drops_elements`: by the run's error policy. Returns those of a run from its beginning: `rest` is empty.
row_numbers row_numbers_of(const node& written, bool drops_elements);
/// The shard that row_numbers_of() found; null: none.
const node* shard_of_consumers(const node& written);

/// The fingerprints at the elements that the consumer may stand at: those of the last block, and some before.
/// Thread: that of the stage; others while no request is outstanding.
class order_log {
 public:
  /// `ordinal`: of the stage, where the elements before have `start`.
  order_log(order_fingerprint start, std::uint64_t ordinal, row_numbers numbers);
  /// Counts the elements of a block, the first of which is element `ordinal` of the stage.
  void add(std::uint64_t ordinal, const block& elements);
  /// Returns the fingerprint of the elements before `ordinal`. is_counted is false if they are too long ago.
  order_fingerprint at(std::uint64_t ordinal) const;

 private:
  struct sums {
    std::uint64_t ordered = 0, rows = 0, unordered = 0, across = 0;
    std::uint64_t next = 0;  ///< the number of the next row
  };
  void forget_old();

  const row_numbers numbers_;
  bool is_across_counted_;
  std::uint64_t since_ = 0;
  std::uint64_t first_ = 0;    ///< the ordinal of sums_[0]
  std::uint64_t counted_ = 0;  ///< elements of sums_[0]
  std::vector<sums> sums_;     ///< of the elements before first_, first_ + 1 …
  std::uint64_t stride_ = 1;
  std::vector<std::uint64_t> milestones_;
};

/// The stage at the end of a run that counts. It makes the elements of its input.
erased_stream count_order(erased_stream in, std::shared_ptr<order_log> log);
/// Returns false if the elements contain parts whose contents are not known.
bool can_count_order(const element_type& t);

/// The name of the stage, and its site in runs of a plan.
inline constexpr const char* kOrderStage = "order_fingerprint";
std::uint32_t order_site(const node& written);

/// As bytes of a checkpoint; read: false for damaged ones.
std::string written_order(const order_fingerprint& print);
bool read_order(std::string_view bytes, order_fingerprint& to);
/// Sums of consumers that divide a plan; not counted if one of them is not.
order_fingerprint union_of(const std::vector<order_fingerprint>& all);

/// A line of a report or a checkpoint: "order fingerprint: 0123456789abcdef, of 12 elements …".
std::string text_of_order(const order_fingerprint& print);

}  // namespace sluice::lib
