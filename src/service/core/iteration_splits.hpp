// SPDX-License-Identifier: Apache-2.0
// The splits of one iteration: their payloads, which consumer reads which, and which are done. Each change also adds
// what must be stored to a `store_writes`.
//
//   listed_round round = splits.prepare(0, payloads, /*is_last=*/true);   // chunks to store
//   splits.add(round, writes);                                     // once these are stored, or with them in one commit
//   std::optional<std::uint64_t> s = splits.assign(consumer, writes);
//   splits.set_done(*s, writes);
//
// Memory: the payloads, and about 5 bytes for each split. Loading costs one operation for each stored chunk, and copies
//         the numbers of the assigned splits.
// Order:  splits are assigned in the order of their numbers; those that return to the pool come first.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/core/store_records.hpp"
#include "sluice/io/meta_store.hpp"

namespace sluice::lib {

/// Writes by key; a later write of a key replaces the earlier one.
using store_writes = absl::btree_map<std::string, std::optional<std::string>>;

struct split_limits {
  std::size_t chunk_bytes = std::size_t{512} << 10;  ///< of payloads in one value of the store
  std::uint32_t chunk_assignments = 256;             ///< a commit writes the last chunk of a consumer again
  std::uint32_t chunk_done = 4096;                   ///< and the chunks of bits that changed
};

struct listed_round {
  round_record record;
  std::vector<std::string> chunks;
};

struct split_consumer {
  std::string name;
  consumer_record record;
  std::vector<std::uint64_t> ordinals;                        ///< its k-th split
  absl::btree_set<std::uint64_t> open;                        ///< those that are not done
  absl::flat_hash_map<std::uint64_t, std::uint64_t> offsets;  ///< as reported, of open splits
  absl::flat_hash_map<std::uint64_t, std::uint64_t> waits;    ///< open_split::waited_ms of the last report
  time_point last_seen{};
  // Not stored: of open_job since this dispatcher has started.
  std::uint64_t incarnation = 0;       ///< the last start of the consumer; 0: unknown
  std::uint64_t start = 0;             ///< its open_job_reply::start
  std::vector<std::uint64_t> earlier;  ///< starts before, the last ones
  std::string host;                    ///< of the last start
};

class iteration_splits {
 public:
  iteration_splits(std::string iteration, const split_limits& limits)
      : iteration_(std::move(iteration)), limits_(limits) {}

  // --- listing
  listed_round prepare(std::uint64_t round, const std::vector<std::string>& payloads, bool is_last) const;
  /// The chunks must be stored already, or be among the writes.
  void add(listed_round round, store_writes& writes);
  /// No further rounds follow.
  void end_listing() { is_all_listed_ = true; }
  bool is_all_listed() const { return is_all_listed_; }
  std::uint64_t rounds() const { return rounds_.size(); }
  std::uint64_t listed() const { return holder_.size(); }
  std::uint64_t done() const { return done_count_; }
  std::uint64_t unassigned() const { return holder_.size() - next_ + returned_.size(); }
  std::uint64_t assigned() const { return holder_.size() - unassigned(); }

  // --- one split
  std::string payload(std::uint64_t split) const;
  const round_record& round_of(std::uint64_t split) const;
  bool is_done(std::uint64_t split) const { return done_[split / 64] >> split % 64 & 1; }
  /// Null: no consumer has it.
  const split_consumer* holder(std::uint64_t split) const;
  void set_done(std::uint64_t split, store_writes& writes);
  /// Off: the task's worker was removed.
  void set_removed(std::uint64_t split, store_writes& writes);

  // --- consumers
  split_consumer* consumer(std::string_view name);
  split_consumer& add_consumer(std::string_view name, consumer_record record, store_writes& writes);
  std::vector<split_consumer*> consumers();
  /// Assigns the next split of the pool as the consumer's next ordinal; nullopt: the pool is empty.
  std::optional<std::uint64_t> assign(split_consumer& c, store_writes& writes);
  /// Closes the consumer: its splits that are not done return to the pool.
  void close(split_consumer& c, store_writes& writes);

  // --- storing
  void remove_all(store_writes& writes) const;
  /// Of a list of a store, in any order within a kind: rounds first, then splits, done, consumers, assigned; `rest` is
  /// what follows the iteration in the key. Returns what is wrong with the value, or an empty text.
  std::string load(std::string_view kind, std::string_view rest, std::string_view value);
  /// After the last load(). Returns what is missing, or an empty text.
  std::string finish_loading();

 private:
  struct payload_chunk {
    std::uint64_t first = 0;
    std::string bytes;
    mutable std::vector<std::uint32_t> places;  ///< made at the first use
  };
  void hold(std::uint64_t split, std::uint32_t holder);
  void write_assigned(const split_consumer& c, std::uint64_t chunk, store_writes& writes) const;
  void write_done(std::uint64_t chunk, store_writes& writes) const;
  std::string load_assigned(std::string_view rest, std::string_view value);

  std::string iteration_;
  split_limits limits_;
  std::vector<round_record> rounds_;
  std::vector<payload_chunk> chunks_;
  std::vector<std::uint32_t> holder_;  ///< of each split: 1 + the consumer's index; 0: none
  std::vector<std::uint64_t> done_;    ///< bits
  std::uint64_t done_count_ = 0;
  std::uint64_t next_ = 0;                   ///< no split from here on was ever assigned
  absl::btree_set<std::uint64_t> returned_;  ///< below next_, not done, without a holder
  std::vector<std::unique_ptr<split_consumer>> consumers_;
  absl::btree_map<std::string, std::uint32_t, std::less<>> index_;  ///< of a consumer's name
  std::uint64_t chunks_stored_ = 0;  ///< under /splits/, also of rounds that were never added
  bool is_all_listed_ = false;
};

}  // namespace sluice::lib
