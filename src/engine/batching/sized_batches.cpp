// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/sized_batches.hpp"

#include <algorithm>
#include <utility>

namespace sluice::lib {

namespace {

/// The number of elements requested at once. A resume returns to the beginning of such a block.
constexpr std::uint32_t kMeasuredAtOnce = 256;

/// The rows and sizes of the batch that is being filled.
class batch_fill {
 public:
  explicit batch_fill(const batch_budget& budget) : budget_(budget) {}
  bool is_oversized(std::uint64_t size) const { return size > budget_.size; }
  /// Returns true if one more row fits. Any row fits into an empty batch.
  bool has_room(std::uint64_t size) const {
    if (rows_ == 0) return true;
    if (is_oversized(size) || is_full()) return false;
    return budget_.counts_longest ? std::max(longest_, size) <= budget_.size / (rows_ + 1)
                                  : size <= budget_.size - sum_;
  }
  void add(std::uint64_t size) {
    ++rows_;
    longest_ = std::max(longest_, size);
    sum_ = size > ~std::uint64_t{0} - sum_ ? ~std::uint64_t{0} : sum_ + size;
  }
  /// Returns true if no row fits any more, whatever its size.
  bool is_full() const { return (rows_ != 0 && rows_ == budget_.rows) || longest_ > budget_.size; }
  void clear() { rows_ = longest_ = sum_ = 0; }

 private:
  const batch_budget& budget_;
  std::uint64_t rows_ = 0, longest_ = 0, sum_ = 0;
};

/// Sizes of the elements of a view.
struct measured_view {
  std::vector<std::uint64_t> sizes{};
  std::size_t looked_at = 0;
  status bad{};  ///< the error of the element after those that have sizes

  bool is_used_up() const { return looked_at == sizes.size() && bad.ok(); }
};

}  // namespace

erased_stream sized_batches_loop(outlet out, erased_stream in, std::unique_ptr<element_measure> measure,
                                 std::unique_ptr<rows_maker> maker, batch_budget budget,
                                 std::shared_ptr<run_context> run, error_gate gate) {
  in.may_go_back();
  held_memory memory(std::move(run), gate.line(purpose::batch), gate.label(), "a batch", "lower the limit of a batch");
  rows_in_making part(in.type(), memory);
  batch_fill fill(budget);
  measured_view view;
  const bool may_drop = gate.skips() && maker->may_refuse();
  for (bool ended = false; !ended;) {
    char* to = out.room(1);
    part.forget();
    fill.clear();
    for (bool is_closed = false; !is_closed;) {
      bool more = co_await in.ready({0, kMeasuredAtOnce});
      if (!more) {
        ended = true;
        break;
      }
      if (view.is_used_up()) {
        view.sizes.clear();
        view.looked_at = 0;
        view.bad = measure->measure(block(nullptr, &in.type(), in.peek().data(), in.left()), view.sizes).why;
      }
      std::uint32_t n = 0;
      status bad;
      for (; view.looked_at != view.sizes.size() && !fill.is_full(); ++view.looked_at, ++n) {
        const std::uint64_t size = view.sizes[view.looked_at];
        if (fill.is_oversized(size) && !budget.takes_oversized)
          bad = invalid_argument_error("it has " + std::to_string(size) + " " + budget.unit +
                                       ", and a batch may have no more than " + std::to_string(budget.size) +
                                       "; raise the limit, or set oversized=alone");
        if (!bad.ok() || !fill.has_room(size)) break;
        if (may_drop) {
          const char* row = in.peek().at(n);
          bad = maker->check(part.size() ? part.at(0) : in.peek().data(), row);
          if (!bad.ok()) break;
        }
        fill.add(size);
      }
      is_closed = bad.ok() && (view.looked_at != view.sizes.size() || fill.is_full());
      if (bad.ok() && !is_closed) bad = view.bad;
      if (n) {
        const std::uint64_t first = in.consumed();
        block rows = in.take(n);
        status fits = part.add(rows, n, first);
        if (!fits.ok()) co_await fail(std::move(fits));
      }
      if (bad.ok()) continue;
      auto settled = gate.settle(out, bad, in.consumed());
      co_await settled;
      in.drop(1);
      if (view.looked_at != view.sizes.size()) ++view.looked_at;
      else view.bad = {};
    }
    if (part.size() == 0 || (ended && budget.drop_remainder)) break;
    std::size_t which = 0;
    status why = part.make(*maker, to, which);
    if (!why.ok()) {
      status located = row_error(why, memory.label(), part.ordinal_of(which));
      co_await fail(std::move(located));
    }
    in.hold_from(in.consumed());
    co_yield out.made(1);
  }
}

}  // namespace sluice::lib
