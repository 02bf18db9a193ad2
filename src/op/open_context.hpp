// SPDX-License-Identifier: Apache-2.0
// What lowering a plan into streams needs to know about the run, and how errors in elements are dealt with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "op/channel_memory.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/plan/node.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice {

/// Decides what a bad element does, at the call that failed: the stage stops, or goes on with the next.
class error_gate {
 public:
  error_gate(run_context* run, std::string label) : run_(run), label_(std::move(label)) {}
  error_gate(const error_gate&) = default;

  /// Bad elements may be passed over, so outputs cannot be counted by inputs.
  bool skips() const;
  /// Ok: go on with the next element. Else: end the stage with this. `element`: the input's ordinal, for the message.
  status settle(const status& why, std::uint64_t element = provenance::kUnknown) const;
  const std::string& label() const { return label_; }

 private:
  run_context* run_;
  std::string label_;
};

struct open_context {
  std::shared_ptr<run_context> run;
  std::uint64_t epoch = 0;  ///< which pass over the data this is; nested repeats are mixed in

  std::shared_ptr<size_book> sizes;  ///< what channels have learned of their elements
  unsigned depth = 0;                ///< stages above the one being opened, within its plan

  explicit open_context(std::shared_ptr<run_context> r) : run(std::move(r)), sizes(std::make_shared<size_book>()) {}
  /// Lowers a plan: makes its tree of streams, not yet started.
  erased_stream open(const node_ptr& plan) const;
  open_context in_epoch(std::uint64_t number) const;
  error_gate gate(const node& n) const;
  /// What a channel of the stage is charged to; channels of the same stage in sibling plans learn from each other.
  channel_memory memory_of(std::string_view stage) const { return {run, stage, sizes->estimate(depth, stage)}; }
  /// What a knob starts at: its value, or for autotune twice the workers.
  std::uint32_t limit_of(knob k) const;
  /// The seed a stage draws with: its own, or one of the run's that no other stage shares.
  std::uint64_t seed_of(const node& n, std::int64_t own) const;
};

}  // namespace sluice
