// SPDX-License-Identifier: Apache-2.0
// Windows over a stream: what window and window_batch share. They differ in what a window becomes.
//
//   return windows_loop(out, std::move(in), shape, std::make_unique<list_windows>(list), run, gate);
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "engine/held/held_elements.hpp"
#include "engine/lowering/error_gate.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Elements that a window reaches over, and those to the next one's first: more than any stream has, and safe to add to.
constexpr std::uint64_t kReachMax = demand::kAll / 2;

/// The sizes and places of windows.
struct window_shape {
  std::uint64_t size = 1, shift = 1, stride = 1;
  bool drop_remainder = false;

  /// How many elements a window reaches over; kReachMax where it is more.
  std::uint64_t span() const { return size - 1 < kReachMax / stride ? (size - 1) * stride + 1 : kReachMax; }
  /// Returns how many of a window's first elements are in no later window: element j is in the window shift / g later,
  /// if g divides both shift and stride, unless it would come before that window's first element.
  std::uint64_t in_no_later() const { return std::min(size, shift / std::gcd(shift, stride)); }
  bool shares_elements() const { return in_no_later() < size; }
  /// Returns the number of windows in an input that has n more elements, if the next window begins at the first of
  /// them.
  std::uint64_t windows_in(std::uint64_t n) const {
    if (!drop_remainder) return n / shift + (n % shift != 0);
    return n < span() ? 0 : (n - span()) / shift + 1;
  }
  /// The same input: how many elements the next window has, which is one that exists.
  std::uint64_t elements_in(std::uint64_t n) const { return std::min(size, (n - 1) / stride + 1); }
};

/// Returns the shape that the arguments of such a verb describe.
template <class Arguments> window_shape shape_of(const Arguments& a) {
  window_shape s;
  s.size = static_cast<std::uint64_t>(a.size.value);
  s.shift = std::min(static_cast<std::uint64_t>(a.options.shift.value_or(a.size).value), kReachMax);
  s.stride = static_cast<std::uint64_t>(a.options.stride.value);
  s.drop_remainder = a.options.drop_remainder;
  return s;
}
/// A shift that is the size is the default: for op_info::make_canonical.
template <class Arguments> void leave_out_usual_shift(arguments& a) {
  Arguments given = a.as<Arguments>();
  if (!given.options.shift || given.options.shift->value != given.size.value) return;
  given.options.shift.reset();
  a = arguments::of(given);
}

/// Builds the output from a window's elements. Thread: the stage's.
class window_form {
 public:
  window_form() = default;
  window_form(const window_form&) = delete;
  virtual ~window_form() = default;
  /// Builds the window of the elements in the slots 0, stride, 2 · stride … of `held`, n of them, at uninitialised `to`. The first
  /// `moved` of these are in no later window. It is charged to `memory` and has `made_bytes` of it; `gone` slots are removed at
  /// the front, no more than such elements. Errors: a status; nothing is made then. `element`: the ordinal of the first.
  virtual status form(held_elements& held, std::uint64_t n, std::uint64_t moved, std::uint64_t stride,
                      held_memory& memory, char* to, std::size_t& made_bytes, std::uint64_t& gone,
                      std::uint64_t element) = 0;

  struct left_out {
    std::uint64_t slot = 0;
    status why{};
  };
  /// Does form() leave elements out that do not fit the window's first? Then these are dropped (error_gate).
  virtual bool leaves_out() const { return false; }
  /// Returns the elements that it will leave out of this window.
  virtual std::vector<left_out> misfits(held_elements&, std::uint64_t /*n*/, std::uint64_t /*stride*/) { return {}; }
};

erased_stream windows_loop(outlet out, erased_stream in, window_shape shape, std::unique_ptr<window_form> form,
                           std::shared_ptr<run_context> run, error_gate gate);

/// How many windows an input has of this cardinality.
cardinality windows_of(const cardinality& in, const window_shape& shape);

/// Empty, or why there are no such windows over elements of this type.
std::string window_mistake(const window_shape& shape, const element_type& in);

}  // namespace sluice::lib
