// SPDX-License-Identifier: Apache-2.0
// Windows over a stream, for window and window_batch, which build different elements from a window.
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

/// The limit of a window's span and of the distance between windows: larger than any stream, and safe to add to.
constexpr std::uint64_t kReachMax = demand::kAll / 2;

/// The sizes and distances of windows.
struct window_shape {
  std::uint64_t size = 1, shift = 1, stride = 1;
  bool drop_remainder = false;

  /// Returns the number of elements from a window's first to its last one, at most kReachMax.
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
  /// Returns the number of elements in the next window of that input. REQUIRES: the window exists.
  std::uint64_t elements_in(std::uint64_t n) const { return std::min(size, (n - 1) / stride + 1); }
};

/// Returns the shape that the arguments of a window verb describe.
template <class Arguments> window_shape shape_of(const Arguments& a) {
  window_shape s;
  s.size = static_cast<std::uint64_t>(a.size.value);
  s.shift = std::min(static_cast<std::uint64_t>(a.options.shift.value_or(a.size).value), kReachMax);
  s.stride = static_cast<std::uint64_t>(a.options.stride.value);
  s.drop_remainder = a.options.drop_remainder;
  return s;
}
/// Removes a shift equal to the size, which is the default: for op_info::make_canonical.
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
  /// Builds the window of n elements in the slots 0, stride, 2 · stride … of `held` at uninitialised `to`. The first
  /// `moved` of them are in no later window. The window is charged to `memory`, and `made_bytes` grows by its size.
  /// `gone`: the number of slots removed at the front, at most `moved`. `element`: the ordinal of the first. Returns an
  /// error if nothing was built.
  virtual status form(held_elements& held, std::uint64_t n, std::uint64_t moved, std::uint64_t stride,
                      held_memory& memory, char* to, std::size_t& made_bytes, std::uint64_t& gone,
                      std::uint64_t element) = 0;

  struct left_out {
    std::uint64_t slot = 0;
    status why{};
  };
  /// Returns true if form() leaves out elements that do not fit the window's first one. These are dropped (error_gate).
  virtual bool leaves_out() const { return false; }
  /// Returns the elements that form() will leave out of this window.
  virtual std::vector<left_out> misfits(held_elements&, std::uint64_t /*n*/, std::uint64_t /*stride*/) { return {}; }
};

erased_stream windows_loop(outlet out, erased_stream in, window_shape shape, std::unique_ptr<window_form> form,
                           std::shared_ptr<run_context> run, error_gate gate);

/// Returns the number of windows over an input of this cardinality.
cardinality windows_of(const cardinality& in, const window_shape& shape);

/// Returns "", or why such windows over elements of this type are refused.
std::string window_mistake(const window_shape& shape, const element_type& in);

}  // namespace sluice::lib
