// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/window.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/grouping.hpp"
#include "engine/held_elements.hpp"
#include "engine/open_context.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// Elements that a window reaches over, and those to the next one's first: more than any stream has, and safe to add to.
constexpr std::uint64_t kReachMax = demand::kAll / 2;

/// Where windows lie.
struct window_shape {
  std::uint64_t size = 1, shift = 1, stride = 1;
  bool drop_remainder = false;

  /// How many elements a window reaches over; kReachMax where it is more.
  std::uint64_t span() const { return size - 1 < kReachMax / stride ? (size - 1) * stride + 1 : kReachMax; }
  /// So many elements of a window, its first ones, are in no later window: element j is in the one shift / g windows on, where g
  /// divides both shift and stride, unless it would have to be one before that window's first.
  std::uint64_t in_no_later() const { return std::min(size, shift / std::gcd(shift, stride)); }
  bool shares_elements() const { return in_no_later() < size; }
  /// Of an input that has n more elements, where the next window begins at the first of them: how many windows there are.
  std::uint64_t windows_in(std::uint64_t n) const {
    if (!drop_remainder) return n / shift + (n % shift != 0);
    return n < span() ? 0 : (n - span()) / shift + 1;
  }
  /// The same input: how many elements the next window has, which is one that exists.
  std::uint64_t elements_in(std::uint64_t n) const { return std::min(size, (n - 1) / stride + 1); }
};

window_shape shape_of(const window_arguments& a) {
  window_shape s;
  s.size = static_cast<std::uint64_t>(a.size.value);
  s.shift = static_cast<std::uint64_t>(a.options.shift.value_or(a.size).value);
  s.stride = static_cast<std::uint64_t>(a.options.stride.value);
  s.drop_remainder = a.options.drop_remainder;
  return s;
}

/// The elements from the next window's first on, as far as they have come, and the windows that were made of them last.
class window_maker {
 public:
  window_maker(const element_type& type, const element_type& list, const window_shape& shape, held_memory& memory)
      : list_(list), shape_(shape), memory_(memory), held_(type, memory) {}
  window_maker(const window_maker&) = delete;

  std::uint64_t held() const { return held_.size(); }
  status add(block& b) { return held_.add(b, b.size()); }
  /// The next window begins n elements later. Returns how many of them are not here yet.
  std::uint64_t move_on(std::uint64_t n) {
    auto here = std::min<std::uint64_t>(n, held_.size());
    held_.drop_front(here);
    return n - here;
  }
  /// Makes the next window, of n elements, at `to`. REQUIRES: they are here. After an error nothing is made.
  status make(std::uint64_t n, char* to) {
    const element_type& type = held_.type();
    std::uint64_t moved = std::min(n, shape_.in_no_later());
    std::size_t copied_bytes =
        moved == n ? 0 : held_.owned_bytes(held_.at(moved * shape_.stride), n - moved, shape_.stride * type.size);
    std::size_t bytes = n * type.size + copied_bytes;
    status fits = memory_.change(bytes, 0);
    if (fits.ok()) made_bytes_ += bytes + held_.collect(list_, to, 0, n, moved, shape_.stride);
    else memory_.shrink_by(bytes);
    return fits;
  }
  /// What was made is gone.
  void made_are_gone() { memory_.shrink_by(std::exchange(made_bytes_, 0)); }

 private:
  const element_type& list_;
  const window_shape shape_;
  held_memory& memory_;
  held_elements held_;
  std::size_t made_bytes_ = 0;
};

erased_stream window_loop(outlet out, erased_stream in, window_shape shape, std::shared_ptr<run_context> run,
                          std::string label) {
  held_memory memory(std::move(run), purpose::window, std::move(label), "a window", "lower its size or its stride");
  window_maker windows(in.type(), out.type(), shape, memory);
  const element_type& list = out.type();
  const std::uint64_t span = shape.span();
  // One at a time where there are elements between them, which are passed over; else few enough to ask for at once.
  const std::uint64_t most = kGroupedPerRequest / std::max(shape.size, shape.shift);
  const auto made_max = static_cast<std::uint32_t>(shape.shift > span ? 1 : std::max<std::uint64_t>(1, most));
  block_fit fit(list);
  std::uint64_t to_first = 0;  // elements that the input has still to pass over in front of the next window
  bool ended = false;
  for (;;) {
    // Windows that are passed over for the request being served are counted back where there were none.
    const std::uint64_t first_before = in.consumed() + to_first - windows.held();
    std::uint64_t passed = 0;
    out.room(0);  // destroys what was handed over
    windows.made_are_gone();
    for (;;) {
      std::uint64_t more = out.pass(ended ? shape.windows_in(windows.held()) : demand::kAll / 2 / shape.shift);
      passed += more;
      to_first += windows.move_on(more * shape.shift);
      if (ended || windows.held() >= span) break;
      demand d;
      d.skip = to_first;
      std::uint64_t wanted = std::min(fit.at_most(out.wanted()), made_max);
      std::uint64_t reach = (wanted - 1) * shape.shift + span;
      d.elements = static_cast<std::uint32_t>(std::min(reach - windows.held(), grouped_at_once(in.type())));
      in.hold_from(in.consumed() -
                   windows.held());  // the first window may take many requests: no mark must overtake it
      auto b = co_await in.next_block(d);
      to_first = 0;
      status fits;
      if (b) fits = windows.add(b);
      else ended = true;
      if (!fits.ok()) co_await fail(std::move(fits));
      if (ended && passed) {
        std::uint64_t existed = shape.windows_in(in.consumed() - std::min(first_before, in.consumed()));
        if (passed > existed) out.unpass(passed - existed);
      }
    }
    std::uint64_t ready = ended ? shape.windows_in(windows.held()) : (windows.held() - span) / shape.shift + 1;
    if (ready == 0) {
      in.hold_from(in.consumed() - windows.held());  // also behind windows that were passed over
      break;
    }
    ready = std::min<std::uint64_t>({ready, fit.at_most(out.wanted()), made_max});
    char* to = out.room(ready);
    std::uint32_t made = 0;
    status fits;
    for (; made != ready; ++made) {
      fits = windows.make(shape.elements_in(windows.held()), to + made * list.size);
      if (!fits.ok()) break;
      to_first = windows.move_on(shape.shift);
    }
    if (made == 0) co_await fail(std::move(fits));  // else those that fit go out first
    if (!ended) in.pass_over(std::exchange(to_first, 0));
    in.hold_from(in.consumed() - windows.held());  // for the next ones
    block all = out.made(made);
    fit.made(all, out.wanted_bytes());
    co_yield all;
  }
}

erased_stream open_window(const node& n, open_context& context) {
  outlet out(*n.type);
  return window_loop(out, context.open(n.inputs[0]), shape_of(n.as<window_arguments>()), context.run,
                     context.gate(n).label());
}

const element_type* list_of_input(const node& n, std::string& why) {
  const element_type& in = *n.inputs[0]->type;
  window_shape shape = shape_of(n.as<window_arguments>());
  if (shape.span() == kReachMax || shape.shift >= kReachMax)
    return why = "its windows reach over more elements than any input has", nullptr;
  if (shape.shares_elements() && !in.copy) {
    why = "windows of size " + std::to_string(shape.size) + ", shift " + std::to_string(shape.shift) + " and stride " +
          std::to_string(shape.stride) + " share elements, and " + in.name +
          " cannot be copied; with shift=size they share none";
    return nullptr;
  }
  const element_type* list = list_of(&in);
  if (!list)
    why = "there is no list of " + in.name +
          " here (of numbers, texts and records there is): batch groups them as columns, and in C++ window takes any "
          "element";
  return list;
}

/// A shift that is the size is the default.
void leave_out_usual_shift(arguments& a) {
  window_arguments given = a.as<window_arguments>();
  if (!given.options.shift || given.options.shift->value != given.size.value) return;
  given.options.shift.reset();
  a = arguments::of(given);
}

cardinality windows_of(const node& n) {
  cardinality in = cardinality_of(*n.inputs[0]);
  if (in.kind != cardinality::exact || in.is_most()) return in;
  return cardinality::of_many(shape_of(n.as<window_arguments>()).windows_in(static_cast<std::uint64_t>(in.elements)));
}

}  // namespace

const op_info window_op{
    .name = "window",
    .doc = "lists of elements in a row, moving on by some",
    .arguments = arguments_of<window_arguments>,
    .type = list_of_input,
    .open = open_window,
    .size = windows_of,
    .make_canonical = leave_out_usual_shift,
    .seeks = seeks_with_inputs,
};

}  // namespace sluice::lib
