// SPDX-License-Identifier: Apache-2.0
// Fetches the elements that a stage held from its input again after a resume.
//
//   class buffer_fetch final : public fetch_list { … };        // the elements, and the slot of each
//   buffer_fetch list(table, held);
//   auto fetching = fetch_held(in, list, memory);
//   co_await fetching;                                         // all are in their slots, and `in` is at the element after them
//
// The input begins at or before the oldest held element, because the stage has called hold_from. Elements between held
// ones are skipped and not built. Each element is built in the slot in which it stays, so that none exists twice.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/held/held_elements.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

/// The slot in which one element is built. The holder has allocated its slots (held_elements::make_places).
struct held_place {
  held_elements* in = nullptr;
  std::uint32_t place = 0;
};

/// The elements that a stage held, in the order of its input.
class fetch_list {
 public:
  /// The largest number of consecutive elements that one request fetches.
  static constexpr std::size_t kRunMax = 1024;

  /// Returns the number of elements.
  virtual std::uint64_t elements() const = 0;
  /// Returns a lower bound of their ordinals.
  virtual std::uint64_t first() const = 0;
  /// Returns the ordinal of the element that the stage consumes next, which is higher than all of them.
  virtual std::uint64_t next() const = 0;
  /// Stores the slots of the next consecutive elements, from ordinal `from` on, in `places`, at most kRunMax. Returns
  /// the ordinal of the first. It may search a part of the rest only: if that part has none, `places` is empty, and the
  /// search continues at the returned ordinal.
  virtual std::uint64_t next_run(std::uint64_t from, std::vector<held_place>& places) = 0;

 protected:
  ~fetch_list() = default;
};

/// Fetches all elements, then lets the input skip the rest up to next(). The bytes that the elements own are charged to
/// `memory`, which their holders share: an estimate before each request, the exact size after it. The coroutine yields
/// to others, ends at a stop, and requests marks along its way, since the next resume repeats it.
/// Errors: the input's; resource_exhausted; data_loss: the input ends before the last of them, or begins after the
///         first. The holder destroys the elements that were built before.
/// `in`, `list` and `memory` must outlive the task.
task<void> fetch_held(erased_stream& in, fetch_list& list, held_memory& memory);

/// Returns the error for an input that ended after `has` elements, although the checkpoint's run had consumed `had`.
status shorter_input(std::uint64_t has, std::uint64_t had, std::string_view label);

}  // namespace sluice::lib
