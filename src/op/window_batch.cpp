// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/window_batch.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "element/tensors/row_fit.hpp"
#include "engine/batching/padded_rows.hpp"
#include "engine/batching/windows.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// Returns true if the type has tensors, which may differ in shape. The window must then be complete before its rows
/// are stacked.
bool may_not_stack(const element_type& t) {
  if (t.kind == kind::tensor) return true;
  if (t.element && may_not_stack(*t.element)) return true;
  for (const member& m : t.members)
    if (may_not_stack(*m.type)) return true;
  return false;
}

/// Builds batches of elements.
class batch_windows final : public window_form {
 public:
  batch_windows(const element_type& row, bool drops)
      : rows_(row), fit_(row_fit::stacked(row)), drops_(drops), copies_(row.copy && may_not_stack(row)) {}

  status form(held_elements& held, std::uint64_t n, std::uint64_t moved, std::uint64_t stride, held_memory& memory,
              char* to, std::size_t& made_bytes, std::uint64_t& gone, std::uint64_t element) override {
    const element_type& row = held.type();
    if (!failed_.ok()) return failed_;
    const std::size_t foreseen = 2 * (n * row.size + held.owned_bytes(held.at(0), n, stride * row.size));
    status why = memory.change(foreseen, 0);
    if (!why.ok()) {
      memory.shrink_by(foreseen);
      return why;
    }
    const std::uint64_t front = stride == 1 && !copies_ ? moved : 0;
    char* rows = rows_.reserve(n);
    held.move_front(front, rows);
    rows_.set_live(0, front);
    gone = front;
    if (front != n) row.copy(row, rows + front * row.size, held.at(0), n - front, row.size, stride * row.size);
    rows_.set_live(0, n);
    if (leaves_out()) leave_out_misfits();
    batch_storage made;
    try {
      made.append(row, rows_.begin(), rows_.size());
      rows_.set_live(0, 0);
      made_bytes = made.memory_bytes();
      why = memory.change(made_bytes, foreseen);
    } catch (const error& e) {
      why = e.why();
      memory.shrink_by(foreseen);
    }
    if (why.ok()) ::new (static_cast<void*>(to)) batch_storage(std::move(made));
    else why = row_error(why, memory.label(), element);
    empty_scratch(rows_);
    if (front != 0) failed_ = why;  // the consumed rows cannot be tried again
    return why;
  }

  bool leaves_out() const override { return drops_ && fit_.may_refuse(); }
  std::vector<left_out> misfits(held_elements& held, std::uint64_t n, std::uint64_t stride) override {
    std::vector<left_out> all;
    for (std::uint64_t i = 1; i != n; ++i)
      if (status fits = fit_.check(held.at(0), held.at(i * stride)); !fits.ok())
        all.push_back({i * stride, std::move(fits)});
    return all;
  }

 private:
  /// Leaves out the rows that misfits() has found.
  void leave_out_misfits() {
    const element_type& row = rows_.type();
    const std::size_t n = rows_.size();
    char* const first = rows_.begin();
    std::size_t kept = 1;
    rows_.set_live(0, 0);
    for (std::size_t i = 1; i != n; ++i) {
      char* at = first + i * row.size;
      if (!fit_.check(first, at).ok()) row.destroy(row, at, 1);
      else if (kept++ != i) row.relocate(row, first + (kept - 1) * row.size, at, 1, row.size, row.size);
    }
    rows_.set_live(0, kept);
  }

  slab rows_;  // the rows of the window that is built
  const row_fit fit_;
  const bool drops_;
  const bool copies_;
  status failed_{};
};

erased_stream open_window_batch(const node& n, open_context& context) {
  outlet out(*n.type);
  error_gate gate = context.gate(n);
  auto form = std::make_unique<batch_windows>(*n.inputs[0]->type, gate.skips());
  return windows_loop(out, context.open(n.inputs[0]), shape_of(n.as<window_batch_arguments>()), std::move(form),
                      context.run, std::move(gate));
}

const element_type* batch_of_window(const node& n, std::string& why) {
  const element_type& row = *n.inputs[0]->type;
  const window_shape shape = shape_of(n.as<window_batch_arguments>());
  why = window_mistake(shape, row);
  if (why.empty() && shape.stride != 1 && !row.copy)
    why = "with a stride elements are copied, and " + row.name + " cannot be";
  return why.empty() ? type_of_batch(row, why) : nullptr;
}

}  // namespace

const op_info window_batch_op{
    .name = "window_batch",
    .doc = "batches of consecutive elements; each begins some elements later",
    .arguments = arguments_of<window_batch_arguments>,
    .make_canonical = leave_out_usual_shift<window_batch_arguments>,
    .type = batch_of_window,
    .spec =
        [](const node& n) {
          auto& a = n.as<window_batch_arguments>();
          return spec_of_batches(n, a.size, a.options.drop_remainder);
        },
    .facts = {.always = {.outputs = output_count::one_per_group, .keeps_order = true, .skips_inputs = true},
              .size =
                  [](const node& n) {
                    return windows_of(cardinality_of(*n.inputs[0]), shape_of(n.as<window_batch_arguments>()));
                  },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_window_batch},
};

window_batch_verb window_batch(count size, window_batch_options o) {
  return window_batch_verb(window_batch_arguments{size, o});
}

}  // namespace sluice::lib
