// SPDX-License-Identifier: Apache-2.0
// The engine's view of a stream that a test holds: where it stands, its stage, its run.
#pragma once

#include <utility>

#include "sluice/coro/any_stream.hpp"
#include "sluice/coro/stream.hpp"

namespace sluice::lib::test {

template <class T> stream_base& tree_of(stream<T>& s) { return detail::engine_access::of(s); }
inline erased_stream& tree_of(any_stream& s) { return detail::engine_access::of(s); }
/// The stream itself, taken from its user.
inline erased_stream tree_of(any_stream&& s) { return detail::engine_access::release(std::move(s)); }

}  // namespace sluice::lib::test
