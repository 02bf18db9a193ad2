// SPDX-License-Identifier: Apache-2.0
// What the operators' sources share: a few words on top of the block protocol.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "coro/position_records.hpp"
#include "op/open_context.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/op/functions.hpp"

namespace sluice::lib {

/// More elements than any stream has, and safe to add to.
inline constexpr std::uint64_t kPassAll = ~std::uint64_t{0} >> 2;

/// A stream of nothing.
erased_stream empty_stage(outlet out);

/// A stream that fails at once.
erased_stream failed_stage(outlet out, status why);
/// What a user's function makes of `in`, its coroutines labelled for errors. Empty where it throws or makes no stream;
/// `why` then tells.
erased_stream make_user_stage(const stream_function& f, erased_stream in, status& why);
/// The same as a stage: where the function makes no stream, the first request fails.
erased_stream open_user_stage(const node& n, erased_stream in);

/// The elements of `whole` from `first` on. What is still live in front of them is dropped: blocks are moved out of from
/// their owner's front.
block tail_of(const block& whole, std::uint32_t first);

/// Moves n elements to uninitialised room; the sizes of numbers, pointers, records and strings without a call.
inline void relocate(const element_type& t, char* to, char* from, std::size_t n) {
  if (t.relocatable) std::memcpy(to, from, n * t.size);
  else t.relocate(t, to, from, n, t.size, t.size);
}

/// The position of a stream that a stage opens itself: its own, or the restored one until it is opened.
void save_inner(position_writer& w, erased_stream& in, const std::string& restored);

// --- For op_info. ---

/// The output type is the input's; the function's; the reader's or opening function's. The function's input must fit.
const element_type* same_type(const node& n, std::string& why);
const element_type* type_of_function(const node& n, std::string& why);
const element_type* type_of_inner(const node& n, std::string& why);
template <class F> bool is_a(const stage_function& f) { return dynamic_cast<const F*>(&f) != nullptr; }

}  // namespace sluice::lib
