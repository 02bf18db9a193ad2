// SPDX-License-Identifier: Apache-2.0
// The input streams of a stage: pointers to those parameters of its coroutine that are streams, in order.
//
// The promise of a stage fills the list when the coroutine is called. It then reads positions, keeps marks and checks
// for possible waits of every input without knowing the coroutine. A parameter is an input if it is a stream, a
// std::vector of streams, or has a member each_input(f) that calls f with each of its streams (input_set).
//   erased_stream take_loop(outlet out, saved<std::uint64_t> left, erased_stream in);           // one input: `in`
//   erased_stream zip_loop(outlet out, input_set in);                                    // all streams of the set
//   stream<std::int64_t> sums(saved<int> n, std::vector<stream<std::int64_t>> in);       // all streams of the vector
//
// Invariant: the streams keep their addresses while the coroutine lives; a vector of streams must not be resized.
// Owns:   nothing; the streams live in the coroutine's frame.
// Thread: not safe for concurrent use; used by the stage's thread and, at rest, by its consumer's.
// Cost:   a single input, the usual case, needs no allocation.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sluice/base/assert.hpp"

namespace sluice::lib {

class stream_base;

/// One input, and its position at the resume point of its stage (element_stage::cut; element stages only).
struct stage_input {
  stream_base* stream = nullptr;
  /// The resume point, as the address of the next element in the input's current block. Cheap to record for every
  /// element. element_stage::settle_cut() converts it into an ordinal before the input gets another block.
  char* cut_cursor = nullptr;
  std::uint64_t cut_ordinal = 0;  ///< the resume point as the ordinal of the input's next element, once settled
};

class input_list {
 public:
  input_list() = default;
  input_list(const input_list&) = delete;
  input_list& operator=(const input_list&) = delete;
  ~input_list() {
    if (all_) free_all();
  }
  /// Appends an input. Called by the constructor of the stage's promise only. Errors: std::bad_alloc.
  void add(stream_base& in);
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  stage_input* begin() noexcept { return size_ > 1 ? all_ : &one_; }
  stage_input* end() noexcept { return begin() + size_; }
  const stage_input* begin() const noexcept { return size_ > 1 ? all_ : &one_; }
  const stage_input* end() const noexcept { return begin() + size_; }
  /// The first input. If the list is empty, an input whose stream is null.
  stage_input& first() noexcept { return *begin(); }
  const stage_input& first() const noexcept { return *begin(); }
  /// The first input, without a branch. REQUIRES: size() <= 1.
  stage_input& only() noexcept {
    SLUICE_REQUIRES(size_ <= 1, "the stage has several inputs");
    return one_;
  }

 private:
  void free_all() noexcept;

  stage_input one_;
  stage_input* all_ = nullptr;  ///< all inputs if the stage has several, else null; owned
  std::uint32_t size_ = 0, room_ = 0;
};

namespace detail {

template <class A> inline constexpr bool is_stream_vector = false;
template <class S, class Alloc>
inline constexpr bool is_stream_vector<std::vector<S, Alloc>> = std::is_base_of_v<stream_base, S>;

struct takes_any_input {
  void operator()(stream_base&) const {}
};
/// A type of parameter that contains any number of input streams.
template <class A> concept holds_inputs = is_stream_vector<A> || requires(A& a) { a.each_input(takes_any_input()); };

template <class A> inline constexpr bool is_input = std::is_base_of_v<stream_base, A> || holds_inputs<A>;

}  // namespace detail

}  // namespace sluice::lib
