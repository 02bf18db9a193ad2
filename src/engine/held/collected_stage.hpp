// SPDX-License-Identifier: Apache-2.0
// The loop of a stage that reads its whole input and then delivers what it has made of it: group_by, top.
//
//   return collected_stage(std::move(out), std::move(results), context.open(n.inputs[0]), std::move(from), gate);
//
// Elements whose function fails are dropped or end the stage, as its error policy says. While the input is read the
// stage is never at rest, so a position before the first result is that of the stage's start.
#pragma once

#include <memory>

#include "engine/held/final_elements.hpp"
#include "engine/lowering/error_gate.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

/// What a stage collects of its input.
class collector {
 public:
  collector() = default;
  collector(const collector&) = delete;
  virtual ~collector() = default;
  /// Called before each request for more input.
  virtual void before_request(erased_stream& /*in*/) {}
  /// Consumes elements of the input's current view, up to the first that fails, which stays: its error, or ok. A failed
  /// element leaves no trace.
  virtual status take(erased_stream& in) = 0;
  /// Called after take(). Errors: resource_exhausted.
  virtual status charge() = 0;
  /// Adds the results in their order. Errors: that of a result, which is left out; the next call continues after it.
  virtual status finish(final_elements& results) = 0;
};

erased_stream collected_stage(outlet out, saved<saved_final_elements> kept, erased_stream in,
                              std::unique_ptr<collector> from, error_gate gate);

}  // namespace sluice::lib
