// SPDX-License-Identifier: Apache-2.0
// The line of the ledger to which the blocks of one channel are charged, and the expected size and cost of a block.
//
// The expected size of a block is charged before the pump may request it (slot_supply::grant), and corrected twice:
// when its inputs have been made, and when its outputs have. Before the first block the size of elements is not known,
// and a block is assumed to take half of the budget or 16 MiB, whichever is less, so that only few are requested until
// the first one has a size.
// Thread: any; immutable except for the estimate.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "runtime/sites/site_record.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class channel_memory {
 public:
  /// `of`: the stage that the channel belongs to. Its channels with the same `name` share what they learn.
  channel_memory(std::shared_ptr<run_context> run, site_record& of, std::string_view name)
      : run_(std::move(run)), record_(of.channel(name)), line_(record_.line()), counts_(of.counts()) {}

  const std::shared_ptr<run_context>& run() const { return run_; }
  memory_ledger& ledger() const { return *run_->ledger; }
  ledger_line& line() const { return line_; }
  channel_record& record() const { return record_; }
  size_estimate& estimate() const { return record_.sizes(); }
  cost_estimate& costs() const { return record_.costs(); }
  stage_counts& counts() const { return counts_; }

  /// Bytes charged for a slot, and the part of them that is a guess, because the size of elements is not known yet.
  struct charge {
    std::size_t bytes = 0, guessed_bytes = 0;
  };
  /// Credits a charge that no slot has. The ledger may call this channel's room_again(): no mutex may be locked.
  void credit(charge c) const;
  /// Returns true if the size of an element is known, false if it must be guessed.
  bool knows(const element_type& in, const element_type& out) const { return each_bytes(in, out) != 0; }
  /// Returns the number of bytes that n inputs and their outputs are expected to use.
  std::size_t expected_bytes(const element_type& in, const element_type& out, std::size_t n) const;
  /// Returns how many of n elements fit into the byte limit of a block; at least one.
  std::uint32_t elements_that_fit(const element_type& in, const element_type& out, std::uint32_t n) const;
  /// Returns the number of elements that may be computed before their size is checked.
  std::uint32_t elements_at_once(const element_type& in, const element_type& out) const;
  /// For blocks that cannot be cut short once started (a call that is awaited): expect the largest size seen, which is
  /// forgotten slowly.
  void expect_largest() { expects_largest_ = true; }
  /// For inputs that are ranges of the buffers of a file, many in each: they are neither allocated nor freed one by one.
  void expect_inputs_in_buffers() { inputs_are_in_buffers_ = true; }
  /// Decides from the known costs of this channel whether its blocks are light. `several`: other channels are pulled at
  /// the same time.
  void weigh(const element_type& in, const element_type& out, bool several) const;
  /// Returns the most bytes that a block should have: a small part of a small budget, so that several can be in flight.
  std::uint32_t block_bytes() const;

 private:
  /// Returns the size of one element, input and output together; 0 if it is not known yet.
  std::size_t each_bytes(const element_type& in, const element_type& out) const;

  std::shared_ptr<run_context> run_;
  channel_record& record_;
  ledger_line& line_;
  stage_counts& counts_;
  bool expects_largest_ = false;
  bool inputs_are_in_buffers_ = false;
};

/// Returns the number of bytes that the elements in a slab use.
std::size_t payload_bytes(slab& s);
/// Returns the unused bytes after the elements, which the slots of a channel retain.
inline std::size_t room_bytes(const slab& s) { return (s.capacity() - s.size()) * s.type().size; }
/// The bytes charged for an error that waits in a channel: its message, its provenance, perhaps an exception.
inline constexpr std::size_t kErrorBytes = 512;
/// Releases a slab's unused bytes if they are many: slots are reused, and slots that are not in flight are not charged.
void drop_large_room(slab& s);

}  // namespace sluice::lib
