// SPDX-License-Identifier: Apache-2.0
// A run's stream whose elements have no C++ type here. open_run() returns it for a plan that was read from text or
// JSON.
//
//   any_stream s = open_run(rt, plan);
//   while (auto b = co_await s.next_block({.elements = 256}))
//     for (std::uint32_t i = 0; i != b.size(); ++i) print(s.type(), b.at(i));
//
// A block is a view of 1..elements elements. The caller may read, change or move from them until its next call on this
// stream, which destroys them. An empty block is the end. The elements' descriptor is type() (element/type.hpp).
// Errors: the same as for stream<T>: in a task next_block() throws `error`, and try_next_block() returns the status.
//         After an error the stream stays failed. Misuse (two requests at once, an empty stream) throws
//         failed_precondition.
// Cancel: a stop makes the next fill fail with `cancelled`; a stop is never an end.
// Thread: one consumer at a time; request_stop() from any thread.
// Owns:   its run, as stream<T> does: destroying the stream stops the run; cleanup() also waits for the end of the run.
#pragma once

#include <utility>

#include "sluice/coro/checkpoint.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

struct run_report;

class [[nodiscard]] any_stream : private erased_stream {
  friend struct detail::engine_access;

 public:
  any_stream() = default;
  explicit any_stream(erased_stream&& s) noexcept : erased_stream(std::move(s)) {}
  explicit operator bool() const { return erased_stream::operator bool(); }

  using erased_stream::attempt;
  using erased_stream::next_block;
  using erased_stream::try_next_block;
  using erased_stream::type;

  /// The position from which the next element is made again. Only between calls. Cost: see stream<T>::position().
  checkpoint position() { return sealed_position(); }
  /// Returns the counts of the run so far, and the verdict on it (pipeline/iterate.hpp). Only between calls.
  run_report report() const;
  /// Asks all stages upstream to stop; the next fill fails with `cancelled`. Thread: any.
  void request_stop() noexcept {
    if (run_) run_->request_stop();
  }
};

namespace detail {

inline erased_stream& engine_access::of(any_stream& s) { return s; }
inline const erased_stream& engine_access::of(const any_stream& s) { return s; }
inline erased_stream engine_access::release(any_stream&& s) { return std::move(static_cast<erased_stream&>(s)); }

}  // namespace detail
}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::any_stream;

}  // namespace sluice
