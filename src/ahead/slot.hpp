// SPDX-License-Identifier: Apache-2.0
// A slot of a channel: one block, with its mark, its charge to the ledger and the errors of elements dropped before it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/coro/dropped_errors.hpp"
#include "sluice/coro/environment.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

/// An input without an output: a bad element that is dropped.
struct dropped_input {
  std::uint32_t number = 0;  ///< within its slot
  status why;
  // These members are the same as in dropped_error.
  error_account* account = nullptr;
  quarantine_sink* into = nullptr;
  std::shared_ptr<const std::string> bytes = {};

  dropped_error taken() { return {std::move(why), 1, account, into, std::move(bytes)}; }
};

/// Allocated once and reused. `at` determines the owner: the pump or the computation while the slot is being filled,
/// the reader after that.
struct ring_slot {
  ring_slot(const element_type& in, const element_type& out) : input(in), output(out) {}
  slab input;
  slab output;                         ///< unused without a computation: the inputs are the outputs
  std::uint32_t input_at = 0;          ///< inputs before this one had their outputs delivered in earlier rounds
  std::uint32_t count = 0;             ///< inputs of this round
  std::uint32_t rest = 0;              ///< inputs of the next round: their outputs had no room in this one
  std::uint64_t first = 0;             ///< ordinal of this round's first input
  dropped_errors missed;               ///< errors that the stream of inputs met before these
  std::vector<dropped_input> dropped;  ///< ascending; the reader reports their places among the outputs
  std::optional<mark> taken;           ///< the input's position before this slot
  status why;  ///< error of the first input without an output, reported after all outputs of this slot
  std::size_t charged_bytes = 0;
  std::size_t input_bytes = 0;     ///< the memory of all inputs, before a computation moves them
  std::size_t guessed_bytes = 0;   ///< the part of charged_bytes that is a guess
  slab* outputs_in = nullptr;      ///< in state `done`: the slab with the outputs,
  char* outputs_at = nullptr;      ///< the first of them,
  std::uint32_t output_count = 0;  ///< and their number before any was moved out
  std::uint32_t delivered = 0;     ///< outputs the reader has handed on (unordered reading)
  /// For a trace (coro/trace_log.hpp). `track`: of the thread that has put the block into the channel; 0: not traced.
  struct traced {
    bool is_wanted = false;
    std::uint32_t track = 0;
    time_point began{}, put{};
  } trace;
  std::uint32_t waiting = 0;  ///< inputs that still count as in flight: their outputs are not handed on
  bool handed_on = false;     ///< all outputs are: the slot is the consumer's until it is freed
  enum class state : std::uint8_t { free, filling, done } at = state::free;

  /// Forgets the block before.
  void begin_block() {
    count = 0;
    waiting = 0;
    handed_on = false;
    why = status();
    begin_outputs();
  }
  /// The inputs whose outputs had no room come next. Returns the number of inputs that no longer count as in flight.
  std::uint32_t begin_rest() {
    std::uint32_t left = waiting;
    first += count;
    input_at += count;
    count = waiting = std::exchange(rest, 0);
    begin_outputs();
    return left;
  }

  /// Returns all outputs, also those moved out already: use tail_of() for the rest.
  block outputs() const { return {outputs_in, &outputs_in->type(), outputs_at, output_count}; }
  /// Returns the number of outputs before dropped[i]; all outputs if dropped[i] does not exist.
  std::uint32_t outputs_before(std::size_t i) const {
    return i == dropped.size() ? output_count : dropped[i].number - static_cast<std::uint32_t>(i);
  }

 private:
  void begin_outputs() {
    delivered = 0;
    missed.clear();
    dropped.clear();
    taken.reset();
  }
};

}  // namespace sluice::lib
