// SPDX-License-Identifier: Apache-2.0
// The engine's view of a stream that a test holds: where it stands, its stage, its run.
#pragma once

#include "sluice/coro/stream.hpp"

namespace sluice::lib::test {

template <class T> stream_base& tree_of(stream<T>& s) { return detail::engine_access::of(s); }

}  // namespace sluice::lib::test
