// SPDX-License-Identifier: Apache-2.0
// next_buffer: the buffer of a shuffle in the next epoch of a repeat, filled while that of this epoch empties.
//
//   next_buffer next(context, n.inputs[0], gate, size);       // in each epoch
//   erased_stream in = next.take_input();                     // empty: the epoch before has prepared nothing
//   status fits = next.move_elements_to(held);
//   …                                                         // the input ends
//   auto filling = next.fill(n);                              // before each n elements that are removed
//   co_await filling;
//   next.leave();                                             // at the end of the epoch
//
// An element of the next epoch replaces each one that leaves, so the end of an epoch takes no longer than any other part
// of it. The end of the next input, or its error, ends the filling; the next epoch requests again, and gets it then.
// Memory: charged like blocks of channels, which work ahead: it never makes a stage fail that holds memory. If the budget
//         has no room, the elements are discarded, and no further epoch is prepared. move_elements_to() charges them to the
//         buffer of the new epoch.
// Thread: that of the stage.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/held/held_elements.hpp"
#include "engine/inner/next_epoch.hpp"
#include "engine/lowering/open_context.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

class next_buffer {
 public:
  /// `context`: that of the stage. REQUIRES: context.epoch.links.
  next_buffer(const open_context& context, node_ptr input, const error_gate& gate, std::uint64_t size);
  next_buffer(const next_buffer&) = delete;
  ~next_buffer();

  /// Returns the input of this epoch, whose first elements have been read; an empty stream if nothing was prepared.
  erased_stream take_input();
  /// Moves these elements to `held`. Errors: resource_exhausted.
  status move_elements_to(held_elements& held);
  /// Reads up to n further elements of the next epoch.
  task<void> fill(std::uint64_t n);
  bool may_wait() const;
  /// Leaves what was read to the next epoch.
  void leave();

 private:
  struct part;
  bool begin();
  std::uint64_t room() const;
  void give_up();

  const open_context context_;
  const node_ptr input_;
  const error_gate gate_;
  const std::uint64_t size_;
  bool is_filling_ = true;      ///< the next epoch exists, and its input has neither ended nor failed
  std::unique_ptr<part> made_;  ///< of this epoch, until its elements are moved; then of the next one. Null: none.
};

}  // namespace sluice::lib
