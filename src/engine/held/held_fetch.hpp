// SPDX-License-Identifier: Apache-2.0
// Fetches the elements that a stage held from its input again, after a resume.
//
//   class buffer_fetch final : public fetch_list { … };        // which elements, and where each belongs
//   buffer_fetch list(table, held);
//   auto fetching = fetch_held(in, list, memory);
//   co_await fetching;                                         // they are in their slots, and `in` is at the element behind them
//
// The input begins at or before the oldest of them (the stage has called hold_from). The elements between them are
// skipped and not built. Each element is built in the slot in which it stays, so that none exists twice.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/held/held_elements.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

/// The slot in which one element is built. `in` has allocated its slots (held_elements::make_places).
struct held_place {
  held_elements* in = nullptr;
  std::uint32_t place = 0;
};

/// The elements that a stage held, in the order of its input.
class fetch_list {
 public:
  /// The most consecutive elements that are fetched with one request.
  static constexpr std::size_t kRunMax = 1024;

  /// The number of elements.
  virtual std::uint64_t elements() const = 0;
  /// A lower bound of their ordinals.
  virtual std::uint64_t first() const = 0;
  /// The ordinal of the element that the stage takes next: higher than any of them.
  virtual std::uint64_t next() const = 0;
  /// The next elements, from ordinal `from` on, that follow each other in the input: their slots, kRunMax at most.
  /// Returns the ordinal of the first. It may look at a part of the rest only: where that has none, `places` is empty,
  /// and the ordinal is where to look on.
  virtual std::uint64_t next_run(std::uint64_t from, std::vector<held_place>& places) = 0;

 protected:
  ~fetch_list() = default;
};

/// Fetches all elements, then has the input skip the rest up to next(). The bytes that they own are charged to
/// `memory`, which their holders share: an estimate, based on the elements that have come, before a request, and the
/// exact size after it. The coroutine yields to others, ends at a stop, and requests marks along its way, since the
/// next resume repeats it.
/// Errors: the input's; resource_exhausted; data_loss, where the input has ended before the last of them, or begins
///         behind the first. What was built by then is destroyed with its holder.
/// `in`, `list` and `memory` must outlive the task.
task<void> fetch_held(erased_stream& in, fetch_list& list, held_memory& memory);

/// The error for an input that ended after `has` elements, although the checkpoint's run had consumed `had`.
status shorter_input(std::uint64_t has, std::uint64_t had, std::string_view label);

}  // namespace sluice::lib
