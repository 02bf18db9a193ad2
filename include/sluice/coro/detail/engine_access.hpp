// SPDX-License-Identifier: Apache-2.0
// Converts the streams that users hold to the tree upstream of them, and back.
//
// stream<T> and any_stream derive from stream_base where users cannot see it, because many members of stream_base may
// be called in certain states only (coro/stream_base.hpp). Code that needs these members uses this class: the promises
// of stages, which register their inputs; adapters for other executors; reports on a run; tests.
// Thread: the stream's own: its consumer's.
// Cost:   none: these are conversions.
#pragma once

#include <utility>

#include "sluice/coro/detail/must_be_awaited.hpp"

namespace sluice::lib {

class any_stream;
class erased_stream;
class stream_base;

namespace detail {

struct engine_access {
  template <class T> static stream_base& of(must_be_awaited<T, stream_base>& s) { return s; }
  template <class T> static const stream_base& of(const must_be_awaited<T, stream_base>& s) { return s; }
  static erased_stream& of(any_stream& s);
  static const erased_stream& of(const any_stream& s);
  static stream_base& of(stream_base& s) { return s; }
  static const stream_base& of(const stream_base& s) { return s; }
  /// The stream of type Stream whose base is `s`. REQUIRES: `s` is the base of such a stream.
  template <class Stream> static Stream& typed(stream_base& s) {
    return static_cast<Stream&>(static_cast<must_be_awaited<typename Stream::value_type, stream_base>&>(s));
  }
  /// Converts a user's stream to the engine's; `s` is empty afterwards. REQUIRES: at rest.
  static erased_stream release(any_stream&& s);
};

}  // namespace detail
}  // namespace sluice::lib
