// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/windows.hpp"

#include <utility>
#include <vector>

#include "engine/batching/grouping.hpp"
#include "sluice/coro/detail/block_fit.hpp"

namespace sluice::lib {

namespace {

/// The elements from the first one of the next window on, as far as they have arrived, and the windows built last.
class window_maker {
 public:
  window_maker(const element_type& type, window_form& form, const window_shape& shape, held_memory& memory)
      : form_(form), shape_(shape), memory_(memory), held_(type, memory) {}
  window_maker(const window_maker&) = delete;

  std::uint64_t held() const { return held_.size(); }
  status add(block& b) { return held_.add(b, b.size()); }
  /// Moves the next window n elements forward. Returns how many of them have not arrived yet.
  std::uint64_t move_on(std::uint64_t n) {
    n -= std::exchange(gone_, 0);
    auto here = std::min<std::uint64_t>(n, held_.size());
    held_.drop_front(here);
    return n - here;
  }
  /// Builds the next window of n elements at `to`; call move_on() next. `element`: the ordinal of the first. REQUIRES:
  /// the elements have arrived. After an error nothing is built. If a copy throws, `thrown` has the error, and no other
  /// window can be built.
  status make(std::uint64_t n, char* to, std::uint64_t element, status& thrown) {
    std::size_t bytes = 0;
    try {
      status why =
          form_.form(held_, n, std::min(n, shape_.in_no_later()), shape_.stride, memory_, to, bytes, gone_, element);
      made_bytes_ += bytes;
      return why;
    } catch (...) {
      thrown = current_exception_status().in_stage(memory_.label(), element);
      return thrown;
    }
  }
  /// Returns the elements that the window of n elements will leave out.
  std::vector<window_form::left_out> misfits(std::uint64_t n) { return form_.misfits(held_, n, shape_.stride); }
  /// Reports that the windows built before were delivered.
  void made_are_gone() { memory_.shrink_by(std::exchange(made_bytes_, 0)); }

 private:
  window_form& form_;
  const window_shape shape_;
  held_memory& memory_;
  held_elements held_;
  std::size_t made_bytes_ = 0;
  std::uint64_t gone_ = 0;  ///< slots that the last window has removed
};

}  // namespace

erased_stream windows_loop(outlet out, erased_stream in, window_shape shape, std::unique_ptr<window_form> form,
                           std::shared_ptr<run_context> run, error_gate gate) {
  held_memory memory(std::move(run), gate.line(purpose::window), gate.label(), "a window",
                     "lower its size or its stride");
  // Elements left out of a window are reported before it. Windows are then built one at a time, including skipped ones.
  const bool may_drop = form->leaves_out();
  window_maker windows(in.type(), *form, shape, memory);
  const element_type& list = out.type();
  const std::uint64_t span = shape.span();
  // One window at a time if elements between windows are skipped; else as many as one request covers.
  const std::uint64_t most = kGroupedPerRequest / std::max(shape.size, shape.shift);
  const auto made_max =
      static_cast<std::uint32_t>(shape.shift > span || may_drop ? 1 : std::max<std::uint64_t>(1, most));
  block_fit fit(list);
  std::uint64_t to_first = 0;  // elements that the input must skip before the next window
  bool ended = false;
  status thrown;
  for (;;) {
    if (!thrown.ok()) co_await fail(std::move(thrown));  // the windows before it were delivered
    // Windows that were skipped for the current request are subtracted again if they do not exist.
    const std::uint64_t first_before = in.consumed() + to_first - windows.held();
    std::uint64_t passed = 0;
    out.room(0);  // destroys the elements delivered before
    windows.made_are_gone();
    for (;;) {
      std::uint64_t more =
          may_drop ? 0 : out.pass(ended ? shape.windows_in(windows.held()) : demand::kAll / 2 / shape.shift);
      passed += more;
      to_first += windows.move_on(more * shape.shift);
      if (ended || windows.held() >= span) break;
      demand d;
      d.skip = to_first;
      std::uint64_t wanted = std::min(fit.at_most(out.wanted()), made_max);
      std::uint64_t reach = (wanted - 1) * shape.shift + span;
      d.elements = static_cast<std::uint32_t>(std::min(reach - windows.held(), grouped_at_once(in.type())));
      in.hold_from(in.consumed() - windows.held());  // the first window may take many requests, and no mark may pass it
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
      in.hold_from(in.consumed() - windows.held());  // also after skipped windows
      break;
    }
    ready = std::min<std::uint64_t>({ready, fit.at_most(out.wanted()), made_max});
    char* to = out.room(ready);
    std::uint32_t made = 0;
    status fits;
    if (may_drop) {
      const std::uint64_t first = in.consumed() - windows.held();
      std::vector<window_form::left_out> all_bad = windows.misfits(shape.elements_in(windows.held()));
      for (window_form::left_out& bad : all_bad) {
        auto settled = gate.settle(out, bad.why, first + bad.slot);
        co_await settled;
      }
    }
    for (; made != ready; ++made) {
      fits = windows.make(shape.elements_in(windows.held()), to + made * list.size, in.consumed() - windows.held(),
                          thrown);
      if (!fits.ok()) break;
      to_first = windows.move_on(shape.shift);
    }
    if (made == 0) co_await fail(std::move(fits));  // otherwise the windows that fit are delivered first
    if (!ended) in.pass_over(std::exchange(to_first, 0));
    in.hold_from(in.consumed() - windows.held());  // for the next ones
    block all = out.made(made);
    fit.made(all, out.wanted_bytes());
    co_yield all;
  }
}

cardinality windows_of(const cardinality& in, const window_shape& shape) {
  if (in.kind != cardinality::exact || in.is_most()) return in;
  return cardinality::of_many(shape.windows_in(static_cast<std::uint64_t>(in.elements)));
}

std::string window_mistake(const window_shape& shape, const element_type& in) {
  if (shape.span() == kReachMax) return "its windows reach over more elements than any input has";
  if (shape.shares_elements() && !in.copy)
    return "windows of size " + std::to_string(shape.size) + ", shift " + std::to_string(shape.shift) + " and stride " +
           std::to_string(shape.stride) + " share elements, and " + in.name +
           " cannot be copied; with shift=size they share none";
  return {};
}

}  // namespace sluice::lib
