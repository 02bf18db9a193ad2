// SPDX-License-Identifier: Apache-2.0
// The streams that a stage takes from, by address: its coroutine's parameters, in their order.
//
// Which parameters are inputs: a stream; and whatever has `each_input(f)`, which calls f with each of its streams (input_set),
// or is a std::vector of streams. Their addresses must not change while the coroutine lives: such a vector does not grow.
// Cost: one input, the usual number, has its place in the list itself; the second makes an allocation.
// Thread: none.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace sluice::lib {

class stream_base;

/// One input, and where it stood at its stage's resume point (element stages only: element_stage::cut).
struct stage_input {
  stream_base* stream = nullptr;
  char* cut_cursor = nullptr;     ///< as a place in the view, until it is settled
  std::uint64_t cut_ordinal = 0;  ///< as an ordinal
};

class input_list {
 public:
  /// Errors: std::bad_alloc.
  void add(stream_base& in) {
    if (size_ == 0) {
      one_.stream = &in;
    } else {
      if (size_ == 1) all_.push_back(one_);
      all_.push_back({&in});
    }
    ++size_;
  }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  stage_input* begin() noexcept { return size_ > 1 ? all_.data() : &one_; }
  stage_input* end() noexcept { return begin() + size_; }
  const stage_input* begin() const noexcept { return size_ > 1 ? all_.data() : &one_; }
  const stage_input* end() const noexcept { return begin() + size_; }
  /// The first one; its stream is null where there is none.
  stage_input& first() noexcept { return *begin(); }
  const stage_input& first() const noexcept { return *begin(); }
  /// The same where there is one at most.
  stage_input& only() noexcept { return one_; }

 private:
  stage_input one_;
  std::vector<stage_input> all_;  ///< where there are several: all of them
  std::uint32_t size_ = 0;
};

namespace detail {

template <class A> inline constexpr bool is_stream_vector = false;
template <class S, class Alloc>
inline constexpr bool is_stream_vector<std::vector<S, Alloc>> = std::is_base_of_v<stream_base, S>;

struct takes_any_input {
  void operator()(stream_base&) const {}
};
/// A parameter that holds any number of inputs.
template <class A> concept holds_inputs = is_stream_vector<A> || requires(A& a) { a.each_input(takes_any_input()); };

template <class A> inline constexpr bool is_input = std::is_base_of_v<stream_base, A> || holds_inputs<A>;

}  // namespace detail

}  // namespace sluice::lib
